"""The cells of a table of counts, the sums among them, and bounds that follow line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Cell: TypeAlias = tuple[int, ...]
"""A node of every dimension."""
Margin: TypeAlias = tuple[int, ...]
"""A level of every dimension: the cells of one grouping."""
Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

UNBOUNDED = 1e12
"""An upper bound that says nothing. Sums of thousands of them are still exact."""
PASSES = 100
"""Bounds may approach each other in small steps: the rest is left to linear programming."""
MOST_COMBINATIONS = 50_000
"""Of finest groups, where the table does not list them."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """The labels of a grouping column at all levels, and how they nest; the last is the total."""

    name: str
    labels: tuple[str, ...]
    """By node."""
    above: tuple[tuple[int, ...], ...]
    """By node: the node that contains it, at every level; -1 at finer levels than its own."""

    def level(self, node: int) -> int:
        """The level of a node, 0 for the finest."""
        return self.above[node].index(node)

    @classmethod
    def nested(cls, name: str, levels: Sequence[Sequence[str]], up: Sequence[int]) -> Dimension:
        """Labels by level, the finest first; `up`: the node above each, the total at last."""
        labels = [label for level in levels for label in level]
        above: list[tuple[int, ...]] = []
        for number, level in enumerate(levels):
            for _ in level:
                path = [-1] * number + [len(above)]
                while path[-1] < len(labels):
                    path.append(up[path[-1]])
                above.append(tuple(path))
        total = (-1,) * len(levels) + (len(labels),)
        return cls(name, (*labels, "(all)"), (*above, total))


@dataclass(frozen=True, slots=True)
class Sums:
    """Relations among cells: the parent is the sum of its parts."""

    parents: Ints
    parts: Ints
    """The parts of all relations, one relation after the other."""
    of: Ints
    """By part: its relation."""
    needed: int = 0
    """How many of them, the last ones, do not follow from others of the same parent."""

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[int, Sequence[int]]], needed: int = 0) -> Sums:
        """Create the relations of pairs of a parent and its parts."""
        sizes = [len(parts) for _, parts in pairs]
        return cls(
            np.array([parent for parent, _ in pairs], np.int64),
            np.array([part for _, parts in pairs for part in parts], np.int64),
            np.repeat(np.arange(len(pairs)), sizes),
            needed,
        )

    def parts_of(self, relation: int) -> Ints:
        first, end = np.searchsorted(self.of, (relation, relation + 1))
        return self.parts[first:end]

    def totals(self, values: NDArray[np.generic]) -> Floats:
        """By relation: the sum of a value of its parts."""
        weights = values[self.parts].astype(np.float64)
        return np.bincount(self.of, weights, len(self.parents)).astype(np.float64)

    def entries(self, relations: Ints) -> tuple[Ints, Ints, Floats]:
        """The matrix of some relations: rows, cells, and 1 for a part, -1 for the parent."""
        row = np.full(len(self.parents), -1)
        row[relations] = np.arange(len(relations))
        chosen = row[self.of] >= 0
        rows = np.append(row[self.of[chosen]], np.arange(len(relations)))
        cells = np.append(self.parts[chosen], self.parents[relations])
        return rows, cells, np.append(np.ones(chosen.sum()), -np.ones(len(relations)))

    def basis(self, open_cells: NDArray[np.bool_]) -> Ints:
        """One relation for every parent, with few open parts, and the needed ones: they imply all
        others.
        """
        alike = len(self.parents) - self.needed
        parents = self.parents[:alike]
        order = np.lexsort((self.totals(open_cells)[:alike], parents))
        _, first = np.unique(parents[order], return_index=True)
        return np.append(order[first], np.arange(alike, len(self.parents)))


@dataclass(frozen=True, slots=True)
class Lattice:
    """The cells of a table, closed upwards, with all sums among them."""

    dimensions: tuple[Dimension, ...]
    cells: tuple[Cell, ...]
    """Those of the table first, in its order; then those that it does not list."""
    listed: int
    """How many cells the table lists."""
    sums: Sums
    finest: bool
    """True if the finest groups are among the cells, so that no relation is missing."""

    def names(self, cell: int) -> tuple[str, ...]:
        """The labels of a cell."""
        pairs = zip(self.dimensions, self.cells[cell], strict=True)
        return tuple(dimension.labels[node] for dimension, node in pairs)

    def along(self, relation: int) -> str:
        """The dimensions in which the parts of a relation are finer than its parent."""
        parent = self.cells[self.sums.parents[relation]]
        parts = self.sums.parts_of(relation)
        part = self.cells[parts[0]] if len(parts) else (-1,) * len(parent)
        triples = zip(self.dimensions, parent, part, strict=True)
        return ", ".join(one.name for one, above, below in triples if above != below)


def lattice(dimensions: Sequence[Dimension], listed: Sequence[Cell]) -> Lattice:
    """Find the sums among the cells of a table, in which an absent cell is zero.

    A cell is the sum of the cells under it in each finer grouping that the table has. Cells that
    are not listed although something under them is are added, and so are the finest groups that
    all groupings of the table allow.
    """
    above = [dimension.above for dimension in dimensions]
    level = [[one.level(node) for node in range(len(one.labels))] for one in dimensions]
    cells = list(listed)
    place = {cell: at for at, cell in enumerate(cells)}
    margins: dict[Margin, list[int]] = {}
    for at, cell in enumerate(cells):
        margin = tuple(level[d][node] for d, node in enumerate(cell))
        margins.setdefault(margin, []).append(at)
    finest = tuple(map(min, zip(*margins, strict=True)))
    complete = finest in margins
    if not complete:
        found = _combinations(dimensions, finest, margins, place, cells)
        complete = len(found) <= MOST_COMBINATIONS
        if complete:
            margins[finest] = list(range(len(cells), len(cells) + len(found)))
            cells += found
    steps = [
        (margin, finer)
        for margin in sorted(margins, key=lambda levels: (sum(levels), levels))
        for finer in _covered(margin, margins)
    ]
    for margin, finer in steps:
        for part in margins[finer]:
            parent = _project(cells[part], margin, above)
            if parent not in place:
                place[parent] = len(cells)
                cells.append(parent)
                margins[margin].append(place[parent])
    pairs: list[tuple[int, list[int]]] = []
    for margin, finer in steps:
        under: dict[int, list[int]] = {at: [] for at in margins[margin]}
        for part in margins[finer]:
            under[place[_project(cells[part], margin, above)]].append(part)
        pairs += under.items()
    return Lattice(tuple(dimensions), tuple(cells), len(listed), Sums.of_pairs(pairs), complete)


def _project(cell: Cell, margin: Margin, above: Sequence[Sequence[Sequence[int]]]) -> Cell:
    """The cell of a coarser grouping that contains a cell."""
    return tuple(above[d][node][margin[d]] for d, node in enumerate(cell))


def _covered(margin: Margin, margins: Mapping[Margin, object]) -> list[Margin]:
    """The next finer groupings."""
    finer = [m for m in margins if m != margin and all(map(int.__le__, m, margin))]
    return [m for m in finer if not any(o != m and all(map(int.__le__, m, o)) for o in finer)]


def _combinations(
    dimensions: Sequence[Dimension],
    finest: Margin,
    margins: Mapping[Margin, Sequence[int]],
    place: Mapping[Cell, int],
    cells: Sequence[Cell],
) -> list[Cell]:
    """The finest groups for which all coarser ones are listed; too many if there are."""
    above = [dimension.above for dimension in dimensions]
    found: list[Cell] = []
    nodes: list[list[int]] = []
    for d, dimension in enumerate(dimensions):
        used = range(len(dimension.labels))
        nodes.append([node for node in used if dimension.level(node) == finest[d]])
    tried: Iterator[Cell] = product(*nodes)
    for number, cell in enumerate(tried):
        if all(_project(cell, margin, above) in place for margin in margins):
            found.append(cell)
        if len(found) > MOST_COMBINATIONS or number > 40 * MOST_COMBINATIONS:
            return [cell] * (MOST_COMBINATIONS + 1)
    return found


class ContradictionError(Exception):
    """No table agrees with the bounds; `cell` is where that shows."""

    def __init__(self, cell: int) -> None:
        super().__init__(cell)
        self.cell = cell


def propagate(sums: Sums, low: Floats, high: Floats) -> None:
    """Tighten bounds of the cells, one relation at a time, until nothing changes.

    Raises ContradictionError if no table agrees with them.
    """
    for _ in range(PASSES):
        before = low.copy(), high.copy()
        least, most = sums.totals(low), sums.totals(high)
        np.maximum.at(low, sums.parents, least)
        np.minimum.at(high, sums.parents, most)
        others_least = least[sums.of] - before[0][sums.parts]
        others_most = most[sums.of] - before[1][sums.parts]
        parents = sums.parents[sums.of]
        np.maximum.at(low, sums.parts, low[parents] - others_most)
        np.minimum.at(high, sums.parts, high[parents] - others_least)
        crossed = np.flatnonzero(low > high)
        if len(crossed):
            raise ContradictionError(int(crossed[0]))
        if (low == before[0]).all() and (high == before[1]).all():
            return
