"""The exact search of a script: in SQL it finds what the search in Python finds."""

from __future__ import annotations

from itertools import count
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.compile import Sql, work
from anonymizer.guarantees.screening import has_hitting_set
from anonymizer.steps import Step

SETS = st.lists(st.lists(st.integers(1, 7), min_size=1, max_size=3, unique=True), max_size=7)
GROUPS = st.lists(st.tuples(st.integers(1, 3), SETS.filter(len)), max_size=4)
SEARCHES = {
    "persons/search_groups.sql.j2": "select grp from anon_scratch.main.found",
    "mondrian/search_halves.sql.j2": "select grp from anon_scratch.main.found where holds",
}


def _asked(groups: list[tuple[int, list[list[int]]]], key: str) -> Sql:
    rows = [f"({group}, {col}, {sets})" for col, (group, sets) in zip(count(1), groups)]
    listed = ", ".join(rows) or "(null, null, [[1]])"
    some = "" if rows else " where false"
    return Sql(f"select * from (values {listed}) as asked({key}, col, sets){some}")


def _found(template: str, asked: Sql, size: int, query: str) -> list[tuple[Any, ...]]:
    context = {"asked": asked, "tables": (), "searched": work("found"), "size": size}
    with duckdb.connect() as connection:
        connection.execute("attach ':memory:' as anon_scratch")
        connection.execute(Step("search", template, context).statement().text)
        return connection.execute(query).fetchall()


@pytest.mark.slow
@given(GROUPS, st.integers(0, 3))
def test_groups_and_halves(groups: list[tuple[int, list[list[int]]]], size: int) -> None:
    failing = {group for group, sets in groups if has_hitting_set(sets, size)}
    expected = {group for group, _ in groups} - failing
    for template, query in SEARCHES.items():
        found = _found(template, _asked(groups, "grp"), size, query)
        assert sorted(found) == [(group,) for group in sorted(expected)]


@pytest.mark.slow
@given(st.lists(SETS.filter(len), max_size=4), st.integers(0, 3))
def test_clusters(columns: list[list[list[int]]], size: int) -> None:
    asked = _asked([(block, sets) for block, sets in enumerate(columns)], "block")
    query = "select block, list(value order by value) from anon_scratch.main.found group by block"
    found = _found("danonyir/search_clusters.sql.j2", asked, size, query)
    assert {block for block, _ in found} == {
        block for block, sets in enumerate(columns) if has_hitting_set(sets, size)
    }
    for block, values in found:
        assert len(values) <= size
        assert all(set(one) & set(values) for one in columns[block])
