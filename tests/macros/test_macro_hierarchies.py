"""Hierarchies by macro: equal to those of a policy's builders, and usable by a policy."""

from __future__ import annotations

import duckdb
import pytest

import anonymizer
from anonymizer import Policy

SOURCE = """
create or replace table people as
select
    i as id,
    i % 60 - 10 as age,
    printf('%05d', (i * 7919) % 90000) as zip,
    date '1950-01-01' + cast(i * 31 as integer) as born
from range(400) as numbers(i)
"""


@pytest.mark.slow
def test_a_policy_can_use_them(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute(SOURCE)
    sql.execute("create table zips as from anon_hierarchy_prefix('people', 'zip', [4, 3, 1])")
    columns = {
        "id": {"role": "drop"},
        "age": {"role": "drop"},
        "zip": {"role": "quasi"},
        "born": {"role": "drop"},
    }
    cells = []
    for hierarchy in ({"table": "zips"}, {"builder": "prefix", "lengths": [4, 3, 1]}):
        columns["zip"] = {"role": "quasi", "hierarchy": hierarchy}  # type: ignore[dict-item]
        policy = Policy.model_validate(
            {
                "version": 1,
                "source": {"table": "people"},
                "columns": columns,
                "privacy": {"k_anonymity": 5},
                "publish": {"name": "zips_out"},
            }
        )
        release = anonymizer.run(policy, sql, seed=1)
        assert release.verification.passed
        cells.append(sorted(sql.execute("select zip from zips_out").fetchall()))
    assert cells[0] == cells[1]
    assert any("*" in cell for (cell,) in cells[0])


def test_levels_nest_and_cover(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute(SOURCE)
    for query in (
        "from anon_hierarchy_intervals('people', 'age', [5, 10, 30])",
        "from anon_hierarchy_prefix('people', 'zip', [4, 2])",
        "from anon_hierarchy_dates('people', 'born', ['month', 'quarter', 'year', 'decade'])",
    ):
        cursor = sql.execute(query)
        names = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
        assert names == ["value", *(f"level_{i}" for i in range(1, len(names)))]
        assert [row[0] for row in rows] == sorted({row[0] for row in rows})
        assert {row[-1] for row in rows} == {"*"}
        for level in range(1, len(names) - 1):
            above = {(row[level], row[level + 1]) for row in rows}
            assert len(above) == len({label for label, _ in above})
    assert sql.execute(
        "select level_1, level_2 from anon_hierarchy_intervals('people', 'age', [5, 10])"
        " where value = -10 or value = 49 order by value"
    ).fetchall() == [("[-10, -6]", "[-10, -1]"), ("[45, 49]", "[40, 49]")]


def test_codes_of_different_lengths_fill_up_to_the_longest(
    sql: duckdb.DuckDBPyConnection,
) -> None:
    sql.execute("create or replace table codes as select unnest(['abcd', 'ab', 'abx', null]) as c")
    assert sql.execute("from anon_hierarchy_prefix('codes', 'c', [3, 2])").fetchall() == [
        ("ab", "ab", "ab**", "*"),
        ("abcd", "abc*", "ab**", "*"),
        ("abx", "abx*", "ab**", "*"),
    ]
