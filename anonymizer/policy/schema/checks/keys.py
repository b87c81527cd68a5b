"""Checks of keys: they are listed columns of role key, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.paths import name_text
from anonymizer.policy.schema.paths import table_path
from anonymizer.policy.suggest import closest

if TYPE_CHECKING:
    from anonymizer.policy.schema.model import SchemaPolicy
    from anonymizer.policy.schema.table import SchemaTable


def listed(policy: SchemaPolicy) -> Iterator[Problem]:
    """Key and links are columns of their table."""
    for name, table in policy.tables.items():
        named = [(column, ("links", column)) for column in table.links]
        keys = [(table.key, ("key",))] if table.key is not None else []
        for column, place in (*keys, *named):
            if column not in table.columns:
                hint = closest(column, table.columns) or "list it there, as role: key"
                said = "is not a column listed under the table's columns"
                yield Problem(table_path(name, *place), said, hint=hint)


def role_of_keys(policy: SchemaPolicy) -> Iterator[Problem]:
    """A key has the role key, and only a key has it."""
    leading = {other for table in policy.tables.values() for other in table.links.values()}
    for name, table in policy.tables.items():
        needed = name == policy.person or name in leading
        for column, given in table.columns.items():
            said, allowed, hint = _wrong_role(table, column, given.role, needed=needed)
            if said:
                path = table_path(name, "columns", column, "role")
                yield Problem(path, said, allowed, hint)
        if table.key is not None and table.key in table.links:
            other = name_text(table.links[table.key])
            said = f"is the link to {other} as well, whose numbers it has"
            yield Problem(table_path(name, "key"), said, hint="leave key out")


def _wrong_role(
    table: SchemaTable, column: str, role: str, *, needed: bool
) -> tuple[str, str | None, str | None]:
    if column in table.links:
        if role != "key":
            return f"is a link, and has the role {role}", "key", "role: key"
    elif column == table.key:
        if needed and role != "key":
            return f"is the key to which links lead, and has the role {role}", "key", "role: key"
        if role not in ("key", "drop", "identifier"):
            said = f"is the key of the table, and would be published by the role {role}"
            return said, "key, drop, identifier", "role: key"
    elif role == "key":
        said = "is key, and the column is neither the key of the table nor a link"
        return said, None, "add it to links, or role: drop"
    return "", None, None


def needed(policy: SchemaPolicy) -> Iterator[Problem]:
    """A table to which links lead has a key, and so has that of the persons."""
    first: dict[str, str] = {}
    for name, table in policy.tables.items():
        for other in table.links.values():
            first.setdefault(other, name)
    for name, table in policy.tables.items():
        if table.key is not None:
            continue
        if name == policy.person:
            why = "the key of this table is the person"
        elif name in first:
            why = f"{name_text(first[name])} links to this table"
        else:
            continue
        yield Problem(table_path(name, "key"), f"is missing: {why}", hint="key: <column>")
