"""The objects of a release: names, the record of what was created, plain views, unused space."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import SOURCE
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy import AnyPolicy
from anonymizer.policy.fields import separated_tables
from anonymizer.policy.paths import name_text

# The record of objects that the tool created in a database, written in the same transaction.
#
# Objects that are not recorded in `_anonymizer.objects` are never dropped or replaced.


SCHEMA = "_anonymizer"


class Runs(Protocol):
    """Executes one statement and returns its rows."""

    def raw(self, text: str, where: str) -> list[tuple[Any, ...]]: ...


@dataclass(frozen=True, slots=True)
class ObjectEntry:
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


def record(runs: Runs, catalog: str, made: Sequence[ObjectEntry]) -> None:
    """Record created objects, in the transaction that creates them."""
    rows = (
        ", ".join(lit(v).text for v in (o.release, o.schema, o.name, o.kind, o.run_id))
        for o in made
    )
    listed = ", ".join(f"({row})" for row in rows)
    if listed:
        runs.raw(f"insert into {ident(objects_table(catalog))} values {listed}", "release")


def object_entries(runs: Runs, catalog: str) -> tuple[ObjectEntry, ...]:
    """Every recorded object of a database, oldest first."""
    if not is_base_table(runs, objects_table(catalog)):
        return ()
    rows = runs.raw(
        "select release, schema_name, object_name, kind, run_id"
        f" from {ident(objects_table(catalog))} order by rowid",
        "release",
    )
    return tuple(ObjectEntry(*map(str, row)) for row in rows)


def entries_in_file(file: Path) -> tuple[ObjectEntry, ...] | None:
    """Every recorded object of a database file; None if it is locked, damaged, or another's."""
    try:
        with own_connection(file) as engine:
            return object_entries(engine, SOURCE)
    except Exception:
        return None


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


def standing(
    runs: Runs, catalog: str, held: Sequence[ObjectEntry] | None = None
) -> set[tuple[str, str]]:
    """Schema and name of every recorded object that is still the one that the tool made.

    A table in place of its view, or a view that does not select from its rows, is of somebody else.
    `held`: the recorded objects, if they were read already.
    """
    held = object_entries(runs, catalog) if held is None else held
    if not held:
        return set()
    rows = runs.raw(
        "select schema_name, view_name, sql from duckdb_views()"
        f" where database_name = {lit(catalog)}",
        "release",
    )
    views = {(schema, name): str(text) for schema, name, text in rows}
    frozen = {(item.release, item.run_id): item.name for item in held if item.kind == "rows"}

    def as_made(item: ObjectEntry) -> bool:
        text, behind = views.get((item.schema, item.name)), frozen.get((item.release, item.run_id))
        if item.kind == "view":
            return text is not None and behind is not None and behind in text
        return text is None

    return {(item.schema, item.name) for item in held if as_made(item)}


def foreign(runs: Runs, catalog: str, held: Iterable[ObjectEntry]) -> set[tuple[str, str]]:
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


# The names of a release's objects.


