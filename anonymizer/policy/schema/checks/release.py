"""Checks of the release: its target, and the names of its views and their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.checks.release import is_source, target
from anonymizer.policy.masking import MASKS
from anonymizer.policy.names import PublishedName, cell_names, is_reserved
from anonymizer.policy.paths import name_text, path_text
from anonymizer.policy.schema.paths import table_path
from anonymizer.policy.suggest import closest

if TYPE_CHECKING:
    from anonymizer.policy.schema.fields import SchemaFields


def column_names(
    policy: SchemaFields, table: str, kinds: Mapping[str, str] | None = None
) -> Iterator[PublishedName]:
    """Every column that the view of a table may have; `kinds`: of columns with known types."""
    if table == policy.person:
        yield PublishedName("class_id", "the number of the class", None, True)
    for name, column in policy.columns_of(table).items():
        if column.role in ("quasi", "event"):
            kind, event = column.kind or (kinds or {}).get(name), column.role == "event"
            yield from cell_names(name, column, kind, policy.publish.cells, event=event)
        elif column.role in ("key", "sensitive", "keep", *MASKS):
            yield PublishedName(name, f"the {column.role} column", name, False)


BY_QUERY = "rename the column in a query as source"


def place(policy: SchemaFields) -> Iterator[Problem]:
    """The release overwrites neither its sources nor the ledger."""
    publish = policy.publish
    yield from target(publish)
    if _same(policy.ledger, publish.database):
        yield Problem("ledger", "is the same file as publish.database", hint="another file")
    for name, table in policy.tables.items():
        if _same(table.source.file, publish.database):
            said = "is the same file as publish.database"
            yield Problem(table_path(name, "source", "file"), said, hint="another file")
        view = policy.view(name)
        sources = [other.source for other in policy.tables.values()]
        if publish.database is None and any(
            is_source(source, publish, view, policy.engine) for source in sources
        ):
            said = f"the view of {name_text(name)} would have the name of a source table"
            hint = "publish: {prefix: anonymous_}, another publish.schema, or publish.database"
            yield Problem("publish.names", said, hint=hint)


def _same(file: str | None, database: str | None) -> bool:
    return file is not None and database is not None and PurePath(file) == PurePath(database)


def views(policy: SchemaFields) -> Iterator[Problem]:
    """Every view has a distinct name, also from the manifest."""
    for name in policy.publish.names:
        if name not in policy.tables:
            path = path_text(("publish", "names", name))
            said = "is not a table listed under tables"
            yield Problem(
                path, said, hint=closest(name, policy.tables) or "table: name of its view"
            )
    manifest = f"{policy.view(policy.person)}_manifest"
    first = {manifest.casefold(): "the manifest"}
    # tables that keep their name first, so that the new name is the one reported as taken
    for name in sorted(policy.tables, key=lambda table: table in policy.publish.names):
        view = policy.view(name)
        other = first.setdefault(view.casefold(), f"the view of {name_text(name)}")
        if other != f"the view of {name_text(name)}":
            renamed = name in policy.publish.names
            path = path_text(("publish", "names", name)) if renamed else table_path(name)
            said = f"would be published as {name_text(view)}, which is the name of {other}"
            yield Problem(path, said, hint=f"publish: {{names: {{{name_text(name)}: <new name>}}}}")


def clashes(
    policy: SchemaFields, kinds: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[Problem]:
    """The published columns of a table have distinct names; `kinds`, by table and column, determine
    those of typed cells.
    """
    for table in policy.tables:
        first: dict[str, PublishedName] = {}
        names = column_names(policy, table, (kinds or {}).get(table))
        # source columns first, so that the generated name is the one reported as colliding
        for one in sorted((one for one in names if one.certain), key=lambda one: one.generated):
            path = _place(policy, table, one.column)
            if is_reserved(one.name):
                said = f"would be published as {name_text(one.name)}, a name of the tool's own"
                yield Problem(path, said, hint=BY_QUERY)
            other = first.setdefault(one.name.casefold(), one)
            if one is not other and one.generated:  # else reported as a duplicate
                told = f"{_words(other)} and {_words(one)} would both be published as"
                place = _place(policy, table, other.column or other.name)
                yield Problem(place, f"{told} {name_text(one.name)}", hint=BY_QUERY)


def _place(policy: SchemaFields, table: str, column: str | None) -> str:
    """The path of a column in the policy; some of the persons' columns are in another table."""
    if column is None:
        return table_path(table, "columns")
    stands = policy.lifted.get(column, table) if table == policy.person else table
    return table_path(stands, "columns", column)


def _words(one: PublishedName) -> str:
    return f"{one.what} {name_text(one.column if one.column is not None else one.name)}"
