"""The positions of a release's columns in the table of its tuples."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql
from anonymizer.contract.columns import cell_parts, quasi
from anonymizer.contract.layout import Layout


@dataclass(frozen=True, slots=True)
class Numbered:
    """A generalized column of the tuples of a release, which are stored by numbers, not names."""

    cells: tuple[Sql, ...]
    """Its parts, in the order of `cell_parts`."""
    flag: Sql | None
    """Whether the cell is generalized, of a column that has buckets."""


def numbered(layout: Layout) -> dict[str, Numbered]:
    """The numbers that `cells` and `flags` give the generalized columns, by name in the source."""
    found: dict[str, Numbered] = {}
    places, dealt = 0, 0
    for column in quasi(layout):
        parts = len(cell_parts(column))
        own = tuple(Sql(f"c{places + i}") for i in range(1, parts + 1))
        places += parts
        dealt += column.bucket is not None
        flag = Sql(f"f{dealt}") if column.bucket is not None else None
        found[column.column] = Numbered(own, flag)
    return found