@dataclass(frozen=True, slots=True)
class Names:
    """A published view, its frozen rows and its manifest, in one schema."""

    schema: str
    name: str
    run_id: str
    tables: tuple[str, ...] = ()
    """Further published tables: one per sensitive column of an msb release, or those of a release
    of several tables besides the persons'."""
    several: bool = False
    """True if the policy has several tables."""
    counts: bool = False
    """True if the policy makes a table of counts."""
    compared: bool = False
    """True if a ledger compares the release with earlier ones."""
    noise: bool = False
    """True if its figures have noise, so that the ledger adds up what releases spend."""

    @classmethod
    def of(cls, policy: AnyPolicy, run_id: str) -> Names:
        compared = policy.ledger is not None
        lead = policy.lead
        schema, name = lead.publish.schema_, lead.publish.name
        if lead.publish.replace_source:
            *above, name = lead.source.parts
            schema = above[-1] if above else "main"
        further = (one.publish.name for one in policy.further.values())
        tables = (*separated_tables(lead).values(), *further)
        counts = policy.counts is not None
        noise = policy.counts is not None and policy.counts.epsilon is not None
        return cls(schema, name, run_id, tables, policy.several, counts, compared, noise)

    @property
    def path(self) -> str:
        """The path of the names in the policy."""
        return "publish.names" if self.several else "publish.name"

    @property
    def other(self) -> str:
        """The setting to change for other names."""
        names = "publish.prefix, publish.names" if self.several else "publish.name"
        return f"choose another {names} or publish.schema"

    @property
    def release(self) -> str:
        return f"{self.schema}.{self.name}"

    def view(self, catalog: str | None) -> Table:
        return Table(self.name, self.schema, catalog)

    def rows(self, catalog: str | None) -> Table:
        """The frozen table behind the view; named by run, so that a swap can be atomic."""
        return Table(f"_{self.name}_{self.run_id}", self.schema, catalog)

    @property
    def frozen(self) -> dict[str, Table]:
        """Where a server has rows until they take the place of the old ones, by the names that they
        will have: the frozen rows keep their own.
        """
        rows = self.rows(None)
        aside = {name: Table(f"_{name}_{self.run_id}", self.schema) for name in self.tables}
        return {rows.name: rows, **aside}

    def separate(self, name: str, catalog: str | None) -> Table:
        """A further published table."""
        return Table(name, self.schema, catalog)

    def published(self, catalog: str | None) -> tuple[Table, ...]:
        """The view and every further table: the published objects besides the manifest."""
        return (self.view(catalog), *(self.separate(name, catalog) for name in self.tables))

    def manifest(self, catalog: str | None) -> Table:
        return Table(f"{self.name}_manifest", self.schema, catalog)

    def entries(self) -> tuple[ObjectEntry, ...]:
        made = (
            (self.rows(None), "rows"),
            (self.view(None), "view"),
            (self.manifest(None), "manifest"),
            *((self.separate(name, None), "values") for name in self.tables),
        )
        return tuple(
            ObjectEntry(self.release, self.schema, table.name, kind, self.run_id)
            for table, kind in made
        )


# Checks that the views of a release only select columns of frozen tables, as those of a run do.
#
# A release may come from anyone, and a view may contain any SQL. It is inspected before it is
# executed: on a user's open connection nothing else would restrict its access.


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


def is_base_table(runs: Runs, table: Table) -> bool:
    """Return whether a relation is a base table, so that reading it executes nothing."""
    return any(_found(runs, table, "table", "table_name"))


def not_tables(engine: Engine, catalog: str, held: Iterable[ObjectEntry]) -> set[tuple[str, str]]:
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


def _found(runs: Runs, table: Table, kind: str, column: str) -> Iterator[str]:
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
    yield from (str(row[0]) for row in runs.raw(text, "release"))


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


# Parts of a DuckDB file that hold no objects: what was deleted from it can still be read there.


HEADERS = 3 * 4096
"""Bytes before the first block of a DuckDB file."""
REWRITE = "`anonymizer clean --rewrite` writes the file without it, and `anonymizer run` a new one"


def unused_space(runs: Runs, catalog: str) -> Iterator[Problem]:
    """Says where a file has more than the blocks in use. A release is written without any other."""
    ((path,),) = runs.raw(
        f"select path from duckdb_databases() where database_name = {lit(catalog)}", "release"
    )
    if path is None:  # it is in memory
        return
    ((total, free, size),) = runs.raw(
        "select total_blocks, free_blocks, block_size from pragma_database_size()"
        f" where database_name = {lit(catalog)}",
        "release",
    )
    if free:
        said = "its file has unused space, in which what was deleted can be read"
        yield Problem("release", said, hint=REWRITE)
    if Path(path).stat().st_size > HEADERS + total * size:
        said = "its file is longer than what it holds"
        yield Problem("release", said, hint=REWRITE)
