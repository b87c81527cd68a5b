"""Distinct pairs of cells and original values, and of cells and flags."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from anonymizer.compile import NumberedColumn, Sql, Table, ident, render
from anonymizer.contract.columns import cell_parts, quasi
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.originals import Originals

AT_ONCE = 24
"""Columns of one table of pairs: its rows and its columns both grow with their number."""


@dataclass(frozen=True, slots=True)
class Paired:
    """One generalized column in a table of pairs."""

    index: int
    pairs: Table
    column: PublishedColumn
    physical: str
    """The column of its originals."""
    flag: str | None
    """The column that is true (or NULL) if the original is sensitive; only with buckets."""

    @property
    def parts(self) -> list[Sql]:
        return [ident(part) for part in cell_parts(self.column)]

    @property
    def cells(self) -> list[Sql]:
        return [Sql(f"cell{self.index}_{i}") for i, _ in enumerate(self.parts, start=1)]

    @property
    def read(self) -> list[Sql]:
        """Its cells as texts, whatever their type in the link."""
        first, *others = self.cells
        if self.column.lo is None and not self.column.list_cells:
            return [Sql(f"cast({first} as varchar) as {first}"), *others]
        return [first, *others]

    @property
    def bucket(self) -> str | None:
        return self.column.bucket

    dealt = NumberedColumn("dealt")
    """Whether the value is in a bucket."""
    value = NumberedColumn("value")
    other = NumberedColumn("other")
    """0 if the row is a pair of this column."""
    sensitive = NumberedColumn("sensitive")
    unlike = NumberedColumn("unlike")
    """0 if the row is a pair of this column: whether its cells are in buckets, and should be."""


def paired(
    layout: Layout, physical: Mapping[str, str], flags: Mapping[str, str], pairs: Table
) -> dict[str, Paired]:
    """The columns of the tables by their names in the source: those without buckets, and those with
    a flag for the values that have to be in buckets. `pairs` names the tables, with a number.
    """
    return {
        column.column: Paired(
            index,
            replace(pairs, name=f"{pairs.name}_{index // AT_ONCE}"),
            column,
            physical[column.column],
            flags.get(column.column) if column.bucket is not None else None,
        )
        for index, column in enumerate(quasi(layout), start=1)
        if column.bucket is None or column.column in flags
    }


def pair(columns: Collection[Paired], originals: Originals, link: Table) -> Iterator[str]:
    """The statements that create the tables of pairs."""
    for pairs in dict.fromkeys(one.pairs for one in columns):
        context = {
            "link": link,
            "original": originals.table,
            "row_ref": originals.row_ref,
            "pairs": pairs,
            "columns": [one for one in columns if one.pairs == pairs],
        }
        yield render("verify/fast/pairs.sql.j2", context).text
