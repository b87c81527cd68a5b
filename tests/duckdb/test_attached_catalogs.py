"""Attached catalogs as source and target of a run on an open connection; addresses of lakes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import EngineError, SourceError, TargetError
from anonymizer.publish.duckdb.in_place import refuse_foreign
from tests.runs import fetch, policy
from tests.selection import some

COLUMNS: dict[str, Any] = {"id": "drop", "age": "quasi", "sex": "quasi"}
TABLE = (
    "create table people as select cast(i as integer) as id,"
    " cast(20 + (i * 7) % 40 as integer) as age, case when i % 2 = 0 then 'm' else 'f' end as sex"
    " from range(20) as numbers(i)"
)
BESIDE = {"database": None}


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection whose default catalog is an attached one."""
    with duckdb.connect(str(tmp_path / "home.duckdb")) as opened:
        opened.execute(f"attach '{tmp_path / 'other.duckdb'}' as lake")
        opened.execute("use lake")
        opened.execute(TABLE)
        yield opened


def found(connection: duckdb.DuckDBPyConnection) -> set[str]:
    query = "select database_name as c, view_name as v from duckdb_views() where not internal"
    return {f"{row['c']}.{row['v']}" for row in fetch(connection, query)}


def test_the_default_catalog_is_source_and_target(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    release = anonymizer.run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
    assert release.verification.passed
    assert found(connection) == {"lake.people_anonymous"}
    assert connection.execute("select current_catalog()").fetchone() == ("lake",)


@some(1)
@pytest.mark.parametrize("table", ["lake.people", "lake.main.people", "LAKE.People"])
def test_a_table_of_another_catalog_is_found(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection, table: str
) -> None:
    connection.execute("use home.main")
    given = policy(tmp_path, COLUMNS, source={"table": table}, publish={"name": "safe"})
    release = anonymizer.run(given, connection)
    assert release.verification.passed
    assert connection.execute("select current_catalog()").fetchone() == ("home",)


def test_a_transaction_is_seen_whatever_the_default_catalog(
    tmp_path: Path, connection: duckdb.DuckDBPyConnection
) -> None:
    connection.execute("begin")
    with pytest.raises(EngineError, match="is inside a transaction"):
        anonymizer.run(policy(tmp_path, COLUMNS, publish=BESIDE), connection)
    connection.execute("rollback")


@pytest.mark.parametrize("address", ["ducklake:catalog.ducklake", "delta:visits", "DuckLake:x"])
def test_the_address_of_a_lake_is_refused_with_a_way_out(tmp_path: Path, address: str) -> None:
    given = policy(tmp_path, COLUMNS)
    for verb in (anonymizer.run, anonymizer.plan):
        with pytest.raises(SourceError, match="is the address of a lake") as refused:
            verb(given, address)
        assert "attach the lake to a connection" in str(refused.value)


class Attached:
    """An engine whose catalog is of another type."""

    def raw(self, text: str, where: str) -> list[tuple[str, None, bool]]:
        assert "database_name = 'lake'" in text
        return [("ducklake", None, False)]


def test_a_release_in_a_foreign_catalog_is_refused() -> None:
    with pytest.raises(TargetError, match="catalog of type ducklake") as refused:
        refuse_foreign(Attached(), "lake")  # type: ignore[arg-type]
    assert "publish: {database: release.duckdb}" in str(refused.value)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection with a DuckLake as its default catalog."""
    spec = find_spec("duckdb_extension_ducklake")
    assert spec is not None, "needs duckdb-extension-ducklake"
    assert spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0]) / "extensions" / f"v{duckdb.__version__}"
    with duckdb.connect() as opened:
        opened.execute(f"load '{folder / 'ducklake.duckdb_extension'}'")
        catalog, data = tmp_path / "catalog.ducklake", tmp_path / "data"
        opened.execute(f"attach 'ducklake:{catalog}' as lake (data_path '{data}')")
        opened.execute("use lake")
        opened.execute(TABLE)
        yield opened


@pytest.mark.lake
def test_a_table_of_a_ducklake_is_released(tmp_path: Path, lake: duckdb.DuckDBPyConnection) -> None:
    release = anonymizer.run(policy(tmp_path, COLUMNS), lake)
    assert release.verification.passed
    assert lake.execute("select current_catalog()").fetchone() == ("lake",)
    lake.execute("begin")
    with pytest.raises(EngineError, match="is inside a transaction"):
        anonymizer.run(policy(tmp_path, COLUMNS), lake)
    lake.execute("rollback")


@pytest.mark.lake
@pytest.mark.parametrize("replace", [False, True])
def test_nothing_is_published_in_a_ducklake(
    tmp_path: Path, lake: duckdb.DuckDBPyConnection, replace: bool
) -> None:
    given = policy(tmp_path, COLUMNS, publish={**BESIDE, "replace_source": replace})
    with pytest.raises(TargetError, match="catalog of type ducklake"):
        anonymizer.run(given, lake, replace_source=replace)
    assert lake.execute("select count(*) from people").fetchone() == (20,)


@pytest.mark.lake
def test_expired_snapshots_no_longer_show_raw_rows(
    tmp_path: Path, lake: duckdb.DuckDBPyConnection
) -> None:
    """The statements of docs/how-to/lakehouse.md do what the page says."""
    lake.execute("insert into people select i, 30, 'f' from range(5000) as more(i)")
    lake.execute("drop table people")
    assert lake.execute("select count(*) from people at (version => 1)").fetchone() == (20,)
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "lakehouse.md").read_text()
    calls = [line for line in page.splitlines() if line.startswith("call ducklake_")]
    assert len(calls) == 3
    for call in calls:
        lake.execute(call)
    with pytest.raises(duckdb.Error):
        lake.execute("select count(*) from people at (version => 1)")
    assert not list((tmp_path / "data").rglob("*.parquet"))
