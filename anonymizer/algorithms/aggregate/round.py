"""The method round: counts below a base become 0 or the base, and totals are sums of these.

Source: Langsrud and Heldal (2018), small count rounding of inner cells: those are rounded up whose
rounding brings the totals nearest to the true ones. Every figure is a sum of finest groups that are
the base or more, so it shows of none of them which number from 1 to the base it has; a group that
is not listed has fewer persons than the base, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic

import numpy as np

from anonymizer.algorithms.aggregate.cells import Floats, Ints
from anonymizer.algorithms.aggregate.groups import ATOMS, Dimension
from anonymizer.algorithms.aggregate.method import CompiledCounts
from anonymizer.algorithms.aggregate.rest import (
    MOST_CELLS,
    SPLIT,
    adding_stages,
    compiled_cells,
)
from anonymizer.algorithms.aggregate.sums import Summed
from anonymizer.errors import SourceError
from anonymizer.policy import AggregatePolicy
from anonymizer.steps import Compute, Row, Step

SECONDS = 30.0
"""For exchanging groups that are rounded up for others, which brings totals nearer."""
MOST_PLACES = 20_000_000
"""Groups times totals: what is held in memory."""
EXCHANGED = 8
"""Groups that are tried as the first of an exchange, in every round."""


def compile_round(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
) -> CompiledCounts:
    """The stages of a policy with the method round."""
    labels = [name for d in found for name in d.names]
    groupings = policy.groupings(tuple(d.levels for d in found))

    def rounded(rows: list[Row]) -> list[Row]:
        """Round small groups to 0 or the base, so that the totals stay near the true ones."""
        if len(rows) * len(groupings) > MOST_PLACES:
            said = f"has {len(rows):,} groups in {len(groupings)} totals, too many to round"
            hint = "margins: {depth: 2}, coarser groups, or method: rest"
            raise SourceError.at("aggregate.by", said, hint=hint)
        rows = sorted(rows, key=lambda row: tuple(map(str, row[:-1])))
        counts = np.array([int(row[-1]) for row in rows], np.int64)
        places = [[_place(row, found, levels) for row in rows] for levels in groupings]
        made = round_counts(counts, places, policy.rounding_base or policy.minimum)
        return [(*row[:-1], n, n, n == 0) for row, n in zip(rows, made.tolist(), strict=True)]

    query = Step("finest groups", "aggregate/finest", {"atoms": ATOMS, "labels": labels})
    columns = (
        *((str(name), "VARCHAR") for name in labels),
        ("persons", "BIGINT"),
        ("counted", "BIGINT"),
        ("left_out", "BOOLEAN"),
    )
    stages = (
        Compute(query, rounded, SPLIT, columns),
        *adding_stages(policy, found, sums, MOST_CELLS, minimum=0, listed=False, leaves_out=False),
    )
    return compiled_cells(stages, found, _words)


def _words(figures: Mapping[str, int]) -> str:
    return f"{figures['cells']:,} cells"


def _place(row: Row, found: Sequence[Dimension], levels: Sequence[int]) -> tuple[str, ...]:
    """The labels of the total of a grouping to which a finest group belongs."""
    made, start = [], 0
    for d, level in zip(found, levels, strict=True):
        made.append("" if level == d.levels else str(row[start + level]))
        start += d.levels
    return tuple(made)


def round_counts(
    counts: Ints, places: Sequence[Sequence[tuple[str, ...]]], base: int, seconds: float = SECONDS
) -> Ints:
    """Round counts below `base` to 0 or `base`. `places`: by total, the cell of every group.

    Groups are rounded up one by one while the sum of squared errors of all totals falls, and then
    exchanged for others while that helps.
    """
    small = np.flatnonzero(counts < base)
    made = np.where(counts < base, 0, counts)
    if not len(small):
        return made
    errors = Errors(counts[small], [[of[at] for at in small.tolist()] for of in places], base)
    errors.descend()
    until = monotonic() + seconds
    while monotonic() < until and errors.exchange():
        pass
    made[small] = np.where(errors.up, base, 0)
    return made


class Errors:
    """The errors of all totals, and what they become if a group is rounded the other way."""

    def __init__(
        self, counts: Ints, places: Sequence[Sequence[tuple[str, ...]]], base: int
    ) -> None:
        self.base, self.size = base, len(counts)
        self.up = np.zeros(self.size, np.bool_)
        cells: list[Ints] = []
        first = 0
        for of in places:
            numbers: dict[tuple[str, ...], int] = {}
            cells.append(
                np.array([first + numbers.setdefault(one, len(numbers)) for one in of], np.int64)
            )
            first += len(numbers)
        self.cells = np.stack(cells, axis=1)
        """By group: its cells."""
        order = np.argsort(self.cells, axis=None, kind="stable")
        self.members = order // self.cells.shape[1]
        """The groups of all cells, one cell after the other."""
        self.ends = np.searchsorted(self.cells.ravel()[order], np.arange(first + 1))
        self.error = np.bincount(self.cells.ravel(), np.repeat(-counts, self.cells.shape[1]), first)
        self.slope: Floats = self.error[self.cells].sum(axis=1)
        """By group: the sum of the errors of its cells."""

    def change(self) -> Floats:
        """By group: how the sum of squares changes if it is rounded the other way."""
        step = np.where(self.up, -self.base, self.base)
        found: Floats = 2 * step * self.slope + step * step * float(self.cells.shape[1])
        return found

    def turn(self, group: int) -> None:
        """Round a group the other way."""
        step = -self.base if self.up[group] else self.base
        self.up[group] = not self.up[group]
        self.error[self.cells[group]] += step
        beside = [self.members[self.ends[c] : self.ends[c + 1]] for c in self.cells[group]]
        np.add.at(self.slope, np.concatenate(beside), float(step))

    def descend(self) -> None:
        """Round groups the other way while that helps."""
        while True:
            change = self.change()
            best = int(np.argmin(change))
            if change[best] >= 0:
                return
            self.turn(best)

    def exchange(self) -> bool:
        """Turn two groups together if that helps; False if no pair was found."""
        change = self.change()
        for first in np.argsort(change, kind="stable")[:EXCHANGED].tolist():
            lost = change[first]
            self.turn(first)
            after = self.change()
            after[first] = np.inf
            second = int(np.argmin(after))
            if lost + after[second] < 0:
                self.turn(second)
                return True
            self.turn(first)
        return False
