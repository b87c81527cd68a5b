"""The error of random count queries against a naive recipient."""

from __future__ import annotations

import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile import work
from anonymizer.measure.queries import count_error
from anonymizer.review.inputs import open_beside
from tests.oracle import cells

SOURCE = (
    "create table t as select case when range % 17 = 0 then null else range * 7919 % 23 end as a,"
    " ['x', 'y', 'z', 'w'][1 + (range * 31 % 97) % 4] as b, range % 2 = 0 as c from range(120)"
)


def test_errors_are_those_of_a_naive_recipient(tmp_path: Path) -> None:
    source = tmp_path / "s.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(SOURCE)
        originals = connection.execute("select a, b, c from t").fetchall()
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {name: {"role": "quasi"} for name in "abc"},
        "privacy": {"k_anonymity": 6},
        "publish": {"name": "r", "database": "r.duckdb"},
    }
    (tmp_path / "p.yml").write_text(json.dumps(given))
    policy = anonymizer.Policy.load(tmp_path / "p.yml")
    anonymizer.run(policy, source, seed=3)
    kinds = ("numeric", "categorical", "categorical")
    domains = [cells.domain_of([row[i] for row in originals], kinds[i]) for i in range(3)]
    with open_beside(policy, tmp_path / "r.duckdb", source) as beside:
        released = beside.run_sql(f"select a, b, c from {beside.view.catalog}.main.r")
        found = count_error(
            beside.run_sql, beside.view, beside.layout, beside.originals, queries=30, seed=5
        )
        # the draws of the last round; without redraws those are all
        wanted: dict[int, dict[int, set[str]]] = defaultdict(dict)
        tables = {i: work(f"query_truth_{i + 1}") for i in range(3)}
        for i in tables:
            rows = beside.run_sql(
                "select m.draw, cast(d.value as varchar) from"
                f" (select draw from {work('query_draws').parts[0]}.main.query_draws"
                f" where attribute = {i + 1}) m"
                f" left join anon_scratch.main.query_truth_{i + 1} t on t.draw = m.draw"
                f" left join anon_scratch.main.query_domain_{i + 1} d on d.code = t.code"
            )
            for draw, value in rows:
                chosen = wanted[draw].setdefault(i, set())
                if value is not None:
                    chosen.add(value)
    assert found.queries == 30
    errors = []
    for predicates in wanted.values():
        truth = sum(
            all(cells.as_text(row[i]) in chosen for i, chosen in predicates.items())
            for row in originals
        )
        expected = sum(
            prod(part(row[i], i, kinds[i], domains[i], chosen) for i, chosen in predicates.items())
            for row in released
        )
        if truth:
            errors.append(abs(Fraction(expected) - truth) / truth)
    assert found.redrawn == 0
    assert found.mean == pytest.approx(float(sum(errors) / len(errors)))


def prod(parts: Any) -> Fraction:
    result = Fraction(1)
    for item in parts:
        result *= item
    return result


def part(text: str | None, i: int, kind: str, domain: cells.Domain, chosen: set[str]) -> Fraction:
    """The share of what a cell stands for that satisfies a predicate; NULL satisfies none."""
    cell = cells.parse(text, kind)
    if isinstance(cell, cells.Null):
        return Fraction(0)
    null = 1 if cell.nullable else 0
    if kind == "categorical":
        members = cells.leaves(cell, domain)
        return Fraction(len(members & chosen), len(members) + null)
    if isinstance(cell, cells.Interval):
        lo, hi = cell.lo, cell.hi
    elif isinstance(cell, cells.Exact):
        lo = hi = cell.value
    else:
        lo, hi = domain.lo, domain.hi
    points = range(int(lo), int(hi) + 1)
    # the values of the source are the whole numbers from 0 to 22, none missing
    return Fraction(sum(str(x) in chosen for x in points), len(points) + null)
