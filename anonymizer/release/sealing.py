"""Sealing a release in a DuckDB database, and detecting later changes."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.compile import Table, ident
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import GuaranteeError, Problem
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
    manifest_problems,
    of_another,
    projection,
    rows_problem,
    seal_of,
    sealed,
)
from anonymizer.release.tables import names_of, released_tables
from anonymizer.release.unknown_columns import refuse_unknown_columns
from anonymizer.release.unused_space import unused_space


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
    found += catalog_changes(engine, catalog, every, alone=alone)
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
