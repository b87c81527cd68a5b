"""Comparing the catalog of a DuckDB database with the catalog of exactly the sealed objects.

The sealed objects are created in an empty database, without rows, and both catalogs are compared;
the same engine prints the definitions of both. This reveals any default, check, generated column or
condition in a view, whatever its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from typing import Any, TypeAlias

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import path_text
from anonymizer.release import objects
from anonymizer.release.seal import SealedObject, projection

Entry: TypeAlias = tuple[str, str, str, str]
"""Kind, schema, owning table (or its own name), and name of a catalog entry."""
Catalog: TypeAlias = Mapping[Entry, tuple[Any, ...]]

_TYPE = re.compile(r"[A-Z][A-Z0-9_]*(\(\d+(, ?\d+)?\))?( WITH TIME ZONE)?(\[\])*\Z")
_OF_TABLES = {
    "table": ("duckdb_tables()", "table_name, table_name, sql, comment, tags"),
    "view": ("duckdb_views()", "view_name, view_name, sql, comment, tags"),
    "column": ("duckdb_columns()", "table_name, column_name, data_type, comment, tags"),
    "index": ("duckdb_indexes()", "table_name, index_name, sql, comment, tags"),
    "trigger": ("duckdb_triggers()", "table_name, trigger_name, sql, comment, tags"),
}
"""The parts of tables and views: where each is listed, and by which columns."""
_OTHERS = {
    "function": (
        "duckdb_functions()",
        "function_name, concat(function_name, '(', array_to_string(parameters, ', '), ')'),"
        " macro_definition, comment, tags",
    ),
    "type": ("duckdb_types()", "type_name, type_name, logical_type, comment, tags"),
    "sequence": ("duckdb_sequences()", "sequence_name, sequence_name, sql, comment, tags"),
    "schema": ("duckdb_schemas()", "schema_name, schema_name, sql, comment, tags"),
}
_INTERNAL = {"table", "view", "column", "function", "type"}
"""Kinds of which the engine also lists internal objects."""


def changes(
    engine: DuckDBEngine, catalog: str, sealed: Iterable[SealedObject], *, alone: bool
) -> Iterator[Problem]:
    """The differences; `alone`: the database may hold nothing else."""
    listed = tuple(sealed)
    expected, found = _expected(listed, alone=alone), _catalog(engine, catalog, alone=alone)
    names = {(item.schema, item.name) for item in listed}
    for entry in sorted(expected.keys() | found.keys()):
        kind, schema, owner, name = entry
        if not alone and (schema, owner) not in names:
            continue
        place = [part for part in (schema, owner) if part not in ("main", name)]
        shown = f"{kind} {path_text([*place, name])}"
        if entry not in found:
            yield _problem(f"lacks the {shown}")
        elif entry not in expected:
            yield _problem(f"holds the {shown}, which no manifest lists")
        elif found[entry] != expected[entry]:
            yield _problem(f"the {shown} is not defined as it was published")


def _problem(said: str) -> Problem:
    return Problem("release", said, hint="it was changed after it was published: run again")


def _catalog(engine: DuckDBEngine, catalog: str, *, alone: bool) -> Catalog:
    found: dict[Entry, tuple[Any, ...]] = {}
    old = engine.version.startswith("v1.")
    for kind, (source, listed) in (_OF_TABLES | _OTHERS if alone else _OF_TABLES).items():
        if old and kind == "trigger":
            continue  # DuckDB has triggers, and tags of columns, since 2.0
        if old and kind == "column":
            listed = listed.removesuffix(", tags")
        ours = " and not internal" if kind in _INTERNAL else ""
        rows = engine.raw(
            f"select schema_name, {listed} from {source}"
            f" where database_name = {lit(catalog)}{ours}",
            "release",
        )
        for schema, owner, name, *rest in rows:
            found[kind, str(schema), str(owner), str(name)] = tuple(map(_plain, rest))
    if alone:
        said = engine.raw(
            f"select comment from duckdb_databases() where database_name = {lit(catalog)}",
            "release",
        )
        found["database", "main", "comment", "comment"] = tuple(map(_plain, said[0]))
    return found


@cache
def _collation() -> str:
    """How this engine prints the collation "binary", which runs name and which is its default.
    Versions quote it differently.
    """
    import duckdb

    with closing(duckdb.connect(":memory:")) as connection:
        connection.execute('create table t (c varchar collate "binary")')
        printed = connection.execute("select sql from duckdb_tables()").fetchall()[0][0]
    found = re.fullmatch(r".*\(c VARCHAR( COLLATE .*)\);", printed)
    return found[1] if found else ""


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(_collation(), "")
    return tuple(sorted(value.items())) if isinstance(value, dict) else value


def _expected(listed: tuple[SealedObject, ...], *, alone: bool) -> Catalog:
    """The catalog of an empty database with the sealed objects. Raises GuaranteeError if the listed
    objects cannot be created.
    """
    import duckdb

    with closing(duckdb.connect(":memory:")) as connection:
        engine = DuckDBEngine(connection, owned=True)
        if alone:
            objects.create_record(engine, "memory")
        try:
            for statement in _statements(listed):
                connection.execute(statement)
        except (duckdb.Error, ValueError) as error:
            raise GuaranteeError.at(
                "manifest", "lists objects that cannot be, so that it was changed"
            ) from error
        return _catalog(engine, "memory", alone=alone)


def _statements(listed: tuple[SealedObject, ...]) -> Iterator[str]:
    for schema in sorted({item.schema for item in listed}):
        yield f"create schema if not exists {ident(Table(schema))}"
    for item in sorted(listed, key=lambda item: item.definition is not None):
        table = ident(Table(item.name, item.schema))
        if item.definition is None:
            if not all(_TYPE.match(kind) for _, kind in item.columns):
                raise ValueError
            columns = ", ".join(f"{ident(name)} {kind}" for name, kind in item.columns)
            yield f"create table {table} ({columns})"
            continue
        yield f"create view {table} as {_frozen(item, listed)}"


def _frozen(view: SealedObject, listed: tuple[SealedObject, ...]) -> str:
    """The only query that a view may have. Raises ValueError if another one is listed."""
    for rows in listed:
        names = [name for name, _ in rows.columns]
        query = projection(names, Table(rows.name, rows.schema))
        if rows.kind == "rows" and query == view.definition and rows.columns == view.columns:
            return query
    raise ValueError
