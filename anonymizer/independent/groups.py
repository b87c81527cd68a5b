"""Groups of rows in which a guarantee is judged, and the counts of their values.

A *unit* is a person if the release numbers persons, else a row. A (unit, value) pair counts
once in its group: without persons every row is a pair, and with persons three rows of a person with
one diagnosis are one pair. Rows without a person count for nobody (docs/models.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from anonymizer.independent.values import Value

Record: TypeAlias = tuple[int | None, Value | None]
"""Unit and value of one row; None where the row's person is not told."""
Counts: TypeAlias = Mapping[Value | None, int]


@dataclass(frozen=True, slots=True)
class Group:
    """A class, a set of equal published tuples, a bucket, or a group of msb."""

    label: Hashable
    records: tuple[Record, ...]

    @property
    def told(self) -> list[tuple[int, Value | None]]:
        """The rows of somebody."""
        return [(unit, value) for unit, value in self.records if unit is not None]

    @property
    def units(self) -> set[int]:
        """Everybody in the group, those without a value included."""
        return {unit for unit, _ in self.told}

    @property
    def pairs(self) -> set[tuple[int, Value | None]]:
        """Every (unit, value) once."""
        return set(self.told)

    def counts(self, *, nulls: bool) -> Counter[Value | None]:
        """How many units hold each value; NULL is a value only if asked for."""
        return Counter(value for _, value in self.pairs if nulls or value is not None)

    def holdings(self, *, nulls: bool) -> dict[int, set[Value | None]]:
        """S(p): the different values of every unit that has one (Wang et al. 2018)."""
        held: dict[int, set[Value | None]] = {}
        for unit, value in self.pairs:
            if nulls or value is not None:
                held.setdefault(unit, set()).add(value)
        return held


def grouped(records: Iterable[tuple[Hashable, Record]]) -> tuple[Group, ...]:
    """Records that share a label, as groups."""
    found: dict[Hashable, list[Record]] = {}
    for label, record in records:
        found.setdefault(label, []).append(record)
    return tuple(Group(label, tuple(members)) for label, members in found.items())


def total(groups: Iterable[Group], *, nulls: bool) -> Counter[Value | None]:
    """The counts of all groups together: the reference distribution q, not yet divided."""
    whole: Counter[Value | None] = Counter()
    for group in groups:
        whole.update(group.counts(nulls=nulls))
    return whole


def shares(counts: Counts) -> dict[Value | None, Fraction]:
    """A distribution, exactly; empty where nothing is counted."""
    everything = sum(counts.values())
    return {value: Fraction(n, everything) for value, n in counts.items()}
