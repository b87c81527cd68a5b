"""Publishing into a file: built aside, judged from its bytes, swapped in whole, checkable alone."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from anonymizer.errors import AnonymizerError, GuaranteeError, NothingToCheckError, TargetError
from anonymizer.run.job import Job
from tests.forging import seal_again
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


def test_df_and_relation_show_the_published_rows(tmp_path: Path, database: Path) -> None:
    release = run(policy(tmp_path, COLUMNS), database)
    rows = [tuple(row.values()) for row in published(release)]
    frame = release.df()
    assert [tuple(row) for row in frame.itertuples(index=False)] == rows
    assert release.relation().fetchall() == rows
    assert release.relation().columns == ["class_id", "age", "sex", "illness"]


def test_the_manifest_beside_the_release_is_that_in_it(tmp_path: Path, database: Path) -> None:
    release = run(policy(tmp_path, COLUMNS), database)
    with duckdb.connect(str(release.database), read_only=True) as connection:
        (row,) = fetch(connection, "from people_anonymous_manifest")
    beside = json.loads((tmp_path / "people_anonymous.manifest.json").read_text())
    assert json.loads(row["manifest"]) == beside
    assert beside["run_id"] == release.run_id
    assert beside["reproducible"] is True
    assert beside["policy_digest"] == policy(tmp_path, COLUMNS).digest()
    assert set(beside["versions"]) == {"anonymizer", "duckdb"}
    assert beside["measures"]["rows"] == 24
    assert "not differential privacy" in beside["certificate"]
    assert {item["name"] for item in beside["requirements"]} == {"k_anonymity", "distinct_l"}


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


def test_a_release_without_a_fixed_seed_is_not_stamped_reproducible(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANONYMIZER_SEED", raising=False)
    release = run(policy(tmp_path, COLUMNS), database, seed=None)
    assert release.manifest.data["reproducible"] is False


@pytest.mark.slow
def test_a_second_run_replaces_the_first_and_leaves_nothing_of_it(
    tmp_path: Path, database: Path
) -> None:
    first = run(policy(tmp_path, COLUMNS), database, seed=1)
    second = run(policy(tmp_path, COLUMNS), database, seed=2)
    assert second.run_id != first.run_id
    with duckdb.connect(str(second.database), read_only=True) as connection:
        names = [
            row["name"]
            for row in fetch(connection, "select table_name as name from duckdb_tables()")
        ]
    assert not [name for name in names if first.run_id in name]
    assert first.run_id.encode() not in (tmp_path / "release.duckdb").read_bytes()


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


def test_an_object_added_to_a_release_file_stops_the_next_run(
    tmp_path: Path, database: Path
) -> None:
    run(policy(tmp_path, COLUMNS), database)
    with duckdb.connect(str(tmp_path / "release.duckdb")) as connection:
        connection.execute("create table notes as select 1 as x")
    before = listing(tmp_path)
    with pytest.raises(TargetError, match="did not publish"):
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


def test_a_read_only_target_stops_the_run(tmp_path: Path, database: Path) -> None:
    run(policy(tmp_path, COLUMNS), database)
    before = listing(tmp_path)
    (tmp_path / "release.duckdb").chmod(0o400)
    if os.access(tmp_path / "release.duckdb", os.W_OK):
        pytest.skip("root writes everywhere")
    with pytest.raises(TargetError, match="cannot be replaced"):
        run(policy(tmp_path, COLUMNS), database)
    assert listing(tmp_path) == before


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

    monkeypatch.setattr(Job, "_verify", refuse)
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


def test_a_read_only_source_is_fine_and_stays_as_it_was(tmp_path: Path, database: Path) -> None:
    database.chmod(0o400)
    before = database.read_bytes()
    assert run(policy(tmp_path, COLUMNS), database).verification.passed
    assert database.read_bytes() == before
    assert not database.with_name("source.duckdb.wal").exists()


def test_a_source_in_use_by_a_reader_of_this_process_is_fine(
    tmp_path: Path, database: Path
) -> None:
    with duckdb.connect(str(database), read_only=True):
        assert run(policy(tmp_path, COLUMNS), database).verification.passed


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


@pytest.mark.slow
def test_copies_of_a_row_and_other_seeds(tmp_path: Path) -> None:
    """Equal rows are interchangeable, and another secret gives another order and other numbers."""
    rows = [row for row in people(6) for _ in range(3)]
    found = []
    seeds: tuple[int | str, ...] = (1, 1, 2, "ab" * 32)
    for number, seed in enumerate(seeds):
        folder = tmp_path / str(number)
        folder.mkdir()
        random.Random(number).shuffle(rows)
        found.append(
            published(run(policy(folder, COLUMNS), source(folder, TYPES, rows), seed=seed))
        )
    assert found[0] == found[1]
    assert found[2] != found[0] != found[3]

    def without_number(release: Rows) -> list[str]:
        return sorted(str({**row, "class_id": None}) for row in release)

    assert without_number(found[0]) == without_number(found[2]) == without_number(found[3])


@some(1)
@pytest.mark.parametrize("ledger", [None, "private.duckdb"])
def test_columns_that_nothing_hangs_on_are_not_read(tmp_path: Path, ledger: str | None) -> None:
    """Rows of which quasi-identifiers alone are published stand for each other, unless a ledger
    has to know them again."""
    columns = {"id": "identifier", "age": "quasi", "sex": "quasi", "illness": "drop"}
    rest: dict[str, Any] = {} if ledger is None else {"ledger": ledger}
    found = []
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = people(60)
        random.Random(number).shuffle(rows)
        given, database = policy(folder, columns, **rest), source(folder, TYPES, rows)
        assert ("illness" in anonymizer.plan(given, database).sql()) is (ledger is not None)
        found.append(published(run(given, database)))
    assert found[0] == found[1] == found[2]


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


def test_a_hierarchical_distance_is_judged_again_without_the_hierarchy(
    tmp_path: Path, database: Path
) -> None:
    """The manifest holds the paths of the published values; the recipient has no other source."""
    tree = tmp_path / "illness.csv"
    tree.write_text("flu;lungs;*\ncold;lungs;*\nacne;skin;*\n")
    illness = {
        "role": "sensitive",
        "hierarchy": {"builder": "taxonomy", "file": tree.name},
        "protect": {"t_closeness": {"t": 0.4, "distance": "hierarchical"}},
    }
    given = policy(tmp_path, {**COLUMNS, "illness": illness})
    run(given, database)
    tree.unlink()
    again = anonymizer.verify(given)
    assert again.passed
    assert "t_closeness" in {check.name for check in again.checks}


@pytest.mark.slow
def test_a_release_that_was_changed_afterwards_fails(tmp_path: Path, database: Path) -> None:
    given = policy(tmp_path, COLUMNS, k=3)
    release = run(given, database)
    frozen = f"_people_anonymous_{release.run_id}"
    with duckdb.connect(str(release.database)) as connection:
        connection.execute(
            f"delete from {frozen} where rowid in"
            f" (select min(rowid) from {frozen} group by class_id)"
        )
    for known in (given, None):
        with pytest.raises(GuaranteeError, match="not those that were judged"):
            anonymizer.verify(known, release.database)
    assert release.database is not None
    seal_again(release.database, "people_anonymous")
    assert not anonymizer.verify(given).passed
    assert not anonymizer.verify(None, release.database).passed


def nothing_to_check(folder: Path) -> Iterator[tuple[Policy | None, Path | None]]:
    with duckdb.connect(str(folder / "empty.duckdb")):
        pass
    yield policy(folder, COLUMNS), None  # no file yet
    yield None, folder / "empty.duckdb"
    yield policy(folder, COLUMNS), folder / "empty.duckdb"
    yield None, None
    yield policy(folder, COLUMNS, publish={"database": None}), None


def test_nothing_to_check_is_an_error_and_not_a_pass(tmp_path: Path) -> None:
    for given, file in nothing_to_check(tmp_path):
        with pytest.raises(NothingToCheckError) as caught:
            anonymizer.verify(given, file)
        assert caught.value.exit_code == 2


def test_a_plan_writes_nothing_and_shows_no_secret(tmp_path: Path, database: Path) -> None:
    before = listing(tmp_path)
    text = anonymizer.plan(policy(tmp_path, COLUMNS), database).sql()
    assert listing(tmp_path) == before
    assert "$secret" in text
    assert text.count("$secret") == 1


@pytest.mark.parametrize(
    ("person", "counts"),
    [(None, "It counts rows: a person with several rows"), ("patient", "It counts persons")],
)
def test_the_certificate_says_what_is_counted(
    tmp_path: Path, person: str | None, counts: str
) -> None:
    rows = [(i // 2, 20 + i // 2 % 3) for i in range(40)]
    database = source(tmp_path, {"patient": "INTEGER", "age": "INTEGER"}, rows)
    given = policy(tmp_path, {"patient": "drop", "age": "quasi"}, k=3, person=person)
    assert counts in run(given, database).manifest.data["certificate"]
    assert anonymizer.verify(given).passed
