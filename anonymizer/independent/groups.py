"""Groups of rows in which a guarantee is judged, and the counts of their values.

A *unit* is a person if the release numbers persons, else a row. A (unit, value) pair counts
once in its group: without persons every row is a pair, and with persons three rows of a person with
one diagnosis are one pair. Rows without a person are not counted (docs/models.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from anonymizer.independent.values import Value

Record: TypeAlias = tuple[int | None, Value | None]
"""Unit and value of one row; the unit is None if the row's person is unknown."""
Counts: TypeAlias = Mapping[Value | None, int]


@dataclass(frozen=True, slots=True)
class Group:
    """A class, a set of equal published tuples, a bucket, or a group of msb."""

    label: Hashable
    records: tuple[Record, ...]

    @property
    def told(self) -> list[tuple[int, Value | None]]:
        """The rows with a known unit."""
        return [(unit, value) for unit, value in self.records if unit is not None]

    @property
    def units(self) -> set[int]:
        """All units of the group, including those without a value."""
        return {unit for unit, _ in self.told}

    @property
    def pairs(self) -> set[tuple[int, Value | None]]:
        """The distinct (unit, value) pairs."""
        return set(self.told)

    def counts(self, *, nulls: bool) -> Counter[Value | None]:
        """How many units have each value; `nulls`: count NULL as a value."""
        return Counter(value for _, value in self.pairs if nulls or value is not None)

    def holdings(self, *, nulls: bool) -> dict[int, set[Value | None]]:
        """S(p): the distinct values of every unit that has one (Wang et al. 2018)."""
        held: dict[int, set[Value | None]] = {}
        for unit, value in self.pairs:
            if nulls or value is not None:
                held.setdefault(unit, set()).add(value)
        return held


def grouped(records: Iterable[tuple[Hashable, Record]]) -> tuple[Group, ...]:
    """Group records by label."""
    found: dict[Hashable, list[Record]] = {}
    for label, record in records:
        found.setdefault(label, []).append(record)
    return tuple(Group(label, tuple(members)) for label, members in found.items())


def total(groups: Iterable[Group], *, nulls: bool) -> Counter[Value | None]:
    """The counts of all groups together: the reference distribution q, before division."""
    whole: Counter[Value | None] = Counter()
    for group in groups:
        whole.update(group.counts(nulls=nulls))
    return whole


def shares(counts: Counts) -> dict[Value | None, Fraction]:
    """The exact distribution; empty without counts."""
    everything = sum(counts.values())
    return {value: Fraction(n, everything) for value, n in counts.items()}
