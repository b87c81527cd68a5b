"""Publish next to the source or in its place, in its own database: one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.algorithms.core.compiled import STAGED
from anonymizer.compile import Table, ident, lit
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import SOURCE, DuckDBEngine
from anonymizer.engines.duckdb.encryption import WAY_OUT, is_encrypted
from anonymizer.errors import AnonymizerError, TargetError
from anonymizer.process.interrupts import decide
from anonymizer.process.run_folder import building_of
from anonymizer.publish.duckdb.file import create_schema, create_view
from anonymizer.publish.target import (
    Readers,
    StagedTarget,
    clashes_with_releases,
    dropped_source,
    refuse_changed,
    replaced_release,
    schemas_written_otherwise,
)
from anonymizer.release import objects
from anonymizer.release.integrity import Sign, objects_of, sealed_in
from anonymizer.release.manifest import (
    Manifest,
    file_of,
    other_file,
    write_manifest,
    write_manifest_file,
)
from anonymizer.release.objects import Names, is_base_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Publishing next to the source, in its own database: everything in one transaction.
#
# The view does not hide the source from readers of the database; the run warns of that.


STANDS = (
    "the release stands in the database that holds the raw table: a view protects nothing there."
)
WARNING = f"{STANDS} Set publish.database to publish into a file of its own."


@dataclass(slots=True)
class InPlaceTarget(StagedTarget):
    """A release in the source's own database."""

    names: Names
    catalog: str
    database: Path | None
    """The file, if the tool opened the connection and attached the file read-only."""
    connection: DuckDBPyConnection | None = None
    """The user's connection, if there is one."""
    warnings: tuple[str, ...] = (WARNING,)
    _old_objects: tuple[objects.ObjectEntry, ...] = ()
    """The objects of the tool in the database."""
    _file: Path | None = None
    """The file of the database, also for a user's connection: otherwise the JSON file next to it
    would remain that of an earlier run. None in memory.
    """

    @property
    def place(self) -> Path | None:
        return self.database

    @property
    def readers(self) -> Readers:
        catalog = self.catalog if self.connection is not None else None
        return Readers(self.names.view(catalog), self.connection)

    def check(self, engine: Engine) -> None:
        """Raise TargetError if an object of that name exists that the tool did not create."""
        assert isinstance(engine, DuckDBEngine)
        self.check_catalog(engine)
        place = self.database.name if self.database is not None else "the database"
        held = self._old_objects = tuple(objects.object_entries(engine, self.catalog))
        self.replaces = replaced_release(self.names, held, place, engine, self.catalog)
        if self._file is not None:
            self.replaces += other_file(self._file, self.names, held)
        rows = engine.raw(
            f"select schema_name from duckdb_schemas() where database_name = {lit(self.catalog)}",
            "publish",
        )
        others = schemas_written_otherwise(self.names, (str(schema) for (schema,) in rows))
        others += clashes_with_releases(self.names, held)
        TargetError.refuse(others)
        wanted = (*self.names.published(None), self.names.manifest(None))
        clashes = self._clashes(engine, wanted, held)
        if clashes:
            raise TargetError.at(
                self.names.path,
                f"{self.names.schema}.{clashes[0]} exists and was not published by this tool",
                hint=f"{self.names.other}, or drop it if nobody needs it",
            )

    def check_catalog(self, engine: DuckDBEngine) -> None:
        """Raise TargetError if the catalog cannot hold a release. A file that the tool opened is
        attached read-only, and for writing only during the swap.
        """
        path, read_only = refuse_foreign(engine, self.catalog)
        file = Path(path).resolve() if path else None
        self._file = file if file is not None and file.is_file() else None
        if self.connection is None:
            if self._file is not None and is_encrypted(self._file) and not engine.can_encrypt:
                said = "is needed: the engine cannot write the encrypted file of the source"
                raise TargetError.at("publish.database", said, hint=WAY_OUT)
            return
        if read_only:
            raise TargetError.at(
                "publish.database",
                "is needed: the connection has the database of the source open for reading",
                hint="publish: {database: release.duckdb}, or a connection that may write",
            )

    def _clashes(
        self, engine: DuckDBEngine, wanted: Iterable[Table], held: Sequence[objects.ObjectEntry]
    ) -> list[str]:
        """Those of the wanted names that are taken by objects of others."""
        ours = objects.standing(engine, self.catalog, held)
        # the engine treats names that differ only in case as equal
        taken = {
            (schema.lower(), name.lower())
            for schema, name in objects.present(engine, self.catalog) - ours
        }
        schema = self.names.schema.lower()
        return [table.name for table in wanted if (schema, table.name.lower()) in taken]

    def _attach_for_writing(self, engine: DuckDBEngine) -> None:
        """Attach the source file again, for writing, if the tool opened it."""
        if self.database is None:
            return
        engine.raw(f"detach {SOURCE}", "publish")
        try:
            engine.attach(self.database, SOURCE, "type duckdb", "publish")
        except AnonymizerError as error:
            raise TargetError.at(
                "--database",
                "cannot be opened for writing, and the release would stand in it",
                hint="set publish.database, or close the process that uses the database",
            ) from error

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Freeze the staged rows and replace the old release, in one transaction."""
        assert isinstance(engine, DuckDBEngine)
        file = self._file
        beside = file_of(file, self.names, self._old_objects) if file is not None else None
        self._attach_for_writing(engine)
        with engine.transaction("publish"):
            manifest = self._replace(engine, manifest, sign)
            decide()
        self.is_published = True
        if file is not None and beside is not None:
            aside = building_of(file, self.names.run_id)
            write_manifest_file(beside, manifest, aside)
        return manifest

    def _replace(self, engine: DuckDBEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        names, catalog = self.names, self.catalog
        objects.create_record(engine, catalog)
        create_schema(engine, catalog, names.schema)
        old = [o for o in objects.object_entries(engine, catalog) if o.release == names.release]
        engine.raw(f"create table {ident(names.rows(catalog))} as from {ident(STAGED)}", "publish")
        create_view(engine, names, catalog)
        if old:
            record = ident(objects.objects_table(catalog))
            engine.raw(f"delete from {record} where release = {lit(names.release)}", "publish")
        for item in old:
            if item.kind in ("rows", "values"):
                engine.raw(f"drop table if exists {ident(item.table(catalog))}", "publish")
        self._freeze_separate(engine)
        manifest = self._seal(engine, manifest, sign)
        objects.record(engine, catalog, names.entries())
        return manifest

    def _seal(self, engine: DuckDBEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        """Write the manifest, sealed with the current content of the database."""
        found = objects_of(engine, self.names, self.catalog)
        manifest = sealed_in(manifest, self.names, found, alone=False, sign=sign)
        write_manifest(engine, self.names, self.catalog, manifest)
        return manifest

    def _freeze_separate(self, engine: DuckDBEngine) -> None:
        """Create the further published tables from their staged rows."""
        for name, rows in self.staged.items():
            published = ident(self.names.separate(name, self.catalog))
            engine.raw(f"create table {published} as from {ident(rows)}", "publish")


def refuse_foreign(engine: DuckDBEngine, catalog: str) -> tuple[str | None, bool]:
    """Raise TargetError if the catalog is not a DuckDB database; return its path, and whether it
    is read-only.

    A release in place needs a schema of its own, binary collation and one transaction over tables
    and views, which attached lakes and databases of other kinds do not all have. A lake would also
    keep the replaced rows in earlier snapshots.
    """
    found = engine.raw(
        f"select type, path, readonly from duckdb_databases() where database_name = {lit(catalog)}",
        "publish",
    )
    kind, path, read_only = found[0] if found else ("duckdb", None, False)
    if kind != "duckdb":
        raise TargetError.at(
            "publish.database",
            f"is needed: the source is in an attached catalog of type {kind}, and"
            " a release is published in DuckDB's own catalogs only",
            hint="publish: {database: release.duckdb}; docs/how-to/lakehouse.md loads it into"
            " the lake",
        )
    return path, bool(read_only)


# Replacing the source table by its release.
#
# Everything happens in one transaction of the source's database. The old data stays in the unused
# space of the file until the file is rewritten.


REPLACEMENT_WARNING = (
    "the source table is replaced, but its old bytes stay in the file until it is rewritten:"
    " anonymizer clean --rewrite --database FILE. Copies and backups hold them as well."
)


@dataclass(slots=True)
class ReplaceTarget(InPlaceTarget):
    """A release that replaces its source table."""

    source: Table = field(kw_only=True)
    warnings: tuple[str, ...] = (REPLACEMENT_WARNING,)

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the source is not a table that can be replaced."""
        assert isinstance(engine, DuckDBEngine)
        self.check_catalog(engine)
        self.replaces = (dropped_source(self.names.release, self._dropped_properties(engine)),)
        where = "publish.replace_source"
        if not is_base_table(engine, self.source) or self.source.catalog != self.catalog:
            raise TargetError.at(
                where,
                "needs a table of the database itself, not a view or a temporary table",
                hint="source: {table: main.visits}",
            )
        held = objects.object_entries(engine, self.catalog)
        if (self.source.schema, self.source.name) in {(o.schema, o.name) for o in held}:
            raise TargetError.at(
                where, "the source is a release of this tool already", hint="nothing to do"
            )
        further = [self.names.separate(name, None) for name in self.names.tables]
        clashes = self._clashes(engine, (*further, self.names.manifest(None)), held)
        if clashes:
            raise TargetError.at(
                where,
                f"{clashes[0]} would be published beside it and exists already",
                hint="rename that object",
            )

    def _dropped_properties(self, engine: DuckDBEngine) -> list[str]:
        """Properties of the table besides its rows and columns."""
        source = self.source
        of_table = (
            f"database_name = {lit(source.catalog)} and schema_name = {lit(source.schema)}"
            f" and table_name = {lit(source.name)}"
        )
        rows = engine.raw(
            f"select 'the index ' || index_name from duckdb_indexes() where {of_table}"
            " union select 'its ' || constraint_type from duckdb_constraints()"
            f" where {of_table} and constraint_type <> 'NOT NULL'"
            f" union select 'its comment' from duckdb_tables() where {of_table} and comment <> ''"
            " union select 'comments on its columns' from duckdb_columns()"
            f" where {of_table} and comment <> '' order by 1",
            "publish.replace_source",
        )
        return [str(said) for (said,) in rows]

    def _replace(self, engine: DuckDBEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        assert self.snapshot is not None
        refuse_changed(engine, self.snapshot)
        names, catalog = self.names, self.catalog
        objects.create_record(engine, catalog)
        try:
            engine.raw(f"drop table {ident(self.source)}", "publish")
        except AnonymizerError as error:
            raise TargetError.at(
                "publish.replace_source",
                "something depends on the source table, such as a foreign key",
                hint="remove the dependency, or publish into a database of its own",
            ) from error
        engine.raw(f"create table {ident(self.source)} as from {ident(STAGED)}", "publish")
        self._freeze_separate(engine)
        manifest = self._seal(engine, manifest, sign)
        # the table replaces the release's view
        made = tuple(item for item in names.entries() if item.kind != "rows")
        objects.record(engine, catalog, made)
        return manifest
