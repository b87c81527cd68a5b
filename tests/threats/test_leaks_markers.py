"""Planted markers: what must not leave the source is looked for wherever a run writes or speaks."""

from __future__ import annotations

import base64
import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.cli import main
from tests.selection import few, some

ROWS = 240
SECRET = "5e" * 32
MARKERS = {
    "QXKEY": "the key",
    "QXNAME": "an identifier",
    "QXDROP": "a dropped column",
    "QXCOND": "a column of a condition",
    "QXGONE": "a quasi-identifier of rows that are suppressed",
    "QXLEAF": "a leaf below a published node of the hierarchy",
    "QXENUM": "a value of a type that no row has",
    SECRET: "the secret",
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute("create type sector as enum ('public', 'private', 'QXENUM')").fetchall()
        connection.execute(
            "create table visits as select 'QXKEY' || i as id, 'QXNAME' || i as name,"
            " 'QXDROP' || i as note, case when i % 9 = 0 then 'QXCOND' || i else 'no' end as asked,"
            # each town occurs once, and one of its nodes has to be published
            " case when i % 40 = 7 then 'QXGONE' || i else 'QXLEAF' || i end as town,"
            " case when i % 40 = 7 then null else 20 + i % 25 end as age,"
            " case when i % 3 = 0 then 'public'::sector else 'private'::sector end as sector,"
            " ['flu', 'cold', 'ulcer', 'asthma'][1 + i % 4] as disease"
            f" from range({ROWS}) r(i)"
        ).fetchall()
        connection.execute("comment on table visits is 'QXDROP comment'").fetchall()
        connection.execute("comment on column visits.age is 'QXDROP comment'").fetchall()
        towns = [row[0] for row in connection.execute("select town from visits").fetchall()]
    lines = [f"{town};{'north' if at % 2 else 'south'};*" for at, town in enumerate(towns)]
    (tmp_path / "towns.csv").write_text("\n".join(lines) + "\n")
    return path


POLICY = """
version: 1
source: {{table: visits}}
key: id
columns:
  id: {{role: identifier}}
  name: {{role: identifier}}
  note: {{role: drop}}
  asked: {{role: drop}}
  town: {{role: quasi, hierarchy: {{file: towns.csv}}}}
  age: {age}
  sector: {{role: quasi}}
  disease: {{role: sensitive, protect: {{l_diversity: 2}}}}
privacy: {{k_anonymity: 4}}
suppression_limit: 0.1
algorithm: {{name: {algorithm}}}
publish: {{name: released, database: release.duckdb, cells: {cells}}}
"""
PLAIN = "{role: quasi, nulls: suppress}"
FLAGGED = (
    "{role: quasi, nulls: suppress, sensitive_when: \"asked like 'QXC%'\","
    " protect: {l_diversity: 2}}"
)


def call(*arguments: str) -> tuple[int, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0), out.getvalue() + err.getvalue()


PICTURE = re.compile(rb"base64,([A-Za-z0-9+/=]+)")


def found_in(text: str | bytes) -> list[str]:
    """The markers in a text or file, and in the pictures that it holds."""
    content = text.encode() if isinstance(text, str) else text
    content += b"".join(base64.b64decode(one) for one in PICTURE.findall(content))
    return [marker for marker in MARKERS if marker.encode() in content]


def everything(connection: duckdb.DuckDBPyConnection) -> str:
    """All that a reader of a database can ask for: rows, definitions, comments, statistics."""
    said: list[Any] = []
    for table in (
        "duckdb_tables()", "duckdb_views()", "duckdb_columns()", "duckdb_types()",
        "duckdb_schemas()", "duckdb_constraints()", "duckdb_indexes()", "duckdb_sequences()",
    ):  # fmt: skip
        said += connection.execute(
            f"select * from {table} where not internal"
            if table in ("duckdb_tables()", "duckdb_views()", "duckdb_columns()", "duckdb_types()")
            else f"select * from {table}"
        ).fetchall()
    named = connection.execute(
        "select schema_name, table_name from duckdb_tables() where not internal union all"
        " select schema_name, view_name from duckdb_views() where not internal"
    ).fetchall()
    tables = {r[0] for r in connection.execute("select table_name from duckdb_tables()").fetchall()}
    for schema, name in named:
        said += connection.execute(f'select * from "{schema}"."{name}"').fetchall()
        if name in tables:
            said += connection.execute(
                f'select * from pragma_storage_info(\'"{schema}"."{name}"\')'
            ).fetchall()
    return repr(said)


@some(1)
@pytest.mark.parametrize(
    ("algorithm", "cells"),
    few([("mondrian", "typed"), ("lgb", "text"), ("mondrian", "text"), ("lgb", "typed")], 2),
)
def test_leaks_of_a_release(
    tmp_path: Path, source: Path, algorithm: str, cells: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(temporary))
    age = FLAGGED if algorithm == "lgb" else PLAIN
    policy = tmp_path / "policy.yml"
    policy.write_text(POLICY.format(age=age, algorithm=algorithm, cells=cells))
    (tmp_path / "seed").write_text(SECRET)
    database = ["--database", str(source)]
    said = ""
    for arguments in (
        ("plan", str(policy), *database),
        ("run", str(policy), *database, "--seed-file", str(tmp_path / "seed"), "--explain"),
        ("run", str(policy), *database, "--seed-file", str(tmp_path / "seed"), "--format", "json"),
        ("verify", str(policy)),
        ("verify", str(policy), "--format", "json"),
        ("export", str(policy), "-o", str(tmp_path / "out.parquet")),
        ("export", str(policy), "-o", str(tmp_path / "out.csv")),
    ):
        code, text = call(*arguments)
        assert code == 0, text
        said += text
    assert found_in(said) == []
    code, text = call("compile", str(policy), *database)
    assert code == 0
    # (a script has the rows of the policy's hierarchy file, which it is to run without)
    listing = re.compile(
        r"^create or replace table \S*listed_\d+ as$.*?;$", re.DOTALL | re.MULTILINE
    )
    assert found_in(listing.sub("", text)) == []
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        read = everything(connection)
        count = connection.execute("select count(*) from released").fetchone()
    assert count == (ROWS - 6,), "the marked rows are suppressed"
    assert "north" in read
    assert found_in(read) == []
    for file in ("release.duckdb", "released.manifest.json", "out.parquet", "out.csv",
                 "out.parquet.manifest.json", "out.csv.manifest.json"):  # fmt: skip
        assert found_in((tmp_path / file).read_bytes()) == [], file
    with duckdb.connect(":memory:") as connection:
        statistics = repr(
            [
                connection.execute(f"select * from {what}('{tmp_path}/out.parquet')").fetchall()
                for what in ("parquet_metadata", "parquet_schema", "parquet_kv_metadata")
            ]
        )
        rows = repr(connection.execute(f"from '{tmp_path}/out.parquet'").fetchall())
    assert found_in(statistics + rows) == []
    assert list(temporary.iterdir()) == []
    manifest = json.loads((tmp_path / "released.manifest.json").read_text())
    assert not {"min", "max", "seed", "secret", "source"} & set(map(str, manifest))


NODES = "hierarchy: {builder: cardinality, min_width: 5}"
CHANGES = {
    "full_domain": {"nulls: suppress": f"nulls: suppress, {NODES}"},
    "privacyfrost": {"nulls: suppress": f"nulls: suppress, {NODES}"},
    "msb": {"name: msb": "name: msb, generalize: {k: 4}", "privacy: {k_anonymity: 4}\n": ""},
}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", sorted(CHANGES))
def test_leaks_of_other_algorithms(tmp_path: Path, source: Path, algorithm: str) -> None:
    """Release, export and both reports; even with the engine's words on errors switched on."""
    text = POLICY.format(age=PLAIN, algorithm=algorithm, cells="text")
    if algorithm != "msb":
        text = text.replace("sector: {role: quasi", "sector: {role: quasi, hierarchy: prefix")
        text = text.replace("hierarchy: prefix", "hierarchy: {builder: prefix}")
    for old, new in CHANGES[algorithm].items():
        assert old in text
        text = text.replace(old, new)
    policy = tmp_path / "policy.yml"
    policy.write_text(text)
    (tmp_path / "seed").write_text(SECRET)
    run = ("run", str(policy), "--database", str(source), "--seed-file", str(tmp_path / "seed"))
    said = ""
    for arguments in (
        (*run, "--explain", "--debug"),
        ("verify", str(policy), "--debug"),
        ("report", str(policy), "-o", str(tmp_path / "alone.html")),
        ("report", str(policy), "--source", str(source), "-o", str(tmp_path / "both.html")),
        *(
            ("report", str(policy), "--as", standard, "-o", str(tmp_path / f"out_{standard}.html"))
            for standard in ("hipaa-expert", "ema", "iso27559", "sp800-188")
        ),
        ("lineage", str(policy)),
        ("export", str(policy), "-o", str(tmp_path / "out.parquet")),
    ):
        code, text = call(*arguments)
        assert code == 0, text
        said += text
    assert found_in(said) == []
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        assert found_in(everything(connection)) == []
    written = [file for file in tmp_path.iterdir() if file.name.startswith(("release", "out"))]
    written += [tmp_path / "alone.html", tmp_path / "both.html"]
    assert len(written) >= 5
    for file in written:
        assert found_in(file.read_bytes()) == [], file.name


@pytest.mark.slow
def test_leaks_of_a_release_are_looked_for_with_success(tmp_path: Path, source: Path) -> None:
    """The search itself: what is published is found in the file, its statistics and its export."""
    policy = tmp_path / "policy.yml"
    text = POLICY.format(age=PLAIN, algorithm="mondrian", cells="text")
    text = text.replace("note: {role: drop}", "note: {role: keep, acknowledge_unique: true}")
    policy.write_text(text)
    assert call("run", str(policy), "--database", str(source))[0] == 0
    assert call("export", str(policy), "-o", str(tmp_path / "out.parquet"))[0] == 0
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        assert "QXDROP" in found_in(everything(connection))
    assert "QXDROP" in found_in((tmp_path / "release.duckdb").read_bytes())
    with duckdb.connect(":memory:") as connection:
        statistics = connection.execute(
            f"select stats_min_value from parquet_metadata('{tmp_path}/out.parquet')"
        ).fetchall()
    assert "QXDROP" in found_in(repr(statistics))


@some(3)
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"k_anonymity: 4": "k_anonymity: 400"}, 2),
        ({"suppression_limit: 0.1": "suppression_limit: 0.01"}, 1),
        ({"l_diversity: 2": "l_diversity: 9"}, 2),
        ({"town: {role: quasi, hierarchy: {file: towns.csv}}": "town: {role: keep}"}, 2),
        ({"name: {role: identifier}": "name: {role: quasi, kind: numeric}"}, 2),
        ({"{table: visits}": "{query: 'select * replace (note::int as note) from visits'}"}, 2),
        ({"{table: visits}": "{query: 'select *, error(name) from visits'}"}, 2),
        ({"file: towns.csv": "file: broken.csv"}, 2),
    ],
)
def test_leaks_of_errors(tmp_path: Path, source: Path, change: dict[str, str], code: int) -> None:
    """What fails says what and where, in counts, with no value of any row."""
    text = POLICY.format(age=PLAIN, algorithm="mondrian", cells="text")
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "broken.csv").write_text("QXLEAF1;north;*\nQXLEAF1;south;*\n")
    policy = tmp_path / "policy.yml"
    policy.write_text(text)
    for form in ("text", "json"):
        ended, said = call("run", str(policy), "--database", str(source), "--format", form)
        assert ended == code, said
        assert found_in(said) == []
        assert "Traceback" not in said
    assert not (tmp_path / "release.duckdb").exists()
