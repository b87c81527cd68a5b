"""LGB's local generalization by minimizing NCP, to the letter (Li and He 2022, Algorithm 4).

`find_seeds` and `divide_table` are the top-down algorithm of Xu et al. 2006, as the paper says:

*find_seeds*: from a random row to the row farthest from it, and from there to the farthest again;
three rounds of both, ended early when a round does not raise the distance. The distance of two rows
is the NCP of the pair.

*divide_table*: the other rows one by one, in random order, each to the group whose loss grows less
by taking it. The loss of a group is its rows times the NCP of its box. Ties go to the first.

*Stop rule*: a set below 2k is final; if either part is below k, or all rows are equal, the whole
set is final.

Numbers without NULL, and categories as sets of values (losses: see `attributes`). In floats, and
boxes grow instead of being computed anew, so that some ten thousand rows end in seconds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.attributes import Attribute
from tests.oracle.partition import Partition, Rows

ROUNDS = 3


class Group:
    """A growing group: its rows, and its box, an interval or a set of values per attribute."""

    def __init__(self, of: LocalGeneralization, seed: int) -> None:
        self.of, self.rows, self.ncp = of, [seed], 0.0
        numbers, values = of.points[seed]
        self.lo, self.hi = list(numbers), list(numbers)
        self.values = [{value} for value in values]

    def ncp_with(self, row: int) -> float:
        """NCP of the box that also holds `row`."""
        numbers, values = self.of.points[row]
        found = 0.0
        for number, lo, hi in zip(numbers, self.lo, self.hi, strict=True):
            found += max(hi, number) - min(lo, number)
        for value, held, size in zip(values, self.values, self.of.sizes, strict=True):
            several = len(held) + (value not in held)
            found += several / size if several > 1 else 0
        return found

    def growth(self, row: int) -> float:
        """By how much the loss of the group grows by taking `row`."""
        return (len(self.rows) + 1) * self.ncp_with(row) - len(self.rows) * self.ncp

    def take(self, row: int) -> None:
        self.ncp = self.ncp_with(row)
        numbers, values = self.of.points[row]
        self.lo = [min(lo, number) for lo, number in zip(self.lo, numbers, strict=True)]
        self.hi = [max(hi, number) for hi, number in zip(self.hi, numbers, strict=True)]
        for value, held in zip(values, self.values, strict=True):
            held.add(value)
        self.rows.append(row)


@dataclass
class LocalGeneralization:
    """`table[row][j]` is the value of attribute `attributes[j]`; `draw` decides what is random."""

    table: Sequence[Sequence[Any]]
    attributes: Sequence[Attribute]
    k: int
    draw: random.Random

    def __post_init__(self) -> None:
        numeric = [(j, a) for j, a in enumerate(self.attributes) if a.kind == "numeric"]
        sets = [j for j, a in enumerate(self.attributes) if a.kind != "numeric"]
        self.sizes = [self.attributes[j].domain_size for j in sets]
        self.points = [
            (
                [float((row[j] - a.lo) / ((a.hi - a.lo) or 1)) for j, a in numeric],
                [row[j] for j in sets],
            )
            for row in self.table
        ]

    def partition(self) -> Partition:
        """The final groups, as sets of row numbers."""
        return frozenset(map(frozenset, self._final(list(range(len(self.table))))))

    def _final(self, everything: Rows) -> Iterator[Rows]:
        waiting = [everything] if everything else []
        while waiting:
            rows = waiting.pop()
            seeds = self.find_seeds(rows) if len(rows) >= 2 * self.k else None
            parts = self.divide(rows, *seeds) if seeds is not None else None
            if parts is not None and min(map(len, parts)) >= self.k:
                waiting += parts
            else:
                yield rows

    def find_seeds(self, rows: Rows) -> tuple[int, int] | None:
        """Two rows far apart, or None if all are equal."""
        u, far = self.draw.choice(rows), 0.0
        found = None
        for _ in range(ROUNDS):
            v, _ = self._farthest(u, rows)
            u, distance = self._farthest(v, rows)
            if distance <= far:
                break
            found, far = (u, v), distance
        return found

    def _farthest(self, row: int, rows: Rows) -> tuple[int, float]:
        alone = Group(self, row)
        return max(((x, alone.ncp_with(x)) for x in rows), key=lambda found: found[1])

    def divide(self, rows: Rows, u: int, v: int) -> tuple[Rows, Rows]:
        rest = [row for row in rows if row not in (u, v)]
        self.draw.shuffle(rest)
        first, second = Group(self, u), Group(self, v)
        for row in rest:
            (first if first.growth(row) <= second.growth(row) else second).take(row)
        return first.rows, second.rows
