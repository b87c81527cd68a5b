"""Bounds on `SUM(value) WHERE predicates` that a recipient of a release can compute.

Every row has Pro, the product over the predicates of the share of its cell that satisfies them: of
the leaves, of the integer points (days, for dates) of an interval, or of the values of its bucket
where the cell is bucketed. NULL satisfies nothing and is one more point of a nullable cell. An
interval with a bound that is no integer is judged by length: single points weigh nothing, NULL as
much as one unit, or as all values of a shorter interval.

`expected_interval` (Li and He 2022, §4.2): in each bucket of the summed column E = sum of Pro, and
between floor(E) and ceil(E) rows count. It is an estimate, no bound. `sure_interval`: between the
rows that certainly match (Pro = 1) and those that can (Pro > 0) count; the truth is inside.
For both the lower end is the least sum of h smallest values over all h in the interval, so that
negative values are right, and the upper end likewise. A NULL in the summed column adds 0.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.cells import (
    Cell,
    Domain,
    Exact,
    Interval,
    Null,
    Star,
    ValueSet,
    as_text,
    is_null,
    leaves,
    ordered,
    parse,
)
from tests.oracle.measures import number

Row = Mapping[str, Any]
DAY = Fraction(86_400_000_000)
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: bool(a == b),
    "<>": lambda a, b: bool(a != b),
    "<": lambda a, b: bool(a < b),
    "<=": lambda a, b: bool(a <= b),
    ">": lambda a, b: bool(a > b),
    ">=": lambda a, b: bool(a >= b),
}


@dataclass(frozen=True)
class AnyOf:
    """The category is one of `values`."""

    values: frozenset[str]

    def matches(self, value: Any, kind: str) -> bool:
        return not is_null(value) and as_text(value) in self.values


@dataclass(frozen=True)
class Compare:
    """The number or date compares with `value` as the operator says."""

    operator: str
    value: Any

    def matches(self, value: Any, kind: str) -> bool:
        if is_null(value):
            return False
        return COMPARISONS[self.operator](ordered(value, kind), ordered(self.value, kind))


Predicate = AnyOf | Compare
Query = Mapping[str, Predicate]


def share(cell: Cell, predicate: Predicate, domain: Domain) -> Fraction:
    """|predicate and cell| / |cell|."""
    if isinstance(cell, Null):
        return Fraction(0)
    if isinstance(predicate, AnyOf):
        members = leaves(cell, domain)
        return Fraction(len(members & predicate.values), len(members) + cell.nullable)
    first, last, at = _places(cell, predicate, domain)
    if first.denominator == last.denominator == 1 or first == last:
        points = last - first + 1
        below = _clip(math.ceil(at - first), points)  # points < value
        upto = _clip(math.floor(at - first) + 1, points)  # points <= value
    else:
        points = last - first
        below = upto = _clip(at - first, points)
    hits = {"<": below, "<=": upto, ">": points - upto, ">=": points - below}
    hits |= {"=": upto - below, "<>": points - upto + below}
    return hits[predicate.operator] / (points + cell.nullable * min(points, Fraction(1)))


def verdict(cell: Cell, predicate: Predicate, domain: Domain) -> tuple[bool, bool]:
    """Whether every value of the cell satisfies the predicate, and whether any can.

    For intervals over all values between the bounds, so that it holds for fractions as well.
    """
    if isinstance(cell, Null):
        return False, False
    if isinstance(predicate, AnyOf):
        members = leaves(cell, domain)
        return members <= predicate.values and not cell.nullable, bool(members & predicate.values)
    first, last, at = _places(cell, predicate, domain)
    every = {
        "<": last < at,
        "<=": last <= at,
        ">": first > at,
        ">=": first >= at,
        "=": first == at == last,
        "<>": not first <= at <= last,
    }
    none = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}
    certain = every[predicate.operator] and not cell.nullable
    return certain, not every[none[predicate.operator]]


def _places(
    cell: Exact | Interval | Star | ValueSet, predicate: Compare, domain: Domain
) -> tuple[Fraction, Fraction, Fraction]:
    """Bounds of the cell and the predicate's value, as numbers (dates in days)."""
    if isinstance(cell, Exact):
        ends = (cell.value, cell.value)
    else:
        ends = (cell.lo, cell.hi) if isinstance(cell, Interval) else (domain.lo, domain.hi)
    unit = Fraction(1) if domain.kind == "numeric" else DAY
    low, high, at = (number(ordered(v, domain.kind)) / unit for v in (*ends, predicate.value))
    return low, high, at


