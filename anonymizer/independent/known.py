"""Who remains for an observer who knows some rows of a person: k^m-anonymity in a class.

A choice is any at most m of a person's published rows. Somebody remains who has, for each chosen
row, a row of their own that looks the same (Terrovitis, Mamoulis and Kalnis 2008, with rows that
may repeat). Rows that look the same are told apart by nothing but their number: whoever has
a row n times can stand for any choice that has it at most n times.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

Persons: TypeAlias = int
"""A set of the persons of a class, one bit for each."""
Rows: TypeAlias = Mapping[Any, int]
"""How often a person has each row, by its table and what it shows."""


def remaining(held: Sequence[Rows], m: int) -> set[Persons]:
    """Who remains after each choice of at most m rows of somebody of the class."""
    nobody_known = {(1 << len(held)) - 1}
    repeated = _repeated(held, m)
    # found[c]: after choices of at most c rows; one more kind of row, n times, makes them c + n
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
    """For each number up to m: who has a kind of row so many times or more."""
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
    """How many remain after the choice that leaves the fewest."""
    return min(some.bit_count() for some in remaining(held, m))
