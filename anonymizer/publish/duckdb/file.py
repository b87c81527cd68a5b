"""Publishing into a separate file: built next to the target, verified, and swapped in atomically.

The target itself is never opened for writing. Readers keep the release that they have open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from anonymizer.compile import Table, ident, lit
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine, detaching
from anonymizer.engines.duckdb.encryption import (
    KEY_FILE,
    WAY_OUT,
    database_key,
    is_encrypted,
    required_key,
)
from anonymizer.engines.duckdb.sandbox import attach_problem, own_connection
from anonymizer.errors import EncryptionError, EngineError, TargetError
from anonymizer.policy.publish import UNENCRYPTED, Storage
from anonymizer.process.files import lock
from anonymizer.process.interrupts import decide
from anonymizer.process.run_folder import building_of
from anonymizer.process.text import many
from anonymizer.publish.target import Readers, Writer, clashes_with_releases, replaced_release
from anonymizer.release import objects
from anonymizer.release.integrity import SealedObject, Sign, objects_of, projection, sealed_in
from anonymizer.release.judge import fingerprint
from anonymizer.release.manifest import (
    Manifest,
    file_of,
    other_file,
    refresh,
    write_manifest,
    write_manifest_file,
)
from anonymizer.release.objects import Names, not_tables, unused_space

BUILT = "anon_release"
PREVIOUS = "anon_previous"
READING = "type duckdb, read_only"

Identity: TypeAlias = tuple[int, int, int, int] | None
"""Device, inode, size and time of a file; None if there is none."""


@dataclass(slots=True)
class FileTarget:
    """The database file of a release, and the file in which the next release is built."""

    path: Path
    names: Names
    storage: Storage
    encrypted: bool | None = None
    """Whether the file is encrypted; None: as the one that it replaces, or as the source."""
    warnings: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    _is_encrypted: bool = False
    _replaced_identity: Identity = None
    """The identity of the old file when its other releases were copied."""
    _old_objects: tuple[objects.ObjectEntry, ...] = ()
    """The objects of the tool in the old file."""
    _verified: list[object] = field(default_factory=list)
    """Fingerprints of the verified tables."""
    _objects: tuple[SealedObject, ...] = ()
    """The verified objects, with the digests of their rows."""

    @property
    def place(self) -> Path:
        return self.path

    @property
    def readers(self) -> Readers:
        return Readers(self.names.view(None))

    @property
    def building(self) -> Path:
        return building_of(self.path, self.names.run_id)

    @property
    def _wal(self) -> Path:
        return self.path.with_name(f"{self.path.name}.wal")

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the target cannot be replaced."""
        self._choose_encryption(engine)
        if not self.path.exists():
            self.replaces = other_file(self.path, self.names)
        elif isinstance(engine, DuckDBEngine) and self.path in engine.databases:
            self.check_content(engine)
        else:
            # an engine that only plans may not open files, and a user's own is left alone
            with own_connection(None, databases=[self.path]) as gate:
                self.check_content(gate)

    def _choose_encryption(self, engine: Engine) -> None:
        """Decide whether the file is encrypted. Raises EncryptionError without a key if it has to
        be; where the source is and the release cannot be, that is a warning.
        """
        of_source = able = False
        if isinstance(engine, DuckDBEngine):
            of_source = engine.encrypts
            able = of_source and engine.can_encrypt and self.storage not in UNENCRYPTED
        wanted = self.encrypted or (self.encrypted is None and is_encrypted(self.path))
        if wanted:
            required_key(self.path, "publish.database")
        self._is_encrypted = wanted or (self.encrypted is None and able)
        if self.encrypted is None and of_source and not self._is_encrypted:
            way = WAY_OUT if database_key() is not None else f"give a key in {KEY_FILE}"
            said = f"publish.database: is not encrypted, and the source is ({way}; publish: "
            self.warnings = (*self.warnings, f"{said}{{encrypted: false}} if it need not be)")

    def build(self, engine: Engine, writer: Writer) -> None:
        """Write the new release, and the target's other releases, into a file next to it."""
        assert isinstance(engine, DuckDBEngine)
        names = self.names
        self._replaced_identity = self.identity()
        with self.attach(engine, read_only=False) as catalog:
            create_schema(engine, catalog, names.schema)
            objects.create_record(engine, catalog)
            writer.write(names.rows(catalog), lambda table: names.separate(table, catalog))
            create_view(engine, names, catalog)
            objects.record(engine, catalog, names.entries())
            self.carry_over(engine)
            engine.raw(f"checkpoint {catalog}", "publish.database")

    @contextmanager
    def built_rows(self, engine: Engine, layout: Layout) -> Iterator[tuple[Table, Layout]]:
        """The built file, read back from disk."""
        assert isinstance(engine, DuckDBEngine)
        with self.attach(engine, read_only=True) as catalog:
            yield self.names.view(catalog), layout
            self._verified = self._fingerprints(engine, catalog)
            self._objects = objects_of(engine, self.names, catalog)

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Write the manifest into the built file, and swap it in as the target."""
        assert isinstance(engine, DuckDBEngine)
        manifest = sealed_in(manifest, self.names, self._objects, alone=True, sign=sign)
        with self.attach(engine, read_only=False) as catalog:
            write_manifest(engine, self.names, catalog, manifest)
            engine.raw(f"checkpoint {catalog}", "publish.database")
        with self.attach(engine, read_only=True) as catalog:
            # the manifest was written after verification: the rows must still be the verified ones
            if self._fingerprints(engine, catalog) != self._verified:
                raise EngineError.at("publish.database", "changed while it was being built")
            if any(unused_space(engine, catalog)):
                said = "was built with unused space, in which what was deleted could be read"
                raise EngineError.at("publish.database", said, hint="run again, or report it")
        beside = file_of(self.path, self.names, self._old_objects)
        decide()
        self.swap(self._replaced_identity)
        write_manifest_file(beside, manifest, self.building)
        return manifest

    def _fingerprints(self, engine: DuckDBEngine, catalog: str) -> list[object]:
        return [fingerprint(engine, table) for table in self.names.published(catalog)]

    @property
    def is_published(self) -> bool:
        return not self.building.exists()

    def check_place(self) -> None:
        """Raise TargetError if no file can be replaced at this path."""
        where = "publish.database"
        folder = self.path.parent
        if not folder.is_dir():
            hint = "make it, or name another place"
            raise TargetError.at(where, "is in a folder that does not exist", hint=hint)
        if not os.access(folder, os.W_OK):
            hint = "name another place, or let this user write there"
            raise TargetError.at(where, "is in a folder that cannot be written", hint=hint)
        if self._wal.exists():
            raise TargetError.at(
                where,
                "has a write-ahead log beside it, so another process may be writing to it",
                hint="close that process, or open and close the file once with duckdb",
            )
        if self.path.is_dir():
            hint = f"name a file in it, as in {self.path.name}/release.duckdb"
            raise TargetError.at(where, "is a folder, not a file", hint=hint)
        if self.path.exists() and not (self.path.is_file() and os.access(self.path, os.W_OK)):
            hint = "name another file, or let this user write it"
            raise TargetError.at(where, "is not a file that can be replaced", hint=hint)

    def check_content(self, engine: DuckDBEngine) -> None:
        """Raise TargetError if the file holds objects of others. Writes nothing."""
        where = "publish.database"
        try:
            engine.attach(self.path, PREVIOUS, READING, where)
        except EncryptionError:
            raise
        except EngineError as error:
            hint = "close the process that writes to it, or name another file"
            said, hint = attach_problem(self.path, hint)
            raise TargetError.at(where, said, hint=hint) from error
        with detaching(engine, PREVIOUS, where):
            held = objects.object_entries(engine, PREVIOUS)
            TargetError.refuse(clashes_with_releases(self.names, held))
            self.replaces = replaced_release(self.names, held, self.path.name, engine, PREVIOUS)
            self.replaces += other_file(self.path, self.names, held)
            others = objects.foreign(engine, PREVIOUS, held) | not_tables(engine, PREVIOUS, held)
        if others:
            listed = ", ".join(sorted(f"{schema}.{name}".strip(".") for schema, name in others)[:3])
            raise TargetError.at(
                where,
                f"holds {many(len(others), 'object')} that this tool did not publish ({listed})",
                hint="name a file of its own for the release",
            )

    @contextmanager
    def attach(self, engine: DuckDBEngine, *, read_only: bool) -> Iterator[str]:
        """Attach the file being built, also if the source database is open read-only."""
        mode = "read_only" if read_only else f"read_write, storage_version {lit(self.storage)}"
        where, encrypted = "publish.database", self._is_encrypted
        engine.attach(self.building, BUILT, mode, where, encrypted=encrypted)
        with detaching(engine, BUILT, "publish.database"):
            yield BUILT

    def carry_over(self, engine: DuckDBEngine) -> None:
        """Copy the other releases of this tool from the target into the file being built."""
        if not self.path.exists():
            return
        engine.attach(self.path, PREVIOUS, READING, "publish.database")
        with detaching(engine, PREVIOUS, "publish.database"):
            self._old_objects = tuple(objects.object_entries(engine, PREVIOUS))
            kept = [item for item in self._old_objects if item.release != self.names.release]
            if not_tables(engine, PREVIOUS, self._old_objects):
                raise TargetError.at("publish.database", "was changed during this run")
            refresh(engine, PREVIOUS, self.path)  # a killed run may have left JSON files stale
            for item in kept:
                create_schema(engine, BUILT, item.schema)
                if item.kind != "view":
                    engine.raw(
                        f"create table {ident(item.table(BUILT))} as"
                        f" from {ident(item.table(PREVIOUS))}",
                        "publish.database",
                    )
            for item in kept:
                if item.kind == "view":
                    create_view(engine, Names(item.schema, item.name, item.run_id), BUILT)
            objects.record(engine, BUILT, kept)

    def identity(self) -> Identity:
        """The identity of the target file; it changes when another run publishes."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def swap(self, replaced: Identity) -> None:
        """Make the built file the target, durably. Readers see the old file or the new one.

        Raises TargetError if the target changed after its other releases were copied: another run
        has published, and its release would be lost.
        """
        with self.building.open("rb") as handle:
            os.fsync(handle.fileno())
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            lock(folder)  # serializes runs that compare and replace
            if self.identity() != replaced:
                raise TargetError.at(
                    "publish.database",
                    "was replaced by another run while this one was at work",
                    hint="run again, one run after the other",
                )
            self.building.replace(self.path)
            os.fsync(folder)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Remove the built file unless it was swapped in."""
        for path in (self.building, self.building.with_name(f"{self.building.name}.wal")):
            path.unlink(missing_ok=True)


def create_schema(engine: DuckDBEngine, catalog: str, schema: str) -> None:
    """Create the schema of a release if it is missing; `main` never is."""
    if schema != "main":
        engine.raw(f"create schema if not exists {ident(Table(schema, None, catalog))}", "publish")


def create_view(engine: DuckDBEngine, names: Names, catalog: str) -> None:
    """Create the published view as a select of all columns of the frozen rows."""
    columns = [name for name, _ in engine.describe(ident(names.rows(catalog)).text, "publish")]
    # the view names no catalog, so that it runs under any name the file is attached as
    query = projection(columns, names.rows(None))
    engine.raw(f"create or replace view {ident(names.view(catalog))} as {query}", "publish")
