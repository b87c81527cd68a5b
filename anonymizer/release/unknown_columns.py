"""Checks that a release has exactly the columns that its manifest lists.

Verification judges only these. A column that was added later would be published without being
verified.
"""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.compile import Table, ident
from anonymizer.contract.columns import published
from anonymizer.contract.layout import Layout
from anonymizer.contract.tables import Tables, in_release
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import name_text
from anonymizer.release import objects
from anonymizer.release.plain_views import refuse_foreign_sql

GONE = "it was removed after it was published: run again"


def refuse_unknown_columns(
    engine: Engine, view: Table, layout: Layout, tables: Tables | None = None
) -> None:
    """Raise GuaranteeError (exit code 1) with every missing and every unknown column.

    `tables`: of a release of several. In a DuckDB database the frozen rows behind the view are
    checked too, after a check for foreign SQL in the objects that will be read.
    """
    found = list(_tables(engine, view, layout, tables))
    _refuse_missing(engine, [table for table, _ in found])
    refuse_foreign_sql(engine, [table for table, _ in found])
    GuaranteeError.refuse(
        problem for table, names in found for problem in _differing(engine, table, names)
    )


def _tables(
    engine: Engine, view: Table, layout: Layout, tables: Tables | None
) -> Iterator[tuple[Table, list[str]]]:
    rows = published(layout)
    yield view, rows
    for column in layout.columns:
        if column.column in layout.tables:
            separate = Table(layout.tables[column.column], view.schema, view.catalog)
            yield separate, [name for name in (layout.group_id, column.name) if name is not None]
    for one in tables.children if tables is not None else ():
        yield in_release(view)(one), published(one.layout)
    if not engine.embedded or view.catalog is None:
        return
    release = f"{view.schema}.{view.name}"
    for item in objects.recorded(engine, view.catalog):
        if item.kind == "rows" and item.release == release:
            yield item.table(view.catalog), rows


def _refuse_missing(engine: Engine, tables: list[Table]) -> None:
    """Raise GuaranteeError for missing tables and views of a release."""
    if not engine.embedded:
        return
    there = {(t.catalog, str(t.schema).lower(), t.name.lower()) for t in engine.tables("release")}
    GuaranteeError.refuse(
        Problem("release", f"lacks {name_text(table.name)}, which its manifest tells of", hint=GONE)
        for table in tables
        if table.catalog is not None
        and (table.catalog, str(table.schema).lower(), table.name.lower()) not in there
    )


def _differing(engine: Engine, table: Table, names: list[str]) -> Iterator[Problem]:
    found = [name for name, _ in engine.describe(ident(table).text, "release")]
    shown = name_text(table.name)
    for name in found:
        if name not in names:
            said = f"{shown} has a column {name_text(name)} that its manifest does not tell of"
            yield Problem("release", said, hint="it was never verified: remove it, or run again")
    for name in names:
        if name not in found:
            said = f"{shown} lacks the column {name_text(name)} that its manifest tells of"
            yield Problem("release", said, hint="run again")
