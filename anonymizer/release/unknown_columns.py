"""Checks that a release has exactly the columns that its manifest lists.

Verification judges only these. A column that was added later would be published without being
verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anonymizer.compile import Table, ident, lit
from anonymizer.contract.columns import published
from anonymizer.contract.layout import Layout
from anonymizer.contract.tables import Tables, in_release
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import name_text
from anonymizer.release import objects

_NAME = r'(?:[A-Za-z_][A-Za-z0-9_]*|"(?:[^"]|"")*")'
_PLACE = rf"{_NAME}(?:\.{_NAME})*"
_PROJECTION = re.compile(
    rf"create\s+view\s+{_PLACE}\s+as\s+select\s+(?:\*|{_NAME}(?:,\s*{_NAME})*)"
    rf"\s+from\s+(?:(?P<schema>{_NAME})\.)?(?P<name>{_NAME})\s*;?\s*",
    re.IGNORECASE,
)
"""The form in which the engine prints a view of a run: only names."""


def refuse_foreign_sql(engine: Engine, tables: Iterable[Table]) -> None:
    """Raise GuaranteeError for every relation that is neither a base table nor a plain view of one.

    For DuckDB; no view is bound or executed.
    """
    if not engine.embedded:
        return
    GuaranteeError.refuse(
        Problem(
            "release",
            f"{name_text(table.name)} is not the view that a run makes: it holds SQL of its own",
            hint="nobody verified what it does: run again, or ask for the original release",
        )
        for table in tables
        if not is_base_table(engine, table) and not _is_plain_view(engine, table)
    )


def is_base_table(engine: Engine, table: Table) -> bool:
    """Whether a relation is a base table, so that reading it executes nothing."""
    return any(_found(engine, table, "table", "table_name"))


def _is_plain_view(engine: Engine, view: Table) -> bool:
    texts = list(_found(engine, view, "view", "sql"))
    if not texts:
        return True  # there is no such view: reading it fails later
    for text in texts:
        found = _PROJECTION.fullmatch(text)
        if found is None:
            return False
        # an unqualified name that is not a table of the view's schema may be a file path
        schema = _unquoted(found["schema"]) if found["schema"] else view.schema
        if not is_base_table(engine, Table(_unquoted(found["name"]), schema, view.catalog)):
            return False
    return True


def _found(engine: Engine, table: Table, kind: str, column: str) -> Iterator[str]:
    """A column of the catalog's entries for a relation; names are compared ignoring case."""
    conditions = [
        f"lower({part}) = lower({lit(value)})"
        for part, value in (
            (f"{kind}_name", table.name),
            ("schema_name", table.schema),
            ("database_name", table.catalog),
        )
        if value is not None
    ]
    text = f"select {column} from duckdb_{kind}s() where {' and '.join(conditions)}"
    yield from (str(row[0]) for row in engine.raw(text, "release"))


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


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
