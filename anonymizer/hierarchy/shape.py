"""The shape of a hierarchy in numbers: what a search over its levels has to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from anonymizer.compile import Table, render

RunSql: TypeAlias = Callable[[str], list[tuple[Any, ...]]]


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


def read_shape(run_sql: RunSql, hierarchy: Table) -> Shape:
    """The shape of a hierarchy that has been built."""
    rows = run_sql(render("hierarchy/shape.sql.j2", {"hierarchy": hierarchy}).text)
    if not rows:  # a column of NULLs only has no tree, and is published as it is
        return Shape((0,), (), True)
    return Shape(
        tuple(int(row[1]) for row in rows),
        tuple(int(row[2]) for row in rows[:-1]),
        all(int(row[3]) <= 1 for row in rows[:-1]),
    )
