"""Statements that prove that the staged rows equal the release, and come from the source.

They need an engine with 64-bit digests, such as DuckDB. If one proves nothing, every condition is
checked separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.checks import RunSql
from anonymizer.contract.columns import published, quasi, type_sql
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.contract.originals import Originals
from anonymizer.verification.against_source import AS_THEY_WERE


@dataclass(frozen=True, slots=True)
class Kept:
    """A published column and its source values, in the form in which digests are computed."""

    name: str
    published: Sql
    original: Sql
    """Expression over a row `o` of the originals."""
    physical: str
    """The column of its originals."""
    values: Table | None = None
    """Its distinct values, if it is published as text and some of them are quoted."""

    @property
    def quoted(self) -> Sql:
        """The quoted values, joined to the originals."""
        return ident(f"quoted: {self.name}")


def kept_columns(originals: Originals, layout: Layout, run_sql: RunSql) -> dict[str, Kept]:
    """Columns whose cells are the originals, by their names in the source.

    They include quasi-identifiers if only groups protect a release: their cells are the texts of
    their values, quoted if ambiguous, and admit nothing else.
    """
    kept = {
        column.column: _kept(originals, column)
        for column in layout.columns
        if column.column not in layout.tables
        and column.bucket is None
        and column.role in AS_THEY_WERE
    }
    if layout.class_id is None and layout.group_id is not None and layout.cells == "text":
        for column in quasi(layout):
            values = originals.distinct.get(column.column)
            if values is None or column.bucket is not None:
                continue
            # texts of numbers and dates need no quotes
            asked = column.kind == "categorical" and run_sql(_quoted(values))[0][0]
            kept[column.column] = _written(originals, column, values if asked else None)
    return kept


def _quoted(values: Table) -> str:
    return render("verify/fast/quoted.sql.j2", {"values": values}).text


def _kept(originals: Originals, column: PublishedColumn) -> Kept:
    name, physical = column.name, originals.values[column.column]
    assert name is not None, "such columns have a cell of one part"
    own = Sql(f"cast(o.{ident(physical)} as {type_sql(column.sql_type)})")
    return Kept(name, ident(name), own, physical)


def _written(originals: Originals, column: PublishedColumn, quoted: Table | None) -> Kept:
    """A column published as text."""
    kept = _kept(originals, column)
    shown, own = (Sql(f"cast({part} as varchar)") for part in (kept.published, kept.original))
    return Kept(kept.name, shown, own, kept.physical, quoted)


def staged_proof(
    originals: Originals,
    link: Table,
    view: Table,
    layout: Layout,
    kept: Mapping[str, Kept],
    suppressed: int,
) -> str:
    """The statement; 0 proves `source_rows`, `source_link` and the conditions of kept columns."""
    names = {column.name for column in kept.values()}
    parameters = {
        "link": link,
        "data": view,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "kept": list(kept.values()),
        # those of them that are tables, which the header of the template declares
        "written": [column.values for column in kept.values()],
        "rest": _digested(layout, [name for name in published(layout) if name not in names]),
        "suppressed": suppressed,
    }
    return render("verify/fast/staged.sql.j2", parameters).text


def values_proof(originals: Originals, link: Table, view: Table, layout: Layout) -> str | None:
    """The statement for the values of all separate columns; None without any, or if the release
    numbers persons.
    """
    columns = [column for column in layout.columns if column.column in layout.tables]
    if not columns or layout.person_id is not None:
        return None
    tables = [Table(layout.tables[c.column], view.schema, view.catalog) for c in columns]
    parameters = {
        "link": link,
        "original": originals.table,
        "row_ref": originals.row_ref,
        "group": layout.group_id,
        "separated": [_kept(originals, column) for column in columns],
        "values_tables": tables,
    }
    return render("verify/fast/separated.sql.j2", parameters).text


def _digested(layout: Layout, names: list[str]) -> list[Sql]:
    """Published columns in the form in which rows are digested.

    Cells of text columns are texts, whatever their type in the link. Lists follow their lengths: a
    digest of several columns does not show where the members of a list end.
    """
    kinds = {c.name: c for c in quasi(layout) if c.name is not None and c.lo is None}
    digested: list[Sql] = []
    for name in names:
        column, cell = kinds.get(name), ident(name)
        if column is None:
            digested.append(cell)
        elif column.list_cells:
            digested += [Sql(f"len({cell})"), cell]
        else:
            digested.append(Sql(f"cast({cell} as varchar)"))
    return digested
