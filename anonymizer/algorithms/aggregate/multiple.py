"""Tables of counts in which a person may be in several groups of one column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.algorithms.aggregate.cells import Cell, Ints, Lattice, Sums


@dataclass(frozen=True, slots=True)
class Shared:
    """A table whose groups of one column share persons, as one of sums.

    Such groups do not add up to their total. But of a total T and a group X, there are the persons
    in X and all others, and everybody is in at least one group: T = X + (not X), and the sum of all
    X is T and what is counted more than once.
    """

    shape: Lattice
    """With further cells: not X, the sum of all X, and what is counted more than once."""
    counts: Ints
    others: Ints
    """The cells of the persons who are not in a group, which no table lists."""
    repeated: Ints
    """The sums of all groups, and what they count more than once."""


def shared_groups(shape: Lattice, counts: Ints, dimension: int) -> Shared:
    """The sums of a table in which a person may be in several groups of a dimension.

    It has one level below its total. The totals over other dimensions are sums as in any table.
    """
    sums = shape.sums
    total = len(shape.dimensions[dimension].labels) - 1
    pairs: list[tuple[int, list[int]]] = []
    further: list[tuple[int, list[int]]] = []
    cells: list[Cell] = list(shape.cells)
    values = counts.tolist()
    others: list[int] = []
    repeated: list[int] = []

    def add(parent: int, count: int, kind: list[int]) -> int:
        cells.append(cells[parent])
        values.append(count)
        kind.append(len(cells) - 1)
        return len(cells) - 1

    for relation, parent in enumerate(sums.parents.tolist()):
        parts = sums.parts_of(relation).tolist()
        place = shape.cells[parent]
        across = bool(parts) and shape.cells[parts[0]][dimension] != place[dimension]
        if not across or not parts:
            pairs.append((parent, parts))
            continue
        rest = [(d, node) for d, node in enumerate(place) if d != dimension]
        if any(shape.dimensions[d].level(node) for d, node in rest):
            continue  # it follows from those of the finest groups of the other columns
        assert place[dimension] == total
        whole = values[parent]
        for part in parts:
            further.append((parent, [part, add(parent, whole - values[part], others)]))
        every = sum(values[part] for part in parts)
        together = add(parent, every, repeated)
        further.append((together, parts))
        further.append((together, [parent, add(parent, every - whole, repeated)]))
    made = Sums.of_pairs([*pairs, *further], needed=len(further))
    return Shared(
        Lattice(shape.dimensions, tuple(cells), shape.listed, made, shape.finest),
        np.array(values, np.int64),
        np.array(others, np.int64),
        np.array(repeated, np.int64),
    )
