"""Checks that the views of a release only select columns of frozen tables, as those of a run do.

A release may come from anyone, and a view may contain any SQL. It is inspected before it is
executed: on a user's open connection nothing else would restrict its access.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from anonymizer.compile import Table, lit
from anonymizer.engines.base import Engine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import name_text
from anonymizer.release.objects import Recorded

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


def not_tables(engine: Engine, catalog: str, held: Iterable[Recorded]) -> set[tuple[str, str]]:
    """Objects recorded as tables that are none: copying them would execute foreign SQL."""
    return {
        (item.schema, item.name)
        for item in held
        if item.kind != "view" and not is_base_table(engine, item.table(catalog))
    }


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
