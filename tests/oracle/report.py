"""The figures of a report by the letter of its page, row by row, in plain Python.

Distributions: a cell counts evenly for the values that it stands for (the whole numbers of an
interval between whole bounds, else its length), NULL being one value more (as much as one unit of
length, or as a shorter interval). Shares are of rows. Risk: an observer knows the quasi-identifiers
of all rows of a person.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.oracle.cells import (
    Cell,
    Domain,
    Exact,
    Interval,
    Null,
    as_text,
    is_null,
    leaves,
    ordered,
    parse,
)

Rows = Sequence[Mapping[str, Any]]
DAY = Fraction(86_400_000_000)


@dataclass
class Masses:
    """Shares of single values (None is NULL), and of stretches (from, to) of no single value."""

    points: dict[Any, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    stretches: list[tuple[Fraction, Fraction, Fraction]] = field(default_factory=list)


def place(value: Any, kind: str) -> Any:
    """A number, or the day of a date, as a fraction; a category as its text."""
    if is_null(value):
        return None
    if kind == "categorical":
        return as_text(value)
    found = ordered(value, kind)
    if isinstance(found, dt.datetime):
        return Fraction((found - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)) / DAY
    return Fraction(float(found))


def of_values(values: Sequence[Any], kind: str) -> Masses:
    """Every row with its value."""
    found = Masses()
    for value in values:
        found.points[place(value, kind)] += Fraction(1, len(values))
    return found


def of_cells(texts: Sequence[str | None], domain: Domain) -> Masses:
    """Every row spread over what its cell stands for."""
    found = Masses()
    for text, n in Counter(texts).items():
        _spread(found, parse(text, domain.kind), Fraction(n, len(texts)), domain)
    return found


def _spread(found: Masses, cell: Cell, mass: Fraction, domain: Domain) -> None:
    nulls = int(isinstance(cell, Null) or bool(getattr(cell, "nullable", False)))
    if isinstance(cell, Null):
        found.points[None] += mass
        return
    if domain.kind == "categorical":
        values = sorted(leaves(cell, domain))
        for value in values + [None] * nulls:
            found.points[value] += mass / (len(values) + nulls)
        return
    if isinstance(cell, Exact):
        low = high = place(cell.value, domain.kind)
    elif isinstance(cell, Interval):
        low, high = place(cell.lo, domain.kind), place(cell.hi, domain.kind)
    else:
        low, high = place(domain.lo, domain.kind), place(domain.hi, domain.kind)
    whole = low == high or low.denominator == high.denominator == 1
    if whole:
        count = int(high - low) + 1
        for number in range(count):
            found.points[low + number] += mass / (count + nulls)
        found.points[None] += mass * Fraction(nulls, count + nulls)
        return
    null = nulls * min(high - low, Fraction(1))
    found.points[None] += mass * null / (high - low + null)
    found.stretches.append((low, high, mass * (high - low) / (high - low + null)))


def moved(before: Masses, after: Masses) -> Fraction:
    """Half the sum of the differences; a stretch has no single value in common with a source."""
    assert not before.stretches
    points = {*before.points, *after.points}
    total = sum((abs(before.points[v] - after.points[v]) for v in points), Fraction(0))
    return (total + sum((mass for _, _, mass in after.stretches), Fraction(0))) / 2


def below(before: Masses, after: Masses) -> float:
    """The largest difference of the shares up to, or below, any value; NULL comes first."""
    ends = {float(end) for low, high, _ in after.stretches for end in (low, high)}
    mine, theirs = ({v: float(m) for v, m in masses.points.items()} for masses in (before, after))
    values = sorted({float(v) for v in (*mine, *theirs) if v is not None} | ends)
    stretches = [(float(low), float(high), float(mass)) for low, high, mass in after.stretches]
    gap = mine.get(None, 0.0) - theirs.get(None, 0.0)
    found = [abs(gap)]
    for x in values:
        run = sum(m * min(max((x - a) / (b - a), 0.0), 1.0) for a, b, m in stretches)
        found.append(abs(gap - run))
        gap += mine.get(x, 0.0) - theirs.get(x, 0.0)
        found.append(abs(gap - run))
    return max(found)


def classes(rows: Rows, columns: Sequence[str], person: str | None) -> dict[Any, list[int]]:
    """Numbers of the rows in every class: of equal rows, or of persons with the same set."""
    keys: dict[Any, Any] = {}
    if person is not None:
        of_person: dict[Any, set[Any]] = defaultdict(set)
        for row in rows:
            of_person[row[person]].add(tuple(row[c] for c in columns))
        keys = {who: frozenset(known) for who, known in of_person.items() if who is not None}
    found: dict[Any, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        if person is None:
            found[tuple(row[c] for c in columns)].append(number)
        elif row[person] is not None:
            found[keys[row[person]]].append(number)
    return dict(found)


@dataclass(frozen=True)
class Risk:
    """What the page says of classes."""

    rows: int
    classes: int
    k: int
    person_k: int | None
    most: Fraction
    average: Fraction
    above: Fraction
    alone: int
    sizes: Counter[int]
    """Units by the size of their class."""


def risk(rows: Rows, columns: Sequence[str], person: str | None) -> Risk:
    """Of a table whose classes are those of `columns`; at risk is who can be found at over 1/5."""
    found = classes(rows, columns, person)
    if person is None:
        sizes = [len(some) for some in found.values()]
    else:
        sizes = [len({rows[n][person] for n in some}) for some in found.values()]
    units = sum(sizes)
    return Risk(
        rows=sum(len(some) for some in found.values()),
        classes=len(sizes),
        k=min(len(some) for some in found.values()),
        person_k=None if person is None else min(sizes),
        most=Fraction(1, min(sizes)),
        average=Fraction(len(sizes), units),
        above=Fraction(sum(size for size in sizes if size < 5), units),
        alone=sizes.count(1),
        sizes=Counter({size: size * n for size, n in Counter(sizes).items()}),
    )


def size_bin(size: int) -> int:
    """1, 2, 3, 4, then from 5, 10, 20, 50, 100, …"""
    if size < 5:
        return size
    found, steps = 5, (2, Fraction(2), Fraction(5, 2))
    at = 0
    while size >= found * steps[at % 3]:
        found = int(found * steps[at % 3])
        at += 1
    return found
