"""Seal a release in a DuckDB database, and detect later changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache
from typing import Any, TypeAlias

from anonymizer.compile import Table, ident, lit
from anonymizer.contract.layout import Layout, column_names
from anonymizer.contract.reading import Tables, in_release
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.policy.paths import name_text, path_text
from anonymizer.release import objects
from anonymizer.release.across_tables import names_of, released_tables
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.objects import Names, refuse_foreign_sql, unused_space
from anonymizer.release.seal import (
    CHANGED,
    Columns,
    SealedObject,
    Sign,
    manifest_object,
    manifest_problems,
    of_another,
    projection,
    rows_problem,
    seal_of,
    sealed,
    stored_rows,
)

# Checks that a release has exactly the columns that its manifest lists.
#
# Verification judges only these. A column that was added later would be published without being
# verified.


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
    rows = column_names(layout)
    yield view, rows
    for column in layout.columns:
        if column.column in layout.tables:
            separate = Table(layout.tables[column.column], view.schema, view.catalog)
            yield separate, [name for name in (layout.group_id, column.name) if name is not None]
    for one in tables.children if tables is not None else ():
        yield in_release(view)(one), column_names(one.layout)
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


# Comparing the catalog of a DuckDB database with the catalog of exactly the sealed objects.
#
# The sealed objects are created in an empty database, without rows, and both catalogs are compared;
# the same engine prints the definitions of both. This reveals any default, check, generated column
# or condition in a view, whatever its name.


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
    """This engine's text for the collation "binary", which runs name and which is its default.
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
        engine = DuckDBEngine(connection, owns_connection=True)
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


# Sealing a release in a DuckDB database, and detecting later changes.


def objects_of(engine: DuckDBEngine, names: Names, catalog: str) -> tuple[SealedObject, ...]:
    """The existing tables and view of a release, without its manifest."""
    found = []
    has_view = names.rows(catalog) in engine.tables("seal")
    for item in names.recorded():
        table = item.table(catalog)
        if item.kind == "manifest" or (item.kind == "rows" and not has_view):
            continue
        columns = columns_of(engine, table)
        if item.kind == "view" and has_view:
            query = projection([name for name, _ in columns], names.rows(None))
            found.append(SealedObject(item.schema, item.name, item.kind, columns, query))
        else:
            rows = stored_rows(engine, table, columns)
            found.append(SealedObject(item.schema, item.name, item.kind, columns, rows=rows))
    return tuple(found)


def sealed_in(
    manifest: Manifest,
    names: Names,
    found: tuple[SealedObject, ...],
    *,
    alone: bool,
    sign: Sign | None,
) -> Manifest:
    """The manifest of a DuckDB release, sealed with the found objects."""
    kept = manifest_object(names, None, signed=sign is not None)
    return sealed(manifest, (*found, kept), alone=alone, sign=sign)


def columns_of(engine: Engine, table: Table) -> Columns:
    """Name and type of every column."""
    return tuple(engine.describe(ident(table).text, "seal"))


def changes_in_database(
    engine: DuckDBEngine, view: Table, manifest: Manifest, *, alone: bool = False
) -> Iterator[Problem]:
    """The differences from the seal: objects and definitions, the record of them, and rows.

    `alone`: the release has to be in a file that holds nothing else, whatever its seal says.
    """
    catalog = view.catalog or str(engine.raw("select current_catalog()", "release")[0][0])
    seal = seal_of(manifest)
    alone = alone or seal.alone
    release = f"{view.schema}.{view.name}"
    found = list(_listed_otherwise(view, manifest))
    listed = {release: (manifest.run_id, seal.objects)}
    if alone:
        for item in objects.recorded(engine, catalog):
            if item.kind == "view" and item.release not in listed:
                other, changed = _beside(engine, item.table(catalog))
                found += changed
                listed[item.release] = (other.run_id, seal_of(other).objects)
    every = [one for _, made in listed.values() for one in made]
    found += changes(engine, catalog, every, alone=alone)
    found += _record_changes(engine, catalog, listed, alone=alone)
    yield from found
    if not found:  # do not read the rows of a different table
        yield from _row_changes(engine, catalog, seal.objects)
    if alone:
        yield from unused_space(engine, catalog)


def _listed_otherwise(view: Table, manifest: Manifest) -> Iterator[Problem]:
    """Check that a seal lists exactly the objects of a release with this layout. The author of the
    manifest, who may be anyone, also wrote the seal.
    """
    listed = seal_of(manifest).objects
    names = names_of(view, manifest)
    frozen = any(item.kind == "rows" for item in listed)
    expected = sorted(
        (item.schema, item.name, item.kind, frozen and item.kind == "view", item.kind == "manifest")
        for item in names.recorded()
        if frozen or item.kind != "rows"  # otherwise the view is a table that replaces the source
    )
    found = sorted(
        (
            item.schema,
            item.name,
            item.kind,
            item.definition is not None,
            item in (manifest_object(names, None, signed=signed) for signed in (False, True)),
        )
        for item in listed
    )
    if found != expected:
        said = "lists other objects than a release of its layout has"
        yield Problem("manifest.seal", said, hint=CHANGED)


def _beside(engine: DuckDBEngine, view: Table) -> tuple[Manifest, tuple[Problem, ...]]:
    """Another release in the file, which is not judged. Its seal counts only if it belongs to its
    manifest and lists exactly the manifest's objects.
    """
    manifest = read_manifest(engine, view)
    try:
        refuse_unknown_columns(engine, view, manifest.layout, released_tables(manifest))
        problems = [*manifest_problems(view, manifest), *_listed_otherwise(view, manifest)]
    except GuaranteeError as error:
        problems = [*error.problems]
    return manifest, of_another(manifest, problems)


def _record_changes(
    engine: DuckDBEngine,
    catalog: str,
    listed: dict[str, tuple[str, tuple[SealedObject, ...]]],
    *,
    alone: bool,
) -> Iterator[Problem]:
    """Differences in the record of created objects, a table in the file that anyone could edit."""
    expected = sorted(
        (release, item.schema, item.name, item.kind, run_id)
        for release, (run_id, made) in listed.items()
        for item in made
    )
    found = sorted(
        (item.release, item.schema, item.name, item.kind, item.run_id)
        for item in objects.recorded(engine, catalog)
        if alone or item.release in listed
    )
    if found != expected:
        said = f"{objects.SCHEMA}.objects does not list just the objects of the manifests"
        yield Problem("release", said, hint=CHANGED)


def _row_changes(
    engine: DuckDBEngine, catalog: str, listed: tuple[SealedObject, ...]
) -> Iterator[Problem]:
    for item in listed:
        if item.kind in ("view", "rows", "values") and item.definition is None:
            table = Table(item.name, item.schema, catalog)
            numbered = item.rows.numbered if item.rows else None
            yield from rows_problem(item, stored_rows(engine, table, item.columns, numbered))