def _clip(value: Fraction | int, top: Fraction) -> Fraction:
    return min(max(Fraction(value), Fraction(0)), top)


def probabilities(
    rows: Sequence[Row], query: Query, domains: Mapping[str, Domain]
) -> list[Fraction]:
    """Pro of every row."""
    pro = [Fraction(1)] * len(rows)
    for column, predicate in query.items():
        shares = _bucket_shares(rows, column, predicate, domains[column])
        for at, row in enumerate(rows):
            bucket = row.get(f"{column}_bucket")
            if bucket is None:
                cell = parse(row[column], domains[column].kind)
                pro[at] *= share(cell, predicate, domains[column])
            else:
                pro[at] *= shares[bucket]
    return pro


def verdicts(
    rows: Sequence[Row], query: Query, domains: Mapping[str, Domain]
) -> list[tuple[bool, bool]]:
    """Of every row: whether it certainly satisfies the query, and whether it can."""
    found = [(True, True)] * len(rows)
    for column, predicate in query.items():
        shares = _bucket_shares(rows, column, predicate, domains[column])
        for at, row in enumerate(rows):
            bucket = row.get(f"{column}_bucket")
            if bucket is None:
                cell = parse(row[column], domains[column].kind)
                certain, possible = verdict(cell, predicate, domains[column])
            else:
                certain, possible = shares[bucket] == 1, shares[bucket] > 0
            found[at] = found[at][0] and certain, found[at][1] and possible
    return found


def _bucket_shares(
    rows: Sequence[Row], column: str, predicate: Predicate, domain: Domain
) -> dict[Hashable, Fraction]:
    """Share of each bucket's values that satisfies the predicate."""
    hits: dict[Hashable, list[bool]] = defaultdict(list)
    for row in rows:
        bucket = row.get(f"{column}_bucket")
        if bucket is not None:
            hits[bucket].append(predicate.matches(_value(row[column], domain), domain.kind))
    return {bucket: Fraction(sum(found), len(found)) for bucket, found in hits.items()}


def _value(published: Any, domain: Domain) -> Any:
    """A bucketed value, read back from its text."""
    cell = parse(published, domain.kind)
    return cell.value if isinstance(cell, Exact) else None


def _interval(values: Sequence[Any], least: int, most: int) -> tuple[Any, Any]:
    """Least and greatest sum of h of the values, h from `least` to `most`."""
    up = sorted(0 if is_null(value) else value for value in values)
    counts = range(least, most + 1)
    return min(sum(up[:h]) for h in counts), max(sum(up[len(up) - h :]) for h in counts)


def _bounds(
    rows: Sequence[Row], bucket: str, column: str, counts: Callable[[list[int]], tuple[int, int]]
) -> tuple[Any, Any]:
    """Sums of the interval ends over all buckets; `counts`: of the rows at these positions."""
    grouped: dict[Hashable, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        grouped[row[bucket]].append(at)
    ends = [_interval([rows[at][column] for at in g], *counts(g)) for g in grouped.values()]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def expected_interval(
    rows: Sequence[Row],
    column: str,
    query: Query,
    domains: Mapping[str, Domain],
    bucket: str | None = None,
) -> tuple[Any, Any]:
    """The interval of Li and He. `bucket`: column that names the bucket (`<column>_bucket`)."""
    pro = probabilities(rows, query, domains)

    def counts(group: list[int]) -> tuple[int, int]:
        expected = sum((pro[at] for at in group), Fraction(0))
        return math.floor(expected), math.ceil(expected)

    return _bounds(rows, bucket or f"{column}_bucket", column, counts)


def sure_interval(
    rows: Sequence[Row],
    column: str,
    query: Query,
    domains: Mapping[str, Domain],
    bucket: str | None = None,
) -> tuple[Any, Any]:
    """An interval that holds the true sum in every world that fits the release."""
    found = verdicts(rows, query, domains)

    def counts(group: list[int]) -> tuple[int, int]:
        return sum(found[at][0] for at in group), sum(found[at][1] for at in group)

    return _bounds(rows, bucket or f"{column}_bucket", column, counts)


def true_sum(
    source: Sequence[Row], column: str, query: Query, domains: Mapping[str, Domain]
) -> Any:
    """The query's answer on the source."""
    return sum(
        row[column]
        for row in source
        if not is_null(row[column])
        and all(p.matches(row[c], domains[c].kind) for c, p in query.items())
    )


def relative_error(interval: tuple[Any, Any], actual: Any) -> Fraction:
    """(upper - lower) / actual; the caller draws again where actual is 0."""
    return (Fraction(interval[1]) - Fraction(interval[0])) / Fraction(actual)
