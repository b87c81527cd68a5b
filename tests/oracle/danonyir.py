"""Naive DAnonyIR (Wang, Du, Luo, Li 2018, algorithms 1 and 7), person by person.

Persons stand in the order in which seeds and residual persons are taken. Losses are equations 11
and 12 in whole numbers, `scale` for a whole cell: exact if that is a multiple of every denominator,
else rounded, as to the billionths that serve for a table of any kind. Ties go to a person before a
cluster, then to the earlier in order; a cluster's place in the order is that of its seed. Distances
are computed for all candidates at once with numpy; everything else is as plain as can be. NULL is a
value more: in a set a member, in an interval the loss of the mixture counts it as one more value of
the domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCALE = 1_000_000_000
Numbers = NDArray[np.int64]
NO_VALUE = 2**60  # lies beyond every place, so that minima and maxima pass over it


@dataclass
class Ordered:
    """An ordered attribute: places of the persons' values, None for NULL."""

    places: list[int | None]
    size: int
    """Values of the domain, NULL among them."""
    scale: int = SCALE

    def __post_init__(self) -> None:
        known = [p is not None for p in self.places]
        self.lo = np.array([NO_VALUE if p is None else p for p in self.places], dtype=np.int64)
        self.hi = np.where(known, self.lo, -NO_VALUE)
        self.nil = ~np.array(known)

    def united(self, i: int, others: NDArray[Any]) -> Numbers:
        lo = np.minimum(self.lo[i], self.lo[others])
        hi = np.maximum(self.hi[i], self.hi[others])
        width = hi - lo
        mixed = (width * (self.size - 1) + self.scale) // self.size
        loss: Numbers = np.where(self.nil[i] | self.nil[others], mixed, width)
        return np.where(hi < lo, np.int64(0), loss)

    def unite(self, i: int, j: int) -> None:
        self.lo[i], self.hi[i] = min(self.lo[i], self.lo[j]), max(self.hi[i], self.hi[j])
        self.nil[i] |= self.nil[j]


@dataclass
class Members:
    """A category published as a set: the persons' values by number from 0, NULL being one."""

    values: list[int]
    size: int
    scale: int = SCALE

    def __post_init__(self) -> None:
        self.bits = np.array([1 << v for v in self.values], dtype=np.int64)
        self.weight = round(self.scale / (self.size - 1)) if self.size > 1 else 0

    def united(self, i: int, others: NDArray[Any]) -> Numbers:
        counts: Numbers = np.bitwise_count(self.bits[i] | self.bits[others]).astype(np.int64)
        loss: Numbers = (counts - 1) * self.weight
        return loss

    def unite(self, i: int, j: int) -> None:
        self.bits[i] |= self.bits[j]


@dataclass
class Nodes:
    """A category over a hierarchy: every person's path from leaf to root, and what levels cost."""

    paths: list[tuple[Any, ...]]
    cost: Callable[[Any, int], int]
    """Loss of a node at a level, the leaf's being 0."""

    def __post_init__(self) -> None:
        self.level = np.zeros(len(self.paths), dtype=np.int64)

    def united(self, i: int, others: NDArray[Any]) -> Numbers:
        found = [self._meet(i, int(j)) for j in others]
        return np.array([self.cost(self.paths[i][level], level) for level in found], dtype=np.int64)

    def unite(self, i: int, j: int) -> None:
        self.level[i] = self._meet(i, j)

    def _meet(self, i: int, j: int) -> int:
        start = max(self.level[i], self.level[j])
        pairs = list(zip(self.paths[i], self.paths[j], strict=True))
        return next(k for k, (x, y) in enumerate(pairs) if k >= start and x == y)


def place(value: int, domain: Sequence[int], scale: int = SCALE) -> int:
    """The place of a whole number in its domain."""
    lo, hi = min(domain), max(domain)
    return (value - lo) * round(scale / (hi - lo)) if hi > lo else 0


