"""The tree is weighed by joins that are as large as the classes, whatever the engine expects."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.duckdb.connection import DuckDBEngine
from tests.runs import THRIFTY

PERSONS = 1000
POLICY = """
version: 1
person: people
tables:
  people:
    source: {table: people}
    key: id
    columns:
      id:     {role: key}
      born:   {role: quasi}
      since:  {role: quasi}
      sex:    {role: quasi}
      tier:   {role: quasi}
  visits:
    source: {table: visits}
    links: {id: people}
    columns:
      id:   {role: key}
      ward: {role: event}
privacy: {k_anonymity: 5, knows: {events: 1}}
publish: {database: release.duckdb}
"""


def rows_made(operators: list[dict[str, Any]]) -> Iterator[int]:
    """How many rows the operators of a plan made."""
    for one in operators:
        yield int(one["intermediate_rows"])
        yield from rows_made(one.get("children", []))


@pytest.mark.slow
def test_no_join_is_of_all_values_with_all_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two columns of as many values as persons, and two of sets, whose counts mislead it."""
    with duckdb.connect(str(tmp_path / "source.duckdb")) as source:
        source.execute(
            "create table people as select i as id, i * 7 as born, i * 11 as since,"
            f" i % 2 || 's' as sex, i % 3 || 't' as tier from range({PERSONS}) t(i)"
        )
        source.execute(
            "create table visits as select i % 500 as id, i % 4 || 'w' as ward from range(900) t(i)"
        )
    largest: dict[str, int] = {}
    raw = DuckDBEngine.raw

    def seen(self: DuckDBEngine, text: str, where: str, values: Any = None) -> Any:
        if where in ("root of the tree", "nodes of the tree"):
            query = f"explain (analyze, format json) {text[text.index('with boxes') :]}"
            ((_, plan),) = self.connection.execute(query).fetchall()
            most = max(rows_made(json.loads(plan)["operator"]))
            largest[where] = max(most, largest.get(where, 0))
        return raw(self, text, where, values)

    monkeypatch.setattr(DuckDBEngine, "raw", seen)
    policy = anonymizer.Policy.loads(POLICY, tmp_path)
    anonymizer.run(policy, tmp_path / "source.duckdb", limits=THRIFTY)
    assert set(largest) == {"root of the tree", "nodes of the tree"}
    assert max(largest.values()) <= 4 * PERSONS  # (a row per person or per value of a column)
