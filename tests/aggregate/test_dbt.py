"""What dbt uses: the materialization's entry point, and the generic tests for tables of counts."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from anonymizer.dbt_release import OUTCOME, REPORT, publish
from tests.aggregate.releases import WORKED, grid
from tests.dbt.rendered import generic_test

POLICY: dict[str, Any] = {
    "aggregate": {"by": {"r": {}, "c": {}}, "measures": {"patients": {"count": "persons"}}},
    "protect": {"minimum": 5},
}


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    made.execute("create table visits (r varchar, c varchar)")
    made.executemany("insert into visits values (?, ?)", grid(WORKED))
    return made


def materialized(con: duckdb.DuckDBPyConnection, policy: Any) -> str:
    given = {
        "model": "model counts",
        "name": "counts",
        "schema": "main",
        "database": None,
        "query": "select * from visits",
        "policy": policy,
        "columns": {},
    }
    publish(json.dumps(given), SimpleNamespace(_cursor=con))
    ((said,),) = con.execute(f"select getvariable('{OUTCOME}')").fetchall()
    return str(said)


def failing(con: duckdb.DuckDBPyConnection, name: str, **arguments: Any) -> list[Any]:
    return con.execute(generic_test(name, "counts", measure="patients", **arguments)).fetchall()


def test_a_model_publishes_counts(con: duckdb.DuckDBPyConnection) -> None:
    assert materialized(con, POLICY) == "published"
    ((shown,),) = con.execute(f"select getvariable('{REPORT}')").fetchall()
    assert json.loads(shown)["message"] == "24 rows, 9 left out"
    assert con.sql("select patients from counts where status = 'other'").fetchall() == [(9,)]
    assert failing(con, "no_small_cells", n=5) == []
    assert failing(con, "one_step", by=["r", "c"], n=5) == []


def test_warnings_name_places_of_the_project(con: duckdb.DuckDBPyConnection) -> None:
    con.execute("insert into visits select r, ' ' || c from visits")
    secret = {"role": "sensitive", "protect": {"l_diversity": 2}}
    columns = {"r": {"role": "quasi"}, "c": secret}
    said = materialized(con, {"columns": columns, "privacy": {"k_anonymity": 5}})
    assert said == "published"
    ((shown,),) = con.execute(f"select getvariable('{REPORT}')").fetchall()
    warnings = [one for one in json.loads(shown)["warnings"] if "upper and lower case" in one]
    assert len(warnings) == 1, shown
    assert "in the model's SQL" in warnings[0]
    assert not any("source.query" in one for one in warnings)


def test_a_model_that_cannot_publish(con: duckdb.DuckDBPyConnection) -> None:
    said = materialized(con, {**POLICY, "rest": {"limit": 0.01}})
    assert "nothing was published" in said
    assert "rest.limit" in said


def test_blanked_counts_fail(con: duckdb.DuckDBPyConnection) -> None:
    """A table whose small counts are blanked alone: 73 less its shown parts is 2."""
    con.execute(
        """
        create table counts as
        select coalesce(r, '(all)') as r, coalesce(c, '(all)') as c,
            case when count(*) >= 5 then count(*) end as patients
        from visits group by cube (r, c)
        """
    )
    assert failing(con, "no_small_cells", n=5) == []
    assert sorted(failing(con, "one_step", by=["r", "c"], n=5)) == [(1, 2, 1), (2, 2, 1)]
    assert failing(con, "one_step", by=["r", "c"], n=2) == []
    con.execute("insert into counts values ('r9', 'c9', 3)")
    assert failing(con, "no_small_cells", n=5) == [(3,)]
