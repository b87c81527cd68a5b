"""Files that nobody vouches for: a message and exit code 2, never a traceback, and no access."""

from __future__ import annotations

import ast
import datetime as dt
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer.independent
from anonymizer.independent.__main__ import main
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.judge import judge, judge_opened
from anonymizer.independent.manifest import read_manifest
from anonymizer.independent.rows import decode, open_release
from anonymizer.publish.export import export
from anonymizer.release.integrity import manifest_digest
from tests.independent.planted import RELEASES, asked, make
from tests.runs import policy, run, source
from tests.selection import some


@pytest.fixture(scope="module")
def correct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make("mondrian", tmp_path_factory.mktemp("correct"))


@pytest.fixture
def file(correct: Path, tmp_path: Path) -> Path:
    path = tmp_path / "release.duckdb"
    shutil.copyfile(correct, path)
    return path


def manifest_of(path: Path) -> dict[str, Any]:
    with duckdb.connect(str(path), read_only=True) as connection:
        text = connection.execute("from people_anonymous_manifest").fetchall()[0][0]
    found: dict[str, Any] = json.loads(text)
    return found


def put(path: Path, text: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("update people_anonymous_manifest set manifest = ?", [text])


def refused(path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The one line that says why the file is not judged."""
    assert main([str(path), *more]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.count("\n") == 1
    return shown.err


def test_a_correct_release(correct: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(correct)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "main.people_anonymous: 60 rows, anonymised, all checks hold"
    assert "holds  k_anonymity  required 4  achieved 4" in lines
    assert all(line.startswith("holds  ") for line in lines[:-1])


@pytest.mark.parametrize(("name", "code"), [("", 0), ("none", 2)])
def test_closed_standard_error(correct: Path, name: str, code: int) -> None:
    """What belongs there is not printed among the results."""
    command = ["sh", "-c", '"$0" -m anonymizer.independent "$1" 2>&-', sys.executable]
    done = subprocess.run([*command, correct / name], capture_output=True, text=True, check=False)
    assert done.returncode == code
    *_, last = ["", *done.stdout.splitlines()]
    assert last.endswith("all checks hold") if name == "" else last == ""


def test_a_release_that_promises_more_than_it_holds(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = manifest_of(file)
    data["requirements"][0]["parameters"]["k"] = 50
    put(file, json.dumps(data))
    assert main([str(file)]) == 1
    assert "FAILS  k_anonymity  required 50  achieved 4" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{", '"', "{}", "NaN", '{"format": NaN}', "[" * 100_000),
        *('{"a":' * 100_000, '{"format": 1, "format": 1}', '{"format": 2}', "1" * 10_000),
        *('{"format": 1e999999999}', "\ud800".encode("utf-8", "replace").decode()),
    ],
)
def test_malformed_manifests(file: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    put(file, text)
    assert refused(file, capsys).startswith("manifest")


def _set(*path: str | int, value: object) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for part in path[:-1]:
            data = data[part]
        data[path[-1]] = value

    return change


CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "no layout": _set("layout", value=None),
    "no columns": _set("layout", "columns", value={}),
    "a column that is no object": _set("layout", "columns", 0, value=[]),
    "an unknown role": _set("layout", "columns", 0, "role", value="token"),
    "an unknown kind": _set("layout", "columns", 0, "kind", value="text"),
    "an unknown field": _set("layout", "columns", 0, "mask", value=True),
    "an unknown field of the layout": _set("layout", "views", value=[]),
    "a flag that is a number": _set("layout", "columns", 0, "hierarchy", value=1),
    "a name that is a number": _set("layout", "class_id", value=5),
    "a name that is not there": _set("layout", "class_id", value="class"),
    "neither classes nor groups": _set("layout", "class_id", value=None),
    "unknown cells": _set("layout", "cells", value="json"),
    "tables without groups": _set("layout", "tables", value={"disease": "d"}),
    "a run that is no number": _set("run_id", value='"; drop table x; --'),
    "another release": _set("view", value="main.other"),
    "another run": _set("run_id", value="0" * 16),
    "no requirement": _set("requirements", value=[]),
    "a requirement of nothing": _set("requirements", 0, "name", value="safety"),
    "a requirement of no column": _set("requirements", 1, "column", value="name"),
    "a requirement of another scope": _set("requirements", 1, "scope", value="bucket"),
    "a requirement of an unknown scope": _set("requirements", 1, "scope", value="row"),
    "a requirement of persons": _set("requirements", 0, "name", value="ir_k"),
    "k that is a text": _set("requirements", 0, "parameters", "k", value="5"),
    "k that is true": _set("requirements", 0, "parameters", "k", value=True),
    "k below one": _set("requirements", 0, "parameters", "k", value=0),
    "k that is missing": _set("requirements", 0, "parameters", value={}),
    "a parameter too many": _set("requirements", 0, "parameters", "but", value=1),
    "parameters that are a list": _set("requirements", 0, "parameters", value=[]),
}


@some(9)
@pytest.mark.parametrize("name", CHANGES)
def test_changed_manifests(
    correct: Path, file: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    data = manifest_of(correct)
    CHANGES[name](data)
    put(file, json.dumps(data))
    refused(file, capsys)


def _places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(data, dict):
        inner = data.items()
    elif isinstance(data, list):
        inner = enumerate(data)
    for key, value in inner:
        yield (*path, key)
        yield from _places(value, (*path, key))


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("name", RELEASES)
def test_any_change_of_a_manifest_is_judged_or_refused(name: str, tmp_path: Path) -> None:
    """One or two places of layout and requirements at random: never another error."""
    opened = open_release(make(name, tmp_path))
    whole = manifest_of(tmp_path / "release.duckdb")
    keys = ("format", "run_id", "view", "layout", "requirements")
    kept = {key: whole[key] for key in keys}
    places = list(_places(kept))
    r = random.Random(name)
    rows = replace(opened.rows, rows=opened.rows.rows[:12])
    values: list[Any] = [
        *(None, True, 0, -1, 2.5, 10**30, "", "class_id", "age", "bucket", "text", "typed"),
        *([], {}, [None], {"a": 1}, ["x"], "semi", "quasi", "group", "level_l", "t_closeness"),
        *("ordered", "hierarchical", "DECIMAL(4,2)", "DATE", "numeric", "sensitive", "city"),
    ]
    refused = 0
    for _ in range(150):
        data = json.loads(json.dumps(kept))
        for place in r.sample(places, r.choice([1, 1, 2])):
            # the first of two changes may have taken away the place of the second
            with suppress(KeyError, IndexError, TypeError):
                _set(*place, value=r.choice(values))(data)
        try:
            judge_opened(replace(opened, rows=rows, manifest=read_manifest(json.dumps(data))))
        except UnreadableError:
            refused += 1
    assert 15 < refused < 150


@pytest.mark.parametrize("number", ["1e999999999", "-1", "1e-999999999", "Infinity", '"0.6"'])
def test_numbers_without_end(file: Path, capsys: pytest.CaptureFixture[str], number: str) -> None:
    data = manifest_of(file)
    alpha = next(one for one in data["requirements"] if one["name"] == "alpha")
    alpha["parameters"]["alpha"] = "HERE"
    put(file, json.dumps(data).replace('"HERE"', number))
    refused(file, capsys)


@pytest.mark.parametrize(
    "statement",
    [
        "delete from people_anonymous_manifest",
        "insert into people_anonymous_manifest from people_anonymous_manifest",
        "update people_anonymous_manifest set manifest = null",
        "drop table people_anonymous_manifest",
        "alter table people_anonymous_manifest add column other integer",
        "alter table people_anonymous_manifest alter manifest type varchar[] using [manifest]",
        "drop view people_anonymous",
        "create table other_manifest as from people_anonymous_manifest",
        "drop table people_anonymous_manifest; create view people_anonymous_manifest as"
        " select content as manifest from read_text('/etc/hostname')",
    ],
)
def test_files_without_a_plain_release(
    file: Path, capsys: pytest.CaptureFixture[str], statement: str
) -> None:
    with duckdb.connect(str(file)) as connection:
        for one in statement.split("; "):
            connection.execute(one)
    refused(file, capsys)


def test_a_release_without_rows(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect(str(file)) as connection:
        ((frozen,),) = connection.execute(
            "select table_name from duckdb_tables() where starts_with(table_name, '_people')"
        ).fetchall()
        connection.execute(f'delete from "{frozen}"')
    assert "no rows" in refused(file, capsys)


def test_no_file_and_no_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(tmp_path / "none.duckdb", capsys)
    broken = tmp_path / "broken.duckdb"
    broken.write_bytes(b"\x00" * 5000)
    refused(broken, capsys)
    for name in ("broken.parquet", "broken.csv"):
        (tmp_path / name).write_bytes(b"PAR1")
        refused(tmp_path / name, capsys)
    refused(tmp_path, capsys)


def test_macros_of_the_file_are_not_called(file: Path) -> None:
    """A macro named like a built-in function, and a view, that would show another release."""
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "create macro duckdb_tables() as table select 'x' as database_name, 'main' as"
            " schema_name, 'y' as table_name"
        )
        connection.execute("create macro array_length(a) as 0")
    assert judge(file).passed


def test_nothing_but_the_file_can_be_read(file: Path) -> None:
    from anonymizer.independent.fetch import locked_database

    with locked_database(attached=file) as connection:
        for text in (
            "from read_text('/etc/hostname')",
            "copy (select 1) to '/tmp/should_not_be_there.csv'",
            "attach '/tmp/should_not_be_there.duckdb'",
            "set enable_external_access = true",
            "install httpfs",
            "create table release.main.x (a integer)",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(text)
    assert not Path("/tmp/should_not_be_there.csv").exists()


def test_the_file_is_not_changed(file: Path) -> None:
    before = file.read_bytes()
    judge(file)
    assert file.read_bytes() == before
    assert sorted(one.name for one in file.parent.iterdir()) == ["release.duckdb"]


@pytest.mark.slow
def test_one_of_several_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(i % 4, "ab"[i % 2]) for i in range(20)]
    database = source(tmp_path, {"age": "INTEGER", "disease": "VARCHAR"}, rows)
    columns = {"age": "quasi", "disease": "sensitive"}
    for name in ("one", 'two "2"'):
        run(policy(tmp_path, columns, publish={"name": name}), database)
    path = tmp_path / "release.duckdb"
    assert "main.one" in refused(path, capsys)
    refused(path, capsys, "--view", "three")
    for name in ("one", 'two "2"'):
        assert judge(path, name).view == judge(path, f"main.{name}").view == f"main.{name}"


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("name", RELEASES)
def test_exports_are_judged_like_the_release(name: str, tmp_path: Path) -> None:
    release = make(name, tmp_path)
    whole = judge(release)
    for suffix in (".parquet", ".csv"):
        folder = tmp_path / suffix
        folder.mkdir()
        export(asked(name, tmp_path), folder / f"rows{suffix}", release)
        for path in (folder / f"rows{suffix}", folder):
            found = judge(path)
            assert found.passed
            assert found.rows == whole.rows
            assert list(found.checks) == [c for c in whole.checks if c.name != "view"]


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("cells", ["text", "typed"])
def test_exports_keep_nulls_empty_texts_and_types(cells: str, tmp_path: Path) -> None:
    texts = ["", None, "a, b", "NULL", '"', "é", "x or NULL", " ", "1"]
    types = {"age": "TIMESTAMP WITH TIME ZONE", "on": "BOOLEAN", "city": "VARCHAR", "it": "VARCHAR"}
    moment = dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    rows = [
        (moment + dt.timedelta(hours=i) if i % 5 else None, i % 3 == 0, texts[i % 9], texts[i % 7])
        for i in range(40)
    ]
    columns = {**dict.fromkeys(("age", "on", "city"), "quasi"), "it": "sensitive"}
    made = policy(tmp_path, columns, 3, publish={"cells": cells})
    run(made, source(tmp_path, types, rows))
    release = tmp_path / "release.duckdb"
    whole = decode(open_release(release))
    assert judge(release).passed
    assert {None, ""} <= {row.values["it"] for row in whole.rows}
    for suffix in (".parquet", ".csv"):
        export(made, tmp_path / f"rows{suffix}", release)
        assert decode(open_release(tmp_path / f"rows{suffix}")) == whole


@pytest.mark.slow
def test_a_population_is_judged_only_where_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(i % 6, "ab"[i % 2]) for i in range(24)]
    database = source(tmp_path, {"age": "INTEGER", "city": "VARCHAR"}, rows)
    people = tmp_path / "people.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "copy (select cast(i % 6 as integer) as age, ['a', 'b'][1 + i % 2] as city, i as who"
            f" from range(60) t(i)) to '{people}'"
        )
    given = policy(
        tmp_path,
        {"age": "quasi", "city": "quasi"},
        privacy={"k_map": {"k": 5, "population": "people.parquet"}},
    )
    run(given, database)
    release = tmp_path / "release.duckdb"
    assert main([str(release)]) == 0
    assert "not checked  k_map" in capsys.readouterr().out
    assert main([str(release), "--population", str(people)]) == 0
    assert "holds  k_map  required 5" in capsys.readouterr().out
    with_persons = ["--population", str(people), "--population-person", "who"]
    assert main([str(release), *with_persons]) == 0
    capsys.readouterr()
    assert "no column" in refused(release, capsys, *with_persons[:3], "name")
    # a parameter that it does not know is refused without a population as well
    with duckdb.connect(str(release)) as connection:
        ((text,),) = connection.execute("select manifest from people_anonymous_manifest").fetchall()
        data = json.loads(text)
        (asked,) = (one for one in data["requirements"] if one["name"] == "k_map")
        asked["parameters"]["population"] = "people.parquet"
        data["seal"]["digest"] = manifest_digest(data)
        connection.execute("update people_anonymous_manifest set manifest = ?", [json.dumps(data)])
    assert "k_map" in refused(release, capsys)


def test_messages_hold_no_value(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect(str(file)) as connection:
        ((frozen,),) = connection.execute(
            "select table_name from duckdb_tables() where starts_with(table_name, '_people')"
        ).fetchall()
        connection.execute(f"update \"{frozen}\" set age = 'SECRET', disease = 'SECRET'")
    assert main([str(file)]) == 1
    shown = capsys.readouterr()
    assert "SECRET" not in shown.out + shown.err


def test_it_imports_nothing_else_of_the_package() -> None:
    folder = Path(anonymizer.independent.__file__).parent
    others = {*sys.stdlib_module_names, "duckdb", "pydantic"}
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [str(node.module)]
            for name in names:
                own = name.startswith("anonymizer.independent")
                assert own or name.split(".")[0] in others, path


def test_manifests_are_read_once_for_all(correct: Path) -> None:
    text = json.dumps(manifest_of(correct))
    assert read_manifest(text).layout.class_id == "class_id"
    with pytest.raises(UnreadableError):
        read_manifest(text.replace('"numeric"', '"number"'))
    assert open_release(correct).manifest == read_manifest(text)


def test_codes_and_weights_that_are_no_whole_numbers_are_read(tmp_path: Path) -> None:
    """The manifest writes a weight of 3 as 3.0."""
    ages = {"builder": "intervals", "cuts": [2.5], "bottom": 0.5, "top": 4.5}
    columns = {
        "age": {"role": "quasi", "weight": 3, "hierarchy": ages},
        "sex": {"role": "quasi", "weight": 0.5},
    }
    rows = [(n, "fm"[n % 2]) for n in (0, 1, 2, 3, 4, 5) * 4]
    database = source(tmp_path, {"age": "DOUBLE", "sex": "VARCHAR"}, rows)
    run(policy(tmp_path, columns), database)
    assert judge(tmp_path / "release.duckdb").passed
