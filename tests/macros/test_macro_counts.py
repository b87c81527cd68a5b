"""The macro anon_counts gives the release of the same policy, and refuses what it cannot count."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest

from tests.aggregate.releases import WORKED, cells, grid, published
from tests.dbt.rendered import rendered
from tests.selection import rounds


def counted(sql: duckdb.DuckDBPyConnection, call: str) -> dict[tuple[str, ...], int]:
    found = sql.sql(f"from anon_counts({call})")
    at = found.columns.index("persons")
    return {tuple(row[:at]): row[at] for row in found.fetchall()}


@rounds(2, 20)
def test_as_a_policy(sql: duckdb.DuckDBPyConnection, tmp_path: Path, rounds: int) -> None:
    for seed in range(rounds):
        draw = random.Random(seed)
        table = (
            WORKED if not seed else [[draw.choice([0, 1, 3, 7, 12]) for _ in "abc"] for _ in "de"]
        )
        rows = [(r, c, f"p{i}") for i, (r, c) in enumerate(grid(table))]
        columns = "r varchar, c varchar, person varchar"
        release = published(tmp_path, rows, columns, {"r": {}, "c": {}}, person="person")
        sql.execute(f"create or replace table t ({columns})")
        sql.executemany("insert into t values (?, ?, ?)", rows)
        assert counted(sql, "'t', ['r', 'c'], 5") == cells(release)
        of_dbt = sql.execute(rendered("anon_counts", "t", by=["r", "c"], n=5)).fetchall()
        assert {(r, c): n for r, c, n, _ in of_dbt} == cells(release)
        sql.execute("insert into t select * from t limit 3")
        assert counted(sql, "'t', ['R', 'c'], 5, person := 'person'") == cells(release)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("'t', ['r'], 2", "anon_counts: n: must be a whole number of at least 3"),
        ("'t', ['x'], 5", "anon_counts: by: the table has no column x"),
        ("'t', ['r'], 5, person := 'x'", "anon_counts: person: the table has no column x"),
        ("'t', ['r', 'c'], 5, person := 'p'", "some persons are in several groups"),
        ("'t', ['r'], 5, person := 'q'", "some rows have no person"),
        ("'odd', ['r'], 5", "is called"),
        ("'odd', ['status'], 5", "are columns of the result"),
    ],
)
def test_refusals(sql: duckdb.DuckDBPyConnection, call: str, says: str) -> None:
    made = "select 'a' as r, i % 2 as c, 1 as p, null as q from range(9) x(i)"
    sql.execute(f"create or replace table t as {made}")
    sql.execute("create or replace table odd as select '(all)' as r, 1 as status")
    with pytest.raises(duckdb.Error, match=says):
        sql.sql(f"from anon_counts({call})").fetchall()


def test_empty(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute("create or replace table t (r varchar)")
    assert counted(sql, "'t', ['r'], 5") == {}
