"""A connection with all macros loaded, and the tables that their examples name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

SCRIPT = Path(__file__).resolve().parent.parent.parent / "sql" / "anonymizer.sql"

VISITS = """
create table visits as
select
    i // 2 as patient,
    20 + i % 7 * 10 as age,
    case when i % 2 = 0 then 'f' else 'm' end as sex,
    list_value('Flu', 'HIV', 'Cancer', 'Cold')[(i * 7) % 4 + 1] as disease,
    date '2020-01-15' + cast(i * 17 as integer) as admitted
from range(40) as numbers(i)
"""


@pytest.fixture(scope="module")
def sql() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
        yield connection


@pytest.fixture(scope="module")
def examples(sql: duckdb.DuckDBPyConnection, adult_parquet: Path) -> duckdb.DuckDBPyConnection:
    """With `adult`, `visits` and `classes`, which the examples use."""
    sql.execute(f"create view adult as from '{adult_parquet}' limit 2000").fetchall()
    sql.execute(VISITS).fetchall()
    sql.execute(
        "create table classes as from anon_mondrian('adult', ['age', 'sex', 'education'], 5)"
    ).fetchall()
    return sql
