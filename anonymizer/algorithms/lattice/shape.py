"""The shape of hierarchies in numbers, read before a lattice is compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from anonymizer.compile import render
from anonymizer.errors import PolicyError, Problem
from anonymizer.profile import Attribute

RunSql: TypeAlias = Callable[[str], list[tuple[Any, ...]]]

MOST_NODES = 1_000_000
"""Largest lattice that is searched."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One hierarchy: how many nodes a level has, and how they hang together."""

    nodes: tuple[int, ...]
    """Nodes of levels 0 (the values) to h (the root) that hold values of the source."""
    children: tuple[int, ...]
    """Of levels 0 to h-1: most nodes of the level under one node of the next."""
    nests: bool
    """Whether each level is a coarsening of the one below (divisor levels need not be)."""

    @property
    def height(self) -> int:
        return len(self.nodes) - 1


def read_shapes(run_sql: RunSql, attributes: Sequence[Attribute]) -> tuple[Shape, ...]:
    """The shapes of all hierarchies that have been built."""
    return tuple(_shape(run_sql, a) for a in attributes)


def _shape(run_sql: RunSql, attribute: Attribute) -> Shape:
    parameters = {"hierarchy": attribute.hierarchy}
    rows = run_sql(render("lattice/shape.sql.j2", parameters).text)
    if not rows:  # a column of NULLs only has no tree: a root that nobody is under
        return Shape((0, 0), (0,), True)
    return Shape(
        tuple(int(row[1]) for row in rows),
        tuple(int(row[2]) for row in rows[:-1]),
        all(int(row[3]) <= 1 for row in rows[:-1]),
    )


def lattice_size(shapes: Sequence[Shape]) -> int:
    """Number of nodes: the product of the numbers of levels."""
    size = 1
    for shape in shapes:
        size *= shape.height + 1
    return size


def refuse_large(shapes: Sequence[Shape]) -> None:
    """Raises PolicyError for a lattice with more nodes than are searched."""
    size = lattice_size(shapes)
    if size > MOST_NODES:
        raise PolicyError(
            Problem(
                "algorithm.name",
                f"would search a lattice of {size:,} nodes",
                allowed=f"at most {MOST_NODES:,}",
                hint="fewer quasi columns or levels, or algorithm: {name: privacyfrost}",
            )
        )
