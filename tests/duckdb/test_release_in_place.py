"""Publishing beside the source, in its own database or on a user's open connection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError, EngineError, GuaranteeError, TargetError
from tests.runs import Rows, fetch, fill, policy, published, run, source
from tests.selection import some

TYPES = {"id": "INTEGER", "age": "INTEGER", "sex": "VARCHAR"}
COLUMNS: dict[str, Any] = {"id": "identifier", "age": "quasi", "sex": "quasi"}
PEOPLE = [(i, 20 + (i * 7) % 40, "mf"[i % 2]) for i in range(20)]
BESIDE = {"database": None}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = source(tmp_path, TYPES, PEOPLE)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table orders as select 7 as total")
        connection.execute("create view old_people as select * from people")
    return path


def everything(path: Path) -> dict[str, Rows]:
    """Rows of every table and view of a database, by schema and name."""
    with duckdb.connect(str(path), read_only=True) as connection:
        return contents(connection)


def contents(connection: duckdb.DuckDBPyConnection) -> dict[str, Rows]:
    names = fetch(
        connection,
        "select schema_name as s, table_name as n from duckdb_tables() where not internal union all"
        " select schema_name, view_name from duckdb_views() where not internal order by all",
    )
    return {f"{r['s']}.{r['n']}": fetch(connection, f'from "{r["s"]}"."{r["n"]}"') for r in names}


def test_user_table_survives(tmp_path: Path, database: Path) -> None:
    """Runs, replaced runs and failed runs leave every object of the user as it was."""
    before = everything(database)
    given = policy(tmp_path, COLUMNS, publish=BESIDE)
    first = run(given, database)
    second = run(given, database, seed=2)
    with pytest.raises(GuaranteeError):
        run(policy(tmp_path, {**COLUMNS, "age": {"role": "quasi", "nulls": "suppress"}},
                   source={"query": "select id, case when id > 2 then age end as age, sex"
                                    " from people"},
                   publish={**BESIDE, "name": "people_anonymous"}), database)  # fmt: skip
    after = everything(database)
    assert {name: rows for name, rows in after.items() if name in before} == before
    assert set(after) - set(before) == {
        "_anonymizer.objects",
        "main.people_anonymous",
        "main.people_anonymous_manifest",
        f"main._people_anonymous_{second.run_id}",
    }
    assert first.run_id != second.run_id
    assert any("view protects nothing" in warning for warning in second.warnings)


def test_what_is_made_is_recorded_beside_it(tmp_path: Path, database: Path) -> None:
    release = run(policy(tmp_path, COLUMNS, publish=BESIDE), database)
    recorded = everything(database)["_anonymizer.objects"]
    assert {(row["object_name"], row["kind"]) for row in recorded} == {
        (f"_people_anonymous_{release.run_id}", "rows"),
        ("people_anonymous", "view"),
        ("people_anonymous_manifest", "manifest"),
    }
    assert {row["release"] for row in recorded} == {"main.people_anonymous"}


@pytest.mark.parametrize("name", ["orders", "old_people", "ORDERS"])
def test_a_name_that_the_user_took_is_refused(tmp_path: Path, database: Path, name: str) -> None:
    before = database.read_bytes()
    with pytest.raises(TargetError, match="was not published by this tool"):
        run(policy(tmp_path, COLUMNS, publish={**BESIDE, "name": name}), database)
    assert database.read_bytes() == before


@some(2)
@pytest.mark.parametrize("kind", ["table", "view"])
def test_what_took_the_place_of_a_release_is_not_replaced(
    tmp_path: Path, database: Path, kind: str
) -> None:
    """The name stays in the record of the tool, but the object under it is of somebody else."""
    given = policy(tmp_path, COLUMNS, publish=BESIDE)
    run(given, database)
    with duckdb.connect(str(database)) as connection:
        connection.execute("drop view people_anonymous")
        connection.execute(f"create {kind} people_anonymous as select 1 as mine")
    before = database.read_bytes()
    with pytest.raises(TargetError, match=r"was not published by this tool .*or drop it if"):
        run(given, database)
    assert database.read_bytes() == before
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"drop {kind} people_anonymous")
    assert published(run(given, database))


def test_the_checks_in_the_manifest_run_in_the_database(tmp_path: Path, database: Path) -> None:
    run(policy(tmp_path, COLUMNS, publish=BESIDE), database)
    (row,) = everything(database)["main.people_anonymous_manifest"]
    checks = json.loads(row["manifest"])["verification"]["checks"]
    assert json.loads((tmp_path / "people_anonymous.manifest.json").read_text()) == json.loads(
        row["manifest"]
    )
    with duckdb.connect(str(database), read_only=True) as connection:
        for check in checks:
            if check["sql"] is not None:
                assert connection.execute(check["sql"]).fetchall() == []


def test_a_view_in_place_selects_from_its_frozen_rows(tmp_path: Path, database: Path) -> None:
    given = policy(tmp_path, COLUMNS, publish=BESIDE)
    rows = published(run(given, database))
    with duckdb.connect(str(database)) as connection:
        connection.execute("delete from people")
        assert fetch(connection, "from people_anonymous") == rows
    assert anonymizer.verify(given, database).passed


@pytest.fixture
def connection(database: Path) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(database), config={"threads": 1})


def state(connection: duckdb.DuckDBPyConnection) -> tuple[Any, ...]:
    settings = fetch(connection, "select name, value from duckdb_settings() order by name")
    catalogs = fetch(connection, "select database_name from duckdb_databases() order by 1")
    where = fetch(connection, "select current_catalog() as c, current_schema() as s")
    return ([s for s in settings if "memory" not in s["name"]], catalogs, where)


def test_an_open_connection_is_used_itself_and_left_as_it_was(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    """A temporary table, which only this very connection can see, is a fine source."""
    connection.execute("create temp table fresh as select * from people")
    before = state(connection)
    given = policy(tmp_path, COLUMNS, source={"table": "fresh"})
    release = run(given, connection)
    assert release.measures["rows"] == 20
    assert state(connection) == before
    in_place = run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
    assert state(connection) == before
    assert len(in_place.df()) == len(in_place.relation().fetchall()) == 20
    connection.close()


@pytest.mark.slow
def test_a_connection_that_only_reads_is_a_source(tmp_path: Path, database: Path) -> None:
    """What the tool makes for itself and for the release is attached for writing beside it."""
    plain, kept = policy(tmp_path, COLUMNS), policy(tmp_path, COLUMNS, ledger="ledger.duckdb")
    with duckdb.connect(str(database), read_only=True) as connection:
        before = state(connection)
        for given in (plain, plain, kept):
            assert run(given, connection).measures["rows"] == 20
        assert state(connection) == before
        with pytest.raises(AnonymizerError) as refused:
            run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
        assert state(connection) == before
    (problem,) = refused.value.problems
    assert problem.path == "publish.database"
    assert "open for reading" in problem.message


@pytest.mark.slow
def test_the_manifest_beside_a_database_follows_every_run(tmp_path: Path, database: Path) -> None:
    """By path, and by a connection of the user: the file is always that of the release."""
    given = policy(tmp_path, COLUMNS, publish=BESIDE)
    file = tmp_path / "people_anonymous.manifest.json"

    def by_connection() -> str:
        with duckdb.connect(str(database)) as connection:
            return run(given, connection).run_id

    def by_attached() -> str:
        with duckdb.connect() as connection:
            connection.execute(f"attach '{database}' as warehouse; use warehouse")
            return run(given, connection).run_id

    for way in (by_connection, lambda: run(given, database).run_id, by_connection, by_attached):
        assert way() == json.loads(file.read_text())["run_id"]
        assert anonymizer.verify(given, database).passed


def test_a_registered_frame_is_a_source(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(PEOPLE, columns=list(TYPES))
    with duckdb.connect() as connection:
        connection.register("people", frame)
        assert run(policy(tmp_path, COLUMNS), connection).measures["rows"] == 20


def test_a_release_in_memory_stands_on_its_connection(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        fill(connection, TYPES, PEOPLE)
        release = run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
        assert release.database is None
        assert len(fetch(connection, "from people_anonymous")) == 20
        assert len(release.df()) == 20
    assert list(tmp_path.iterdir()) == []


def test_a_connection_inside_a_transaction_is_refused_and_keeps_it(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.execute("begin transaction")
    connection.execute("insert into orders values (8)")
    for publish in ({}, BESIDE):
        with pytest.raises(EngineError, match="inside a transaction"):
            run(policy(tmp_path, COLUMNS, publish=publish), connection)
    connection.execute("commit")
    assert len(fetch(connection, "from orders")) == 2
    connection.close()


def test_a_failed_run_leaves_an_open_connection_usable(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    before, tables = state(connection), contents(connection)
    for broken in (
        {"k": 21},
        {"columns": {**COLUMNS, "shoe": "quasi"}},
        {"source": {"query": "select * from nowhere"}, "publish": {**BESIDE, "name": "x"}},
        {
            "source": {"query": "select id, age, error('secret value') as sex from people"},
            "publish": {**BESIDE, "name": "x"},
        },
    ):
        given: dict[str, Any] = {"columns": COLUMNS, "publish": BESIDE} | broken
        with pytest.raises(AnonymizerError) as caught:
            run(policy(tmp_path, **given), connection)
        assert "secret value" not in str(caught.value)
        assert state(connection) == before
        assert contents(connection) == tables
    connection.close()


def test_a_catalog_named_like_scratch_is_left_alone(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.execute("attach ':memory:' as anon_scratch")
    connection.execute("create table anon_scratch.main.mine as select 1 as x")
    with pytest.raises(EngineError, match="a catalog named anon_scratch is attached already"):
        run(policy(tmp_path, COLUMNS), connection)
    assert len(fetch(connection, "from anon_scratch.main.mine")) == 1
    connection.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"default_order": "desc", "default_null_order": "nulls_first"},
        {"integer_division": "true", "preserve_insertion_order": "false"},
        {"default_collation": "nocase"},
    ],
    ids=", ".join,
)
@pytest.mark.parametrize("algorithm", [pytest.param("mondrian", marks=pytest.mark.slow), "lgb"])
def test_settings_of_a_connection_change_nothing_and_stay(
    tmp_path: Path,
    connection: duckdb.DuckDBPyConnection,
    settings: dict[str, str],
    algorithm: str,
) -> None:
    columns = {**COLUMNS, "id": {"role": "sensitive", "acknowledge_unique": True}}
    if algorithm == "lgb":
        columns["id"]["protect"] = {"l_diversity": 2}
    connection.execute(
        "update people set sex = 'M' where id < 3; update people set age = null where id = 5"
    )
    given = policy(tmp_path, columns, algorithm={"name": algorithm})
    usual = published(run(given, connection))
    for name, value in settings.items():
        connection.execute(f"set {name} = '{value}'")
    before = state(connection)
    changed = published(run(given, connection))
    assert state(connection) == before
    assert changed == usual
    connection.close()


@pytest.mark.parametrize("ended", ["closed", "dropped"])
def test_a_release_that_its_connection_does_not_show(tmp_path: Path, ended: str) -> None:
    """An error of ours says what to do, not the engine's own."""
    connection = duckdb.connect()
    fill(connection, TYPES, PEOPLE, "people")
    release = run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
    assert len(release.df()) == len(PEOPLE)
    if ended == "closed":
        connection.close()
    else:
        connection.execute(f"drop view {release.view}")
    for read in (release.df, lambda: release.relation().fetchall()):
        with pytest.raises(EngineError, match="connection: the release is read on the connection"):
            read()


def test_a_view_in_place_of_the_record_is_not_read(tmp_path: Path, database: Path) -> None:
    """A view runs SQL of whoever made it, on a connection that may reach anything."""
    read: list[str] = []

    def seen(text: str) -> str:
        read.append(text)
        return text

    with duckdb.connect(str(database)) as connection:
        connection.create_function("seen", seen, side_effects=True)
        connection.execute("create schema _anonymizer")
        connection.execute(
            "create view _anonymizer.objects as select seen('it') as release,"
            " 'main' as schema_name, 'x' as object_name, 'rows' as kind, '1' as run_id, 1 as rowid"
        )
        with pytest.raises(AnonymizerError):
            run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
        assert read == []
        connection.execute("create table free as select 1 as n")  # the transaction has ended
