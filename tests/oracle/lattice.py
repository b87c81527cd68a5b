"""The optimum of a generalization lattice by trying every node, over rows and Python values.

Conventions, on which a comparison with SQL rests:

* A column's `paths` give every listed value its labels from level 1 up to the root; level 0 is the
  value. NULL (None) is a node of its own below the root and lies under the root like all values.
* A node of the lattice publishes the classes that have k units (rows, or different persons) and
  that no rule fails. Rules are given the published classes, so that a rule that compares with the
  published rows is asked again as long as it fails classes. A failed class stays out.
* A node holds if it publishes something and suppresses at most floor(limit·units) units.
* Loss by NCP, GLM or distortion: the sum over published cells, and per suppressed row the largest
  loss of each column (1; the column's height for distortion). By C_DM: the squared sizes of the
  published classes in rows, and the number of all rows for each suppressed row.
* NCP and GLM of a category count the listed leaves under its node (NULL is one more of them), a
  node over all values of the table costs 1 like the root; of a number they are the listed bounds
  of its node, cut to the table's range. Distortion counts listed leaves.
* Nodes are numbered with the last column's level counting singly; equal losses go to the lowest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

Node = tuple[int, ...]
Classes = dict[Hashable, list[int]]
Fails = Callable[[Classes], set[Hashable]]


def nothing_fails(classes: Classes) -> set[Hashable]:
    """No rule but k."""
    return set()


@dataclass(frozen=True)
class Column:
    """One quasi-identifier: its cells by row, and its hierarchy."""

    cells: Sequence[Any]
    paths: Mapping[Any, Sequence[str]]
    numeric: bool = False

    @cached_property
    def height(self) -> int:
        return len(next(iter(self.paths.values())))

    @cached_property
    def present(self) -> set[Any]:
        return {cell for cell in self.cells if cell is not None}

    @cached_property
    def nulls(self) -> bool:
        return None in self.cells

    def node(self, cell: Any, level: int) -> Hashable:
        if level == self.height:
            return "root"
        return cell if cell is None or level == 0 else ("node", self.paths[cell][level - 1])

    def listed(self, cell: Any, level: int) -> list[Any]:
        """All listed values that share the node of `cell`."""
        own = self.node(cell, level)
        return [value for value in self.paths if self.node(value, level) == own]

    def text(self, cell: Any, level: int) -> str | None:
        """What is published."""
        if level == self.height:
            return "* or NULL" if self.nulls else "*"
        if cell is None or level == 0:
            return None if cell is None else str(cell)
        below = self.listed(cell, level)
        if self.numeric:
            low, high = min(below), max(below)
            return str(low) if low == high else f"[{low}, {high}]"
        return "*" if self.present <= set(below) else self.paths[cell][level - 1]

    def loss(self, cell: Any, level: int, measure: str) -> Fraction:
        """Loss of one published cell."""
        whole = Fraction(self.height if measure == "distortion" else 1)
        if level == self.height:
            return whole
        if cell is None or level == 0:
            return Fraction(0)
        below = self.listed(cell, level)
        if measure == "distortion":
            return whole * Fraction(len(below) - 1, len(self.paths) - 1)
        if self.numeric:
            low, high = min(self.present), max(self.present)
            width = min(max(below), high) - max(min(below), low)
            return Fraction(width, high - low) if high > low else Fraction(0)
        if self.present <= set(below):
            return whole
        covered, size = len(below), len(self.paths) + self.nulls
        if covered < 2:
            return Fraction(0)
        return Fraction(covered, size) if measure == "ncp" else Fraction(covered - 1, size - 1)

    def shown_losses(self, cells: Sequence[Any], level: int) -> Fraction:
        """NCP of these cells as readers measure it: of the range shown, or the file's leaves."""
        if level == 0:
            return Fraction(0)
        if level == self.height:
            return Fraction(len(cells))
        held = [self.listed(cell, level) for cell in cells if cell is not None]
        if not held:
            return Fraction(0)
        if self.numeric:
            whole = max(map(max, held)) - min(map(min, held))
            widths = sum(max(below) - min(below) for below in held)
            return Fraction(widths, whole) if whole else Fraction(0)
        leaves = len(self.paths) + (None in cells)
        sizes = [leaves if self.present <= set(below) else len(below) for below in held]
        return Fraction(sum(size for size in sizes if size > 1), leaves)


