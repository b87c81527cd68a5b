"""Publishing into a file: built aside, judged from its bytes, swapped in whole, checkable alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.errors import AnonymizerError, GuaranteeError, TargetError
from anonymizer.run.job import Job
from tests.runs import Rows, fetch, policy, published, run, source
from tests.selection import some

TYPES = {"id": "INTEGER", "age": "INTEGER", "sex": "VARCHAR", "illness": "VARCHAR"}
COLUMNS: dict[str, Any] = {
    "id": "identifier",
    "age": "quasi",
    "sex": "quasi",
    "illness": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


def people(n: int = 24) -> list[tuple[Any, ...]]:
    return [(i, 20 + (i * 7) % 40, "mf"[i % 2], ["flu", "cold", "acne"][i % 3]) for i in range(n)]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return source(tmp_path, TYPES, people())


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_release_is_a_view_over_frozen_rows_with_a_manifest(
    tmp_path: Path, database: Path
) -> None:
    release = run(policy(tmp_path, COLUMNS), database)
    assert release.view == "main.people_anonymous"
    assert release.database == tmp_path / "release.duckdb"
    with duckdb.connect(str(release.database), read_only=True) as connection:
        tables = fetch(connection, "select table_name as name from duckdb_tables() order by all")
        (view,) = fetch(connection, "select view_name, sql from duckdb_views() where not internal")
    assert [table["name"] for table in tables] == [
        f"_people_anonymous_{release.run_id}",
        "objects",
        "people_anonymous_manifest",
    ]
    assert view["view_name"] == "people_anonymous"
    assert "source" not in view["sql"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "people_anonymous.manifest.json",
        "release.duckdb",
        "source.duckdb",
    ]


def test_the_checks_in_the_manifest_run_under_any_name_of_the_file(
    tmp_path: Path, database: Path
) -> None:
    """A recipient pastes them: their rows are the classes that break the guarantee, so none."""
    release = run(policy(tmp_path, COLUMNS), database)
    checks = json.loads((tmp_path / "people_anonymous.manifest.json").read_text())["verification"][
        "checks"
    ]
    runnable = [check["sql"] for check in checks if check["sql"] is not None]
    # what compares with the source cannot be repeated without it
    assert {c["name"].startswith("source_") for c in checks if c["sql"] is None} == {True}
    assert len(runnable) > 4
    with duckdb.connect() as connection:
        connection.execute(f"attach '{release.database}' as \"any name\" (read_only)")
        connection.execute('use "any name"')
        for sql in runnable:
            assert "anon_" not in sql
            connection.execute(sql).fetchall()


@pytest.mark.slow
def test_other_releases_of_the_tool_in_the_file_are_carried_over(
    tmp_path: Path, database: Path
) -> None:
    one = run(policy(tmp_path, COLUMNS), database, seed=1)
    other = policy(tmp_path, COLUMNS, publish={"name": "second", "schema": "research"}, k=3)
    run(other, database, seed=2)
    again = run(policy(tmp_path, COLUMNS, k=4), database, seed=3)
    assert published(one) == published(again)  # the view by its name: the newest release
    with duckdb.connect(str(again.database), read_only=True) as connection:
        assert len(fetch(connection, "from research.second")) == 24
        owners = fetch(
            connection, "select distinct release as r from _anonymizer.objects order by r"
        )
    assert [row["r"] for row in owners] == ["main.people_anonymous", "research.second"]
    assert anonymizer.verify(other).passed
    assert anonymizer.verify(None, tmp_path / "release.duckdb").passed
    assert (tmp_path / "research.second.manifest.json").is_file()


@pytest.mark.parametrize(
    "statement",
    [
        "create table mine (x integer)",
        "create view mine as select 1",
        "create macro mine(x) as x + 1",
        "create schema mine",
        "create sequence mine",
        "create type mine as enum ('a')",
        "create schema mine; create table mine.t (x integer)",
    ],
)
def test_a_file_with_objects_of_others_is_never_replaced(
    tmp_path: Path, database: Path, statement: str
) -> None:
    with duckdb.connect(str(tmp_path / "release.duckdb")) as connection:
        connection.execute(statement)
    before = listing(tmp_path)
    with pytest.raises(TargetError, match=r"publish.database: holds 1 object"):
        run(policy(tmp_path, COLUMNS), database)
    assert listing(tmp_path) == before


def test_a_write_ahead_log_beside_the_target_stops_the_run(tmp_path: Path, database: Path) -> None:
    (tmp_path / "release.duckdb.wal").write_bytes(b"")
    with pytest.raises(TargetError, match="write-ahead log"):
        run(policy(tmp_path, COLUMNS), database)


def test_a_target_that_another_process_writes_to_stops_the_run(
    tmp_path: Path, database: Path
) -> None:
    import subprocess
    import sys

    run(policy(tmp_path, COLUMNS), database)
    script = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True);"
        "sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "release.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(TargetError, match="locked"):
            run(policy(tmp_path, COLUMNS), database)
    finally:
        holder.communicate(b"")


@pytest.mark.parametrize("content", [b"", b"no database", b"x" * 5000])
def test_a_target_that_is_no_database_stops_the_run(
    tmp_path: Path, database: Path, content: bytes
) -> None:
    (tmp_path / "release.duckdb").write_bytes(content)
    with pytest.raises(TargetError, match=r"publish\.database"):
        run(policy(tmp_path, COLUMNS), database)
    assert (tmp_path / "release.duckdb").read_bytes() == content


def test_a_target_in_no_folder_and_the_source_as_target_stop_the_run(
    tmp_path: Path, database: Path
) -> None:
    with pytest.raises(TargetError, match="folder that does not exist"):
        run(policy(tmp_path, COLUMNS, publish={"database": "none/r.duckdb"}), database)
    with pytest.raises(AnonymizerError, match="is the source database itself"):
        run(policy(tmp_path, COLUMNS, publish={"database": "source.duckdb"}), database)


def test_what_fails_its_judgement_is_not_swapped_in(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old release stays as it was, to the byte, and what was built aside is gone."""
    run(policy(tmp_path, COLUMNS), database)
    before = listing(tmp_path)

    def refuse(*_: Any) -> Any:
        raise GuaranteeError([])

    monkeypatch.setattr(Job, "_judged", refuse)
    with pytest.raises(GuaranteeError):
        run(policy(tmp_path, COLUMNS), database)
    assert listing(tmp_path) == before


