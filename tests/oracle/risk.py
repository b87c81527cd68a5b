"""Risk of a table of rows, checked by the letter of the definitions, value by value.

A table is a list of rows (dicts). None is a value like any other among the quasi-identifiers. Units
are rows, or with `person` the different persons; rows without a person count for nobody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def classes(rows: Rows, columns: Sequence[str]) -> dict[tuple[Any, ...], list[int]]:
    """Numbers of the rows of every class."""
    found: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        found[tuple(row[c] for c in columns)].append(number)
    return dict(found)


def units(rows: Rows, numbers: Sequence[int], person: str | None) -> set[Hashable]:
    """Different rows or persons."""
    if person is None:
        return set(numbers)
    return {rows[n][person] for n in numbers if rows[n][person] is not None}


def sizes(rows: Rows, columns: Sequence[str], person: str | None = None) -> list[int]:
    """Units of every class."""
    return [len(units(rows, some, person)) for some in classes(rows, columns).values()]


def prosecutor(found: Sequence[int], threshold: Fraction) -> dict[str, Fraction | None]:
    """Largest, mean and share above the threshold of 1/size, over units in classes with any."""
    chances = [Fraction(1, size) for size in found for _ in range(size)]
    if not chances:
        return {"max": None, "average": None, "above": None}
    above = sum(chance > threshold for chance in chances)
    return {
        "max": max(chances),
        "average": sum(chances, Fraction(0)) / len(chances),
        "above": Fraction(above, len(chances)),
    }


def singled_out(rows: Rows, columns: Sequence[str], person: str | None) -> set[Hashable]:
    """Units that are alone in a class of these columns."""
    alone: set[Hashable] = set()
    for some in classes(rows, columns).values():
        found = units(rows, some, person)
        if len(found) == 1:
            alone |= found
    return alone


def minimal_combinations(
    rows: Rows, columns: Sequence[str], size: int, person: str | None = None
) -> dict[tuple[str, ...], set[Hashable]]:
    """For every combination, the units that it singles out while no proper part of it does."""
    alone = {
        some: singled_out(rows, some, person)
        for n in range(1, size + 1)
        for some in combinations(columns, n)
    }
    return {
        some: {
            unit
            for unit in found
            if not any(
                unit in alone[part] for n in range(1, len(some)) for part in combinations(some, n)
            )
        }
        for some, found in alone.items()
    }


def population(
    rows: Rows, everybody: Rows, columns: Sequence[str]
) -> dict[str, Fraction | float | int | None]:
    """k-map, bounds of presence and marketer risk; members are rows of `everybody`."""
    ours, theirs = classes(rows, columns), classes(everybody, columns)
    presence: list[Fraction | float] = []
    for key in {*ours, *theirs}:
        n, members = len(ours.get(key, ())), len(theirs.get(key, ()))
        presence.append(Fraction(n, members) if members else float("inf"))
    matched = [(len(some), len(theirs.get(key, ()))) for key, some in ours.items()]
    return {
        "k_map": min((members for _, members in matched), default=None),
        "presence_max": max(presence),
        "presence_min": min(share for share in presence if share != float("inf"))
        if any(share != float("inf") for share in presence)
        else None,
        "uniques": sum(n == 1 and members == 1 for n, members in matched),
        "marketer": sum((Fraction(n, m) for n, m in matched if m), Fraction(0)) / len(rows),
    }


def zayatz(found: Sequence[int], fraction: Fraction) -> tuple[Fraction, Fraction]:
    """P(unique in the population | in the sample), share of uniques in the population."""
    n = sum(found)
    total = max(n, round(n / fraction))
    ones = sum(size == 1 for size in found)
    if not ones:
        return Fraction(0), Fraction(0)

    def once(size: int) -> Fraction:
        return Fraction(size * comb(total - size, n - 1), comb(total, n))

    evidence = sum((once(size) for size in found), Fraction(0)) / len(found)
    chance = Fraction(ones, len(found)) * once(1) / evidence
    return chance, chance * ones / fraction / total
