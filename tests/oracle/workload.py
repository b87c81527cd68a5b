"""The error of a user's own queries, from the rows of source and release in plain Python.

A release is read as rows by the letter of docs/report.md: of the n rows of a cell, the r-th gets
the value that is (r - 1/2) / n of the way through the values that the cell stands for, in their
order, NULL last. Which row is the r-th is drawn, so that only queries over one column of that kind
have one answer (`of_one`); for others there is the answer that is expected (`on_average`).
"""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from statistics import fmean, median
from typing import Any

from tests.oracle.cells import Cell, Domain, Exact, Interval, Null, is_null, leaves, parse
from tests.oracle.counts import cell
from tests.oracle.report import place

Row = Mapping[str, Any]
Weighted = Iterable[tuple[float, Row]]
EPOCH = dt.date(1970, 1, 1)


@dataclass(frozen=True)
class Own:
    """A query in SQL, and the same in Python."""

    sql: str
    figure: str = "count"
    """`count`, `sum` or `avg`."""
    of: str | None = None
    by: str | None = None
    where: tuple[str, Callable[[Any], bool]] | None = None

    @property
    def columns(self) -> list[str]:
        named = [self.of, self.by, self.where[0] if self.where else None]
        return [name for name in dict.fromkeys(named) if name is not None]


@dataclass(frozen=True)
class Errors:
    """What the page says of a query."""

    groups: int
    missing: int
    invented: int
    mean: float
    median: float
    total: float


def figures(rows: Weighted, query: Own) -> dict[Any, float | None]:
    """The figure of every group; NULL is a group, and no value."""
    sums: dict[Any, float] = defaultdict(float)
    weights: dict[Any, float] = defaultdict(float)
    for weight, row in rows:
        if not selected(row, query):
            continue
        key = row[query.by] if query.by is not None else None
        weights[key] += 0
        value = row[query.of] if query.of is not None else 1
        if not is_null(value):
            weights[key] += weight
            sums[key] += weight * float(value) if query.figure != "count" else 0
    if query.by is None:
        weights[None] += 0
    if query.figure == "count":
        return dict(weights)
    if query.figure == "sum":
        return {key: sums[key] if weights[key] else None for key in weights}
    return {key: sums[key] / weights[key] if weights[key] else None for key in weights}


def selected(row: Row, query: Own) -> bool:
    if query.where is None:
        return True
    name, holds = query.where
    return not is_null(row[name]) and holds(row[name])


def units(rows: Sequence[Row], query: Own, person: str | None) -> dict[Any, int]:
    """Rows (persons) behind every group."""
    held: dict[Any, set[Any]] = defaultdict(set)
    for number, row in enumerate(rows):
        if selected(row, query):
            key = row[query.by] if query.by is not None else None
            held[key].add(number if person is None else row[person])
    return {key: len(found) for key, found in held.items()}


def errors(
    source: Sequence[Row], released: list[tuple[float, Row]], query: Own, person: str | None,
    least: int,
) -> Errors | None:  # fmt: skip
    """None where no group of the source has `least` units."""
    true = figures(((1, row) for row in source), query)
    answers = figures(released, query)
    behind = units(source, query, person)
    counted = figures(released, Own("", by=query.by, where=query.where))
    enough = {key for key in true if behind.get(key, 0) >= least}
    invented = {k for k in answers.keys() - true.keys() if (counted[k] or 0) >= least}
    if not enough:
        return None
    relative = [_relative(true[k], answers.get(k), k in answers) for k in enough]
    apart = sum(abs((answers.get(k) or 0) - (true.get(k) or 0)) for k in enough | invented)
    size = sum(abs(true[k] or 0) for k in enough)
    return Errors(
        len(enough), len(enough - answers.keys()), len(invented),
        fmean(relative), median(relative), apart / size if size else 0,
    )  # fmt: skip


def _relative(true: float | None, answer: float | None, there: bool) -> float:
    if there and answer == true:
        return 0
    if not there or not true or answer is None:
        return 1
    return abs(answer - true) / abs(true)


def of_one(release: Sequence[Row], name: str, domain: Domain) -> list[tuple[float, Row]]:
    """The rows of a release with the column alone."""
    found: list[tuple[float, Row]] = []
    for key, n in Counter(cell(row, name) for row in release).items():
        stood = _stood_for(key, release, name, domain)
        found += [(1, {name: stood((r - Fraction(1, 2)) / n)}) for r in range(1, n + 1)]
    return found


def _stood_for(
    key: Hashable, release: Sequence[Row], name: str, domain: Domain
) -> Callable[[Fraction], Any]:
    """The value of a cell that is a part of the way through."""
    assert isinstance(key, tuple)
    of, text = key
    if of == "bucket":
        held = [row[name] for row in release if row[f"{name}_bucket"] == text]
        return _of_list([_read(value, domain) for value in held])
    found = parse(text, domain.kind)
    if isinstance(found, Null):
        return lambda part: None
    if domain.kind == "categorical":
        return _of_list([*leaves(found, domain), *[None] * found.nullable])
    low, high = bounds(found, domain)
    whole = low == high or low.denominator == high.denominator == 1
    points = high - low + 1 if whole else high - low
    null = min(points, Fraction(1)) if found.nullable else Fraction(0)

    def value(part: Fraction) -> Any:
        at = part * (points + null)
        if found.nullable and at >= points:
            return None
        return _from_place(low + math.floor(at) if whole else low + at, domain)

    return value


def _of_list(held: Sequence[Any]) -> Callable[[Fraction], Any]:
    listed = sorted(held, key=lambda value: (value is None, 0 if value is None else value))
    return lambda part: listed[math.floor(part * len(listed))]


def bounds(found: Cell, domain: Domain) -> tuple[Fraction, Fraction]:
    if isinstance(found, Exact):
        ends = (found.value, found.value)
    else:
        ends = (found.lo, found.hi) if isinstance(found, Interval) else (domain.lo, domain.hi)
    low, high = (place(end, domain.kind) for end in ends)
    return low, high


def _from_place(at: Fraction, domain: Domain) -> Any:
    if domain.kind == "date":
        return EPOCH + dt.timedelta(days=math.floor(at))
    return at


def _read(published: Any, domain: Domain) -> Any:
    found = parse(published, domain.kind)
    if not isinstance(found, Exact):
        return None
    if domain.kind == "categorical":
        return found.value
    return _from_place(place(found.value, domain.kind), domain)


def on_average(
    release: Sequence[Row], masses: Mapping[str, Callable[[Row], Mapping[Any, float]]]
) -> list[tuple[float, Row]]:
    """Every row as all values that its cells may stand for, weighted; `masses`: of one row."""
    spread: dict[tuple[Any, ...], float] = defaultdict(float)
    alike = Counter(
        tuple(tuple(of_one_row(row).items()) for of_one_row in masses.values()) for row in release
    )
    for cells, n in alike.items():
        for some in product(*cells):
            spread[tuple(value for value, _ in some)] += n * math.prod(part for _, part in some)
    return [(weight, dict(zip(masses, values, strict=True))) for values, weight in spread.items()]