def test_a_reader_keeps_the_release_it_has_open(tmp_path: Path, database: Path) -> None:
    run(policy(tmp_path, COLUMNS, k=2), database)
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as reader:
        count = "select count(distinct class_id) as n from people_anonymous"
        before = fetch(reader, count)
        # a second process would not see this one's instance, so the swap is made by hand
        run(policy(tmp_path, COLUMNS, k=6), database)
        assert fetch(reader, count) == before


@pytest.fixture
def reference(tmp_path: Path, database: Path) -> Rows:
    return published(run(policy(tmp_path, COLUMNS), database))


@some(1)
@pytest.mark.parametrize("kind", ["csv", "json", "parquet", "query"])
def test_every_kind_of_source_gives_the_same_release(
    tmp_path: Path, database: Path, reference: Rows, kind: str
) -> None:
    file = tmp_path / f"it's people.{kind}"
    given: dict[str, Any]
    if kind == "query":
        given = {"query": "select * from people where id >= 0 order by random();"}
    else:
        with duckdb.connect(str(database), read_only=True) as connection:
            path = str(file).replace("'", "''")
            ints = "* replace (cast(id as integer) as id)"
            connection.execute(f"copy (select {ints} from people) to '{path}' (format {kind})")
        given = {"file": file.name}
    release = run(policy(tmp_path, COLUMNS, source=given, publish={"name": "people_anonymous"}),
                  database if kind == "query" else None)  # fmt: skip
    assert published(release) == reference


@some(1)
@pytest.mark.parametrize("change", ["threads", "order", "both"])
def test_the_same_seed_gives_the_same_rows_in_the_same_order(
    tmp_path: Path, reference: Rows, change: str
) -> None:
    rows = people()
    threads = 1
    if change in ("order", "both"):
        random.Random(4).shuffle(rows)
    if change in ("threads", "both"):
        threads = 2
    (tmp_path / "again").mkdir()
    shuffled = source(tmp_path / "again", TYPES, rows)
    release = run(policy(tmp_path / "again", COLUMNS), shuffled, limits=Limits(threads=threads))
    assert published(release) == reference


def test_a_release_is_judged_again_from_its_file_alone(tmp_path: Path, database: Path) -> None:
    given = policy(tmp_path, COLUMNS)
    run(given, database)
    database.unlink()
    found = anonymizer.verify(given)
    assert found.passed
    assert {check.name for check in found.checks} >= {"k_anonymity", "distinct_l"}
    stricter = policy(tmp_path, COLUMNS, k=25)
    failed = anonymizer.verify(stricter)
    assert not failed.passed
    assert {check.name for check in failed.failed} == {"k_anonymity", "k_anonymity_tuples"}