@dataclass(frozen=True)
class Verdict:
    """One node: what it publishes, and what that loses (None where it does not hold)."""

    node: Node
    published: Classes
    suppressed: int
    loss: Fraction | None


@dataclass(frozen=True)
class Lattice:
    """All ways of publishing each column at one level."""

    columns: Sequence[Column]
    k: int
    limit: float = 0.0
    fails: Fails = nothing_fails
    persons: Sequence[Hashable] | None = None
    measure: str = "ncp"

    @property
    def rows(self) -> range:
        return range(len(self.columns[0].cells))

    def units(self, rows: Sequence[int]) -> int:
        """Rows, or different persons."""
        return len(rows) if self.persons is None else len({self.persons[row] for row in rows})

    def nodes(self) -> list[Node]:
        """All nodes by their numbers."""
        return list(itertools.product(*(range(column.height + 1) for column in self.columns)))

    def classes(self, node: Node) -> Classes:
        """Rows by the nodes of their cells."""
        found: Classes = {}
        for row in self.rows:
            pairs = zip(self.columns, node, strict=True)
            key = tuple(column.node(column.cells[row], level) for column, level in pairs)
            found.setdefault(key, []).append(row)
        return found

    def judge(self, node: Node) -> Verdict:
        """What is published of a node, and its loss."""
        published = {
            key: rows for key, rows in self.classes(node).items() if self.units(rows) >= self.k
        }
        while failing := self.fails(published) if published else set():
            published = {key: rows for key, rows in published.items() if key not in failing}
        kept = [row for rows in published.values() for row in rows]
        suppressed = self.units(list(self.rows)) - self.units(kept)
        allowed = math.floor(self.limit * self.units(list(self.rows)))
        holds = bool(published) and suppressed <= allowed
        loss = self.loss(node, published) if holds else None
        return Verdict(node, published, suppressed, loss)

    def loss(self, node: Node, published: Classes) -> Fraction:
        """By the measure, over all rows."""
        kept = [row for rows in published.values() for row in rows]
        lost = len(self.rows) - len(kept)
        if self.measure == "c_dm":
            squares = sum(len(rows) ** 2 for rows in published.values())
            return Fraction(squares + lost * len(self.rows))
        total = Fraction(0)
        for column, level in zip(self.columns, node, strict=True):
            total += sum(
                (column.loss(column.cells[row], level, self.measure) for row in kept), Fraction(0)
            )
            total += lost * (column.height if self.measure == "distortion" else 1)
        return total

    def shown_loss(self, verdict: Verdict) -> Fraction:
        """NCP of the release, which knows only the ranges that it spans."""
        kept = [row for rows in verdict.published.values() for row in rows]
        total = Fraction((len(self.rows) - len(kept)) * len(self.columns))
        for column, level in zip(self.columns, verdict.node, strict=True):
            total += column.shown_losses([column.cells[row] for row in kept], level)
        return total

    def best(self) -> list[Verdict]:
        """The nodes of the smallest loss, by number; empty if none holds."""
        judged = [self.judge(node) for node in self.nodes()]
        least = min((one.loss for one in judged if one.loss is not None), default=None)
        return [one for one in judged if least is not None and one.loss == least]

    def release(self, verdict: Verdict) -> list[tuple[str | None, ...]]:
        """The published cells, a row each, sorted."""
        made = [
            tuple(
                column.text(column.cells[row], level)
                for column, level in zip(self.columns, verdict.node, strict=True)
            )
            for rows in verdict.published.values()
            for row in rows
        ]
        return sorted(made, key=str)
