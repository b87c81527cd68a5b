"""Releases in DuckDB databases: in a separate file, or next to or instead of the source."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from anonymizer.compile import Table
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.session import Database, Session
from anonymizer.errors import EngineError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.values import file_format
from anonymizer.publish.duckdb.file import FileTarget
from anonymizer.publish.duckdb.in_place import InPlaceTarget, ReplaceTarget
from anonymizer.publish.target import schemas_written_otherwise
from anonymizer.release import objects
from anonymizer.release.integrity import changes_in_database
from anonymizer.release.manifest import Manifest, changes_beside, read_manifest
from anonymizer.release.objects import Names
from anonymizer.release.opening import open_for_reading, population_files, release_file
from anonymizer.release.opening import place_of as named_at


def place_of(policy: Policy, database: Database) -> Path | None:
    """See `anonymizer.publish.target.Publisher`."""
    source = Path(database).resolve() if isinstance(database, str | Path) else None
    EngineError.refuse(schemas_written_otherwise(Names.of(policy, ""), ["main"]))
    file = _file_of(policy)
    if file is None:
        return source
    if file == source:
        raise EngineError.at(
            "publish.database",
            "is the source database itself",
            hint="name a file of its own, or leave it out to publish beside the source",
        )
    if file_format(file.name) is not None:  # opened by its name, it would seem to have no rows
        raise EngineError.at(
            "publish.database",
            f"names a file of rows ({file.suffix.lower()}), and a release is a DuckDB database",
            allowed="a name of another suffix, as in release.duckdb",
            hint="anonymizer export writes the release as .parquet or .csv afterwards",
        )
    FileTarget(file, Names.of(policy, ""), policy.publish.storage).check_place()
    return file


def target(
    policy: Policy, session: Session, names: Names
) -> FileTarget | InPlaceTarget | ReplaceTarget:
    """See `anonymizer.publish.target.Publisher`."""
    file = _file_of(policy)
    if file is not None:
        return FileTarget(file, names, policy.publish.storage, policy.publish.encrypted)
    engine = session.embedded
    if engine.catalog is None:
        raise EngineError.at(
            "publish.database",
            "is needed: a file source has no database to publish into",
            hint="publish: {database: release.duckdb}",
        )
    database = session.database if engine.owns_connection else None
    connection = None if engine.owns_connection else engine.connection
    if policy.publish.replace_source:
        source = session.source.table
        assert source is not None
        names = replace(names, schema=source.schema or names.schema, name=source.name)
        return ReplaceTarget(names, engine.catalog, database, connection, source=source)
    return InPlaceTarget(names, engine.catalog, database, connection)


@contextmanager
def open_published(
    policy: Policy | None, database: Database, limits: Limits
) -> Iterator[PublishedInDatabase]:
    """See `anonymizer.publish.target.Publisher`."""
    file, where = None, "--database"
    if database is None or isinstance(database, str | Path):
        file = database = release_file(policy, database)
        where = named_at(policy, file)
    with open_for_reading(database, where, population_files(policy), limits) as (engine, catalog):
        yield PublishedInDatabase(engine, catalog, file)


@dataclass(frozen=True, slots=True)
class PublishedInDatabase:
    """The releases of a database. See `anonymizer.publish.target.PublishedReleases`."""

    engine: DuckDBEngine
    catalog: str
    file: Path | None = None
    """The file of the database; copies of the manifests are next to it."""
    unlisted: ClassVar[tuple[str, ...]] = ()
    """(other objects in the file of a release are refused)"""

    def views(self, policy: Policy | None) -> list[Table]:
        if policy is not None:
            return [Names.of(policy, "").view(self.catalog)]
        return [
            item.table(self.catalog)
            for item in objects.object_entries(self.engine, self.catalog)
            if item.kind == "view"
        ]

    def manifest(self, view: Table) -> Manifest:
        return read_manifest(self.engine, view)

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        yield from changes_in_database(self.engine, view, manifest, alone=alone)
        if self.file is not None:
            yield from changes_beside(self.file, view, manifest)


def _file_of(policy: Policy) -> Path | None:
    file = policy.publish.database
    return policy.resolve(file).resolve() if file is not None else None
