"""The errors of SUM queries as arrays are those of the definition, row by row."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reproduce.lgb import (
    LETTER,
    QUASI,
    SEMI,
    Setting,
    make_source,
    policy,
    with_originals,
)
from benchmarks.reproduce.lgb import measure as measure_lgb
from benchmarks.reproduce.sums import Release, code_tables, errors, random_queries
from benchmarks.trial import Done, anonymized
from tests.oracle.cells import Exact, Interval, Star, ValueSet, parse

ROWS, QUERIES = 400, 40
NAMES = (*QUASI, *SEMI)
NUMERIC = ("hours_per_week", "age")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("acs") / "acs.parquet"
    make_source(path, ROWS, 1)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["mdp", "ncp"])
def test_errors_are_those_of_the_definition(source: Path, variant: str) -> None:
    setting = Setting(str(source), 1, variant, 5, 3, 40, QUERIES)
    with anonymized(policy(setting), 1, threads=1) as done:
        tables, spaces = code_tables(done, with_originals(done, setting), "wage_income")
        asked = random_queries(done, tables.source, spaces, QUERIES, 1)
        found = errors(Release(done, tables.rows, spaces), asked)
        original = records(done, f"'{source}'")
        release = records(done, "staged")
    points = {name: listed(original, name) for name in NAMES}
    numbers = {space.index: NAMES[at] for at, space in enumerate(spaces)}
    for error, chosen, actual in zip(found, asked.predicates, asked.actual, strict=True):
        query = {
            numbers[index]: {v for v, yes in zip(points[numbers[index]], of, strict=True) if yes}
            for index, of in chosen.items()
        }
        true = sum(
            row["wage_income"] for row in original if all(row[n] in ok for n, ok in query.items())
        )
        assert actual == true
        low, high = interval(release, query, points)
        assert error == pytest.approx(float((high - low) / Fraction(true)))


def records(done: Done, table: str) -> list[dict[str, Any]]:
    names = [row[0] for row in done.raw(f"describe from {table}")]
    return [dict(zip(names, row, strict=True)) for row in done.raw(f"from {table}")]


def listed(original: list[dict[str, Any]], name: str) -> list[Any]:
    """All values of a column that a cell may stand for, in order."""
    values = sorted({row[name] for row in original})
    return list(range(values[0], values[-1] + 1)) if name in NUMERIC else values


def interval(
    release: list[dict[str, Any]], query: dict[str, set[Any]], points: dict[str, list[Any]]
) -> tuple[Fraction, Fraction]:
    buckets: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    members: dict[Any, list[Any]] = defaultdict(list)
    for row in release:
        buckets[row["wage_income_bucket"]].append(row)
        for name in SEMI:
            members[name, row[f"{name}_bucket"]].append(row[name])

    def share(row: dict[str, Any], name: str, satisfied: set[Any]) -> Fraction:
        if row.get(f"{name}_bucket") is not None:
            values = members[name, row[f"{name}_bucket"]]
            values = [int(value) for value in values] if name in NUMERIC else values
        else:
            values = covered(row[name], name, points[name])
        return Fraction(sum(value in satisfied for value in values), len(values))

    low = high = Fraction(0)
    for rows in buckets.values():
        expected = Fraction(0)
        for row in rows:
            match = Fraction(1)
            for name, satisfied in query.items():
                match *= share(row, name, satisfied)
            expected += match
        wages = sorted(row["wage_income"] for row in rows)
        low += sum(wages[: math.floor(expected)])
        high += sum(wages[len(wages) - math.ceil(expected) :])
    return low, high


def covered(text: str, name: str, points: list[Any]) -> list[Any]:
    match parse(text, "numeric" if name in NUMERIC else "categorical"):
        case Interval(lo, hi):
            return list(range(int(lo), int(hi) + 1))
        case ValueSet(several):
            return [*several]
        case Star():
            return points
        case Exact(value):
            return [int(value) if name in NUMERIC else value]
    raise AssertionError(text)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["mdp", "ncp", LETTER])
def test_by_the_formula_of_the_paper_an_exact_category_costs_its_share(
    source: Path, variant: str
) -> None:
    record = measure_lgb(Setting(str(source), 1, variant, 5, 3, 40, 0))
    if variant == LETTER:
        assert record["ncp_paper"] > record["ncp"]
        return
    with anonymized(policy(Setting(str(source), 1, variant, 5, 3, 40, 0)), 1, threads=1) as done:
        original, release = records(done, f"'{source}'"), records(done, "staged")
    added, cells = Fraction(0), 0
    for name in NAMES:
        size = len({row[name] for row in original})
        kept = [row[name] for row in release if row.get(f"{name}_bucket") is None]
        cells += len(kept)
        if name not in NUMERIC:
            exact = [text for text in kept if isinstance(parse(text, "categorical"), Exact)]
            added += Fraction(len(exact), size)
    assert record["ncp_paper"] - record["ncp"] == pytest.approx(float(added / cells))
