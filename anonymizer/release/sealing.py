"""Sealing a release in a DuckDB database, and detecting later changes."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import Problem
from anonymizer.release import objects
from anonymizer.release.catalog import changes as catalog_changes
from anonymizer.release.manifest import Manifest, read_manifest
from anonymizer.release.names import Names
from anonymizer.release.rows_digest import stored_rows
from anonymizer.release.seal import (
    CHANGED,
    Columns,
    SealedObject,
    Sign,
    manifest_object,
    projection,
    rows_problem,
    seal_of,
    sealed,
)


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
    """The manifest of a DuckDB release, sealed with the objects that were found."""
    kept = manifest_object(names, None, signed=sign is not None)
    return sealed(manifest, (*found, kept), alone=alone, sign=sign)


def columns_of(engine: Engine, table: Table) -> Columns:
    """Name and type of every column."""
    return tuple(engine.describe(ident(table).text, "seal"))


def changes_in_database(
    engine: DuckDBEngine, view: Table, manifest: Manifest, *, alone: bool = False
) -> Iterator[Problem]:
    """What differs from the seal: objects and definitions, the record of them, and rows.

    `alone`: the release has to be in a file that holds nothing else, whatever its seal says.
    """
    catalog = view.catalog or str(engine.raw("select current_catalog()", "release")[0][0])
    seal = seal_of(manifest)
    alone = alone or seal.alone
    release = f"{view.schema}.{view.name}"
    listed = {release: (manifest.run_id, seal.objects)}
    if alone:
        for item in objects.recorded(engine, catalog):
            if item.kind == "view" and item.release not in listed:
                other = read_manifest(engine, item.table(catalog))
                listed[item.release] = (other.run_id, seal_of(other).objects)
    every = [one for _, made in listed.values() for one in made]
    found = list(catalog_changes(engine, catalog, every, alone=alone))
    found += _record_changes(engine, catalog, listed, alone=alone)
    yield from found
    if not found:  # the rows of a different table need not be read
        yield from _row_changes(engine, catalog, seal.objects)


def _record_changes(
    engine: DuckDBEngine,
    catalog: str,
    listed: dict[str, tuple[str, tuple[SealedObject, ...]]],
    *,
    alone: bool,
) -> Iterator[Problem]:
    """The record of what the tool made is a table in the file, and could hold anything."""
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
