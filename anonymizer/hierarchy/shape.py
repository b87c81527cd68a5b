"""The shape of a hierarchy in numbers, for a search over its levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from anonymizer.compile import Table, render

RunSql: TypeAlias = Callable[[str], list[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Shape:
    """One hierarchy: the number of nodes per level, and how they are connected."""

    nodes: tuple[int, ...]
    """Nodes of levels 0 (the values) to h (the root) that contain values of the source."""
    children: tuple[int, ...]
    """For levels 0 to h-1: the largest number of the level's nodes under one node of the next."""
    nests: bool
    """Whether each level coarsens the one below (divisor levels may not)."""

    @property
    def height(self) -> int:
        return len(self.nodes) - 1


def read_shapes(run_sql: RunSql, hierarchies: Sequence[Table]) -> tuple[Shape, ...]:
    """Read the shapes of hierarchies that have been built, in one statement."""
    if not hierarchies:
        return ()
    rows = run_sql(shape_sql(hierarchies))
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        found.setdefault(int(row[0]), []).append(row)
    return tuple(_shape(found.get(tree, [])) for tree in range(len(hierarchies)))


def shape_sql(hierarchies: Sequence[Table]) -> str:
    """The statement that reads the shapes."""
    return render("hierarchy/shape.sql.j2", {"hierarchies": list(hierarchies)}).text


def _shape(levels: list[tuple[Any, ...]]) -> Shape:
    if not levels:  # a column of only NULLs has no tree, and is published unchanged
        return Shape((0,), (), True)
    return Shape(
        tuple(int(row[2]) for row in levels),
        tuple(int(row[3]) for row in levels[:-1]),
        all(int(row[4]) <= 1 for row in levels[:-1]),
    )
