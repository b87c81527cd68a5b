"""Candidates left to an observer who knows rows of a person: k^m-anonymity in a class.

A choice is any at most m of a person's published rows. A person remains if, for each chosen row,
they have a separate row that looks the same (Terrovitis, Mamoulis and Kalnis 2008, with rows that
may repeat). Rows that look the same differ only in their number: a person with n equal rows remains
for every choice that has the row at most n times.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

Persons: TypeAlias = int
"""A set of persons of a class, as one bit per person."""
Rows: TypeAlias = Mapping[Any, int]
"""How often a person has each row, by its table and published cells."""


def remaining(held: Sequence[Rows], m: int) -> set[Persons]:
    """The remaining persons for each choice of at most m rows of some person of the class."""
    nobody_known = {(1 << len(held)) - 1}
    repeated = _repeated(held, m)
    # found[c]: after choices of at most c rows; n rows of another kind make them c + n
    found = [nobody_known]
    for chosen in range(1, m + 1):
        after = set(found[-1])
        for times, having in repeated.items():
            if times <= chosen:
                after.update(some & one for some in found[chosen - times] for one in having)
        after.discard(0)
        found.append(after)
    return found[m]


def _repeated(held: Sequence[Rows], m: int) -> dict[int, set[Persons]]:
    """For each number up to m, the sets of persons with at least that many equal rows."""
    having: dict[tuple[Hashable, int], Persons] = {}
    for place, rows in enumerate(held):
        for row, count in rows.items():
            for times in range(1, min(count, m) + 1):
                having[row, times] = having.get((row, times), 0) | 1 << place
    found: dict[int, set[Persons]] = {}
    for (_, times), some in having.items():
        found.setdefault(times, set()).add(some)
    return found


def fewest(held: Sequence[Rows], m: int) -> int:
    """The least number of remaining persons over all choices."""
    return min(some.bit_count() for some in remaining(held, m))
