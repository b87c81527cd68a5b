"""The record of objects that the tool created in a database, written in the same transaction.

Objects that are not recorded in `_anonymizer.objects` are never dropped or replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from anonymizer.compile import Table, ident, lit

SCHEMA = "_anonymizer"


class Runs(Protocol):
    """Executes one statement and returns its rows."""

    def raw(self, text: str, where: str) -> list[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class Recorded:
    """One table or view that the tool created."""

    release: str
    """Schema and name of the published view, as `schema.name`."""
    schema: str
    name: str
    kind: str
    run_id: str

    def table(self, catalog: str) -> Table:
        return Table(self.name, self.schema, catalog)


def objects_table(catalog: str) -> Table:
    """The record of the objects that the tool created in a database."""
    return Table("objects", SCHEMA, catalog)


def create_record(runs: Runs, catalog: str) -> None:
    """Create the record if it is missing."""
    runs.raw(f"create schema if not exists {ident(Table(SCHEMA, None, catalog))}", "release")
    runs.raw(
        f"create table if not exists {ident(objects_table(catalog))} (release varchar,"
        " schema_name varchar, object_name varchar, kind varchar, run_id varchar)",
        "release",
    )


def record(runs: Runs, catalog: str, made: Sequence[Recorded]) -> None:
    """Record created objects, in the transaction that creates them."""
    rows = (
        ", ".join(lit(v).text for v in (o.release, o.schema, o.name, o.kind, o.run_id))
        for o in made
    )
    listed = ", ".join(f"({row})" for row in rows)
    if listed:
        runs.raw(f"insert into {ident(objects_table(catalog))} values {listed}", "release")


def recorded(runs: Runs, catalog: str) -> tuple[Recorded, ...]:
    """Every recorded object of a database, oldest first."""
    exists = runs.raw(
        "select count(*) from duckdb_tables() where table_name = 'objects'"
        f" and schema_name = {lit(SCHEMA)} and database_name = {lit(catalog)}",
        "release",
    )
    if not exists[0][0]:
        return ()
    rows = runs.raw(
        "select release, schema_name, object_name, kind, run_id"
        f" from {ident(objects_table(catalog))} order by rowid",
        "release",
    )
    return tuple(Recorded(*map(str, row)) for row in rows)


def present(runs: Runs, catalog: str) -> set[tuple[str, str]]:
    """Schema and name of every table and view of a database, except the record."""
    rows = runs.raw(
        "select schema_name, table_name from duckdb_tables()"
        f" where database_name = {lit(catalog)} and not internal union all"
        " select schema_name, view_name from duckdb_views()"
        f" where database_name = {lit(catalog)} and not internal",
        "release",
    )
    return {(str(schema), str(name)) for schema, name in rows if schema != SCHEMA}


def standing(runs: Runs, catalog: str) -> set[tuple[str, str]]:
    """Schema and name of every recorded object that is still the one that the tool made.

    A table in place of its view, or a view that does not select from its rows, is of somebody else.
    """
    held = recorded(runs, catalog)
    rows = runs.raw(
        "select schema_name, view_name, sql from duckdb_views()"
        f" where database_name = {lit(catalog)}",
        "release",
    )
    views = {(schema, name): str(text) for schema, name, text in rows}
    frozen = {(item.release, item.run_id): item.name for item in held if item.kind == "rows"}

    def as_made(item: Recorded) -> bool:
        text, behind = views.get((item.schema, item.name)), frozen.get((item.release, item.run_id))
        if item.kind == "view":
            return text is not None and behind is not None and behind in text
        return text is None

    return {(item.schema, item.name) for item in held if as_made(item)}


def foreign(runs: Runs, catalog: str, held: Iterable[Recorded]) -> set[tuple[str, str]]:
    """Schema and name of everything in a database that is not among its recorded objects, `held`.

    Tables, views, macros, sequences and types; for a schema without any of them, its name and "".
    """
    ours = {(item.schema, item.name) for item in held}
    rows = runs.raw(
        "select schema_name, function_name from duckdb_functions()"
        f" where database_name = {lit(catalog)} and not internal union all"
        " select schema_name, sequence_name from duckdb_sequences()"
        f" where database_name = {lit(catalog)} union all"
        " select schema_name, type_name from duckdb_types()"
        f" where database_name = {lit(catalog)} and not internal",
        "release",
    )
    found = (present(runs, catalog) - ours) | {(str(schema), str(name)) for schema, name in rows}
    schemas = runs.raw(
        "select schema_name from duckdb_schemas()"
        f" where database_name = {lit(catalog)} and not internal",
        "release",
    )
    known = {SCHEMA, "main", *(schema for schema, _ in ours | found)}
    return found | {(str(schema), "") for (schema,) in schemas if schema not in known}
