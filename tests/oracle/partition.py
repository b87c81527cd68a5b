"""Naive recursive Mondrian (LeFevre et al. 2006) over a list of tuples, strict and relaxed.

Conventions, on which a comparison with SQL rests (order, width and loss: see `attributes`):

*Cuts.* Strict: left are the rows whose value is at or before the cut in the attribute's order
(NULL before all values), right the others; only attributes with two or more different values in
the class can be cut, NULL counted as a value. Relaxed: rows are sorted by (value, tie) and the cut
may fall inside a run of equal values; an attribute with one value cannot be cut either.

*Admissible*: both halves hold at least k units (rows, or different persons) and satisfy the
constraint. Nothing is asked of the class that is cut, so a table that does not satisfy the model
comes back uncut, for the caller to notice.

*split="median"* (Li and He 2022, Alg. 3): attributes by falling width of the class, ties by column
order; on each the lower median (the first value whose cumulative row count reaches n/2) and the cut
`<= median`; the first attribute whose cut is admissible is cut, otherwise the class is final.
A median that is the greatest value leaves the right half empty: not admissible, on to the next
attribute. Relaxed: the first ceil(n/2) rows go left.

*split="loss"*: of every attribute the admissible cut between neighbouring values (relaxed: rows)
with the largest merit, if it is positive: gain = |C|·loss(C) - |L|·loss(L) - |R|·loss(R), loss of
that one attribute, |·| in rows, over the root of min(|L|, |R|) for numbers, of |C| for categories.
Ties: the lowest cut. Of the `compare` cuts with the largest merits (ties: column order) the one
with the largest gain over all attributes is taken (ties: column order).
With `singles` (strict only) a category, neither the first nor the last of the class, may also be
parted from all others; after the cut at the same value where both gain alike.
From depth `loss_levels` on (the root has depth 0) classes are cut at the median instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.attributes import Attribute

Rows = list[int]
Partition = frozenset[frozenset[int]]
Constraint = Callable[[Sequence[int]], bool]


def no_constraint(rows: Sequence[int]) -> bool:
    return True


def histogram_constraint(
    values: Sequence[Any], allowed: Callable[[Counter[Any]], bool]
) -> Constraint:
    """A predicate on the histogram of the sensitive values (None: NULL) of some rows."""
    return lambda rows: allowed(Counter(values[row] for row in rows))


@dataclass(frozen=True)
class Mondrian:
    """A partitioning: `table[row][j]` is the value of attribute `attributes[j]`.

    `persons[row]`: the unit of k (default: the row). `tie[row]`: sorts rows of equal value in
    relaxed cuts (default: row index).
    """

    table: Sequence[Sequence[Any]]
    attributes: Sequence[Attribute]
    k: int
    split: str = "loss"
    strict: bool = True
    constraint: Constraint = no_constraint
    persons: Sequence[Hashable] | None = None
    tie: Sequence[Any] | None = None
    loss_levels: int | None = None
    singles: bool = True
    compare: int = 4

    def partition(self) -> Partition:
        """The final classes, as sets of row indexes."""
        if self.split not in ("median", "loss"):
            raise ValueError(f"unknown split {self.split!r}")
        rows = list(range(len(self.table)))
        return (
            frozenset(frozenset(group) for group in self._refine(rows, 0))
            if rows
            else (frozenset())
        )

    def _refine(self, rows: Rows, depth: int) -> Iterator[Rows]:
        by_loss = self.split == "loss" and (self.loss_levels is None or depth < self.loss_levels)
        halves = self._best_gain(rows) if by_loss else self._first_median(rows)
        if halves is None:
            yield rows
        else:
            for half in halves:
                yield from self._refine(half, depth + 1)

    def _first_median(self, rows: Rows) -> tuple[Rows, Rows] | None:
        widths = [a.width(self._column(rows, j)) for j, a in enumerate(self.attributes)]
        for j in sorted(range(len(widths)), key=lambda j: (-widths[j], j)):
            ranked = self._sorted(rows, j)
            if self._value(ranked[0], j) == self._value(ranked[-1], j):
                continue
            middle = (len(rows) + 1) // 2
            if self.strict:
                key = self.attributes[j].key
                median = key(self._value(ranked[middle - 1], j))
                middle = sum(key(self._value(row, j)) <= median for row in rows)
            halves = ranked[:middle], ranked[middle:]
            if self.admissible(*halves):
                return halves
        return None

    def _best_gain(self, rows: Rows) -> tuple[Rows, Rows] | None:
        leading: list[tuple[Fraction, int, tuple[Rows, Rows]]] = []
        for j in range(len(self.attributes)):
            best, best_merit = None, Fraction(0)
            ranked = self._sorted(rows, j)
            if self._value(ranked[0], j) == self._value(ranked[-1], j):
                continue
            for at in range(1, len(ranked)):
                if self.strict and self._value(ranked[at - 1], j) == self._value(ranked[at], j):
                    continue
                halves = ranked[:at], ranked[at:]
                merit = self.merit(j, *halves)
                if merit > best_merit and self.admissible(*halves):
                    best, best_merit = halves, merit
                alone = self._alone(ranked, j, at)
                if alone is not None:
                    merit = self.merit(j, *alone)
                    if merit > best_merit and self.admissible(*alone):
                        best, best_merit = alone, merit
            if best is not None:
                leading.append((-best_merit, j, best))
        contenders = sorted(leading, key=lambda cut: cut[:2])[: self.compare]
        every = range(len(self.attributes))
        chosen = min(
            contenders,
            key=lambda cut: (-sum(self.gain(j, *cut[2]) for j in every), cut[1]),
            default=None,
        )
        return None if chosen is None else chosen[2]

    def _alone(self, ranked: Rows, j: int, at: int) -> tuple[Rows, Rows] | None:
        """The value that ends before `at` against all others, if it is an inner category."""
        if not (self.singles and self.strict) or self.attributes[j].kind != "categorical":
            return None
        value = self._value(ranked[at - 1], j)
        if value == self._value(ranked[0], j) or value == self._value(ranked[-1], j):
            return None
        same = [row for row in ranked if self._value(row, j) == value]
        return same, [row for row in ranked if self._value(row, j) != value]

    def gain(self, j: int, left: Rows, right: Rows) -> Fraction:
        """What the cut saves in NCP of attribute j, summed over rows."""
        loss = self.attributes[j].loss
        whole = left + right
        return (
            len(whole) * loss(self._column(whole, j))
            - len(left) * loss(self._column(left, j))
            - len(right) * loss(self._column(right, j))
        )

    def merit(self, j: int, left: Rows, right: Rows) -> Fraction:
        """The square of the gain by its weight; 0 where nothing is gained."""
        gain = max(self.gain(j, left, right), Fraction(0))
        ranges = self.attributes[j].kind == "numeric"
        weight = min(len(left), len(right)) if ranges else len(left) + len(right)
        return gain * gain / weight

    def admissible(self, left: Rows, right: Rows) -> bool:
        return all(
            len(half) > 0 and self.units(half) >= self.k and self.constraint(half)
            for half in (left, right)
        )

    def units(self, rows: Rows) -> int:
        return len(rows if self.persons is None else {self.persons[row] for row in rows})

    def _value(self, row: int, j: int) -> Any:
        return self.table[row][j]

    def _column(self, rows: Rows, j: int) -> list[Any]:
        return [self.table[row][j] for row in rows]

    def _sorted(self, rows: Rows, j: int) -> Rows:
        tie = self.tie if self.tie is not None else range(len(self.table))
        key = self.attributes[j].key
        return sorted(rows, key=lambda row: (key(self._value(row, j)), tie[row], row))


def mondrian(
    table: Sequence[Sequence[Any]], attributes: Sequence[Attribute], k: int, **options: Any
) -> Partition:
    """`Mondrian(table, attributes, k, …).partition()`."""
    return Mondrian(table, attributes, k, **options).partition()


def partition_loss(
    table: Sequence[Sequence[Any]], attributes: Sequence[Attribute], partition: Partition
) -> Fraction:
    """NCP of a partition, summed over rows and attributes."""
    return sum(
        (
            len(rows) * attribute.loss([table[row][j] for row in rows])
            for rows in partition
            for j, attribute in enumerate(attributes)
        ),
        Fraction(0),
    )