Holds = Callable[[list[int]], bool]


@dataclass
class Clustering:
    """One run. `holds` judges a set of persons by their positions in the order."""

    attributes: Sequence[Ordered | Members | Nodes]
    records: Sequence[int]
    holds: Holds
    scale: int = SCALE
    residual: int = 0
    suppressed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.records)
        self.size = np.array(self.records, dtype=np.int64)
        self.loss = np.zeros(n, dtype=np.int64)
        self.free = np.ones(n, dtype=bool)
        self.closed = np.zeros(n, dtype=bool)
        self.members = {i: [i] for i in range(n)}

    def run(self) -> list[list[int]]:
        """The clusters that hold, by position."""
        while self.free.any():
            seed = int(np.flatnonzero(self.free)[0])
            self.free[seed] = False
            held = False
            while not held and self.free.any():
                chosen = self._nearest(seed)
                self.free[chosen] = False
                self.closed[chosen] = False
                self._unite(seed, chosen)
                held = self.holds(self.members[seed])
            if held:
                self.closed[seed] = True
            else:
                self._handle(sorted(self.members[seed]))
        return [self.members[int(i)] for i in np.flatnonzero(self.closed)]

    def distances(self, i: int, others: NDArray[Any]) -> Numbers:
        """Equations 16 to 18, from one person or cluster to others."""
        united = sum((a.united(i, others) for a in self.attributes), np.int64(0))
        before = self.size[i] * self.loss[i] + self.size[others] * self.loss[others]
        distance: Numbers = (self.size[i] + self.size[others]) * united - before
        return distance

    def _nearest(self, seed: int) -> int:
        others = np.flatnonzero(self.free | self.closed)
        distance = self.distances(seed, others)
        best = others[distance == distance.min()]
        return int(min(best, key=lambda j: (bool(self.closed[j]), j)))

    def _unite(self, i: int, j: int) -> None:
        for a in self.attributes:
            a.unite(i, j)
        self.size[i] += self.size[j]
        self.loss[i] = sum(int(a.united(i, np.array([i]))[0]) for a in self.attributes)
        self.members[i] = self.members[i] + self.members[j]

    def _handle(self, left: Sequence[int]) -> None:
        self.residual = len(left)
        # the members lent their boxes to the seed; every one of them is a person again
        fresh = Clustering(self._originals, self.records, self.holds, self.scale)
        for person in left:
            offers: list[tuple[int, int]] = []
            for j in map(int, np.flatnonzero(self.closed)):
                if self.holds([*self.members[j], person]):
                    offers.append((self._joining(fresh, person, j), j))
            whole = self.records[person] * len(self.attributes) * self.scale
            if offers and min(offers)[0] <= whole:
                self._join(fresh, person, min(offers)[1])
            else:
                self.suppressed.append(person)

    def keep_originals(self, originals: Sequence[Ordered | Members | Nodes]) -> Clustering:
        """Attributes as they were before anything was united, for residual persons."""
        self._originals = originals
        return self

    def _joining(self, fresh: Clustering, person: int, j: int) -> int:
        self._restore(fresh, person)
        return int(self.distances(person, np.array([j]))[0])

    def _join(self, fresh: Clustering, person: int, j: int) -> None:
        self._restore(fresh, person)
        self._unite(j, person)

    def _restore(self, fresh: Clustering, person: int) -> None:
        """The person's own box, wherever it went."""
        for own, original in zip(self.attributes, fresh.attributes, strict=True):
            match own, original:
                case Ordered(), Ordered():
                    own.lo[person] = original.lo[person]
                    own.hi[person] = original.hi[person]
                    own.nil[person] = original.nil[person]
                case Members(), Members():
                    own.bits[person] = original.bits[person]
                case Nodes(), Nodes():
                    own.level[person] = 0
        self.size[person] = self.records[person]
        self.loss[person] = 0
        self.members[person] = [person]
