"""Opening releases that Spark published, to verify them; for folders this needs no Spark."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from anonymizer.compile import SCRATCH, Table, ident
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.engines.spark.tables import name_in_spark, names_in
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.policy import Policy
from anonymizer.policy.aggregate import WITNESS
from anonymizer.process.files import read_beside
from anonymizer.publish.spark.catalog import catalog_objects, in_catalog
from anonymizer.publish.spark.parquet import ParquetTarget, relation_object, rows_in
from anonymizer.publish.spark.switch import OF, properties
from anonymizer.release.across_tables import names_of, released_tables
from anonymizer.release.integrity import manifest_object, object_problems, seal_of
from anonymizer.release.manifest import (
    CHANGED,
    Manifest,
    no_manifest,
    parsed,
    several_manifests,
    signature_file,
)
from anonymizer.release.objects import Names
from anonymizer.release.opening import population_files


class FolderEngine(DuckDBEngine):
    """A DuckDB with the tool's own views over Parquet files, and no SQL of a release."""

    embedded: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class PublishedFolder:
    """A folder of releases, each opened as a view in a separate DuckDB."""

    engine: DuckDBEngine
    manifests: dict[Table, Manifest]
    folder: Path

    def views(self, policy: Policy | None) -> list[Table]:
        every = list(self.manifests)
        return every if policy is None else [Names.of(policy, "").view(SCRATCH)]

    def manifest(self, view: Table) -> Manifest:
        return self.manifests[view]

    @property
    def unlisted(self) -> tuple[str, ...]:
        # a folder may be the user's own, with other tables in it
        strange = {*self.folder.glob("*.parquet")} - {*_rows_of(self.folder, self.manifests)}
        return tuple(sorted(path.name for path in strange))

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        del alone
        names = Names(view.schema or "main", view.name, manifest.run_id)
        found = relation_object(self.engine, names, view)
        yield from object_problems(seal_of(manifest), [found])
        for path in strange_files(self.folder, self.manifests):
            said = f"the folder holds {path.relative_to(self.folder)}, which no manifest lists"
            yield Problem("release", said, hint=CHANGED)


@contextmanager
def published_folder(
    policy: Policy | None, database: Any, limits: Limits
) -> Iterator[PublishedFolder]:
    """Open the releases of a folder. Raises NothingToCheckError if there is none."""
    given = database
    if given is None and policy is not None and policy.publish.database is not None:
        given = policy.resolve(policy.publish.database)
    if given is None:
        raise NothingToCheckError.at(
            "--database",
            "names no folder with a release",
            hint="a release in Spark's catalog is verified with the session that sees it",
        )
    folder = Path(given).resolve()
    files = population_files(policy)
    with own_connection(None, files=files, writable=(folder,), limits=limits) as plain:
        engine = FolderEngine(plain.connection, owns_connection=True, catalog=SCRATCH)
        found: dict[Table, Manifest] = {}
        own = [Names.of(policy, "")] if policy is not None else []
        for names in dict.fromkeys((*own, *_all_of(folder))):
            target = ParquetTarget(names, folder)
            manifest = _manifest(target)
            view = names.view(SCRATCH)
            engine.raw(f"create schema if not exists {ident(Table(names.schema))}", "release")
            engine.raw(f"create view {ident(view)} as from {rows_in(target.rows)}", "release")
            found[view] = manifest
        if not found:
            raise NothingToCheckError.at("--database", "holds no release of this tool")
        yield PublishedFolder(engine, found, folder)


def strange_files(folder: Path, manifests: Iterable[Table]) -> Iterator[Path]:
    """Files in the folders of releases that are not their Parquet files."""
    known = _rows_of(folder, manifests)
    for rows in known:
        yield from (path for path in sorted(rows.iterdir()) if not _is_of_rows(path))


def _rows_of(folder: Path, manifests: Iterable[Table]) -> list[Path]:
    return [ParquetTarget(Names(v.schema or "main", v.name, ""), folder).rows for v in manifests]


def _is_of_rows(path: Path) -> bool:
    """Return whether a file holds rows, or is the empty one that Spark writes beside them."""
    if path.name == "_SUCCESS":
        return path.is_file() and not path.stat().st_size
    return path.name.endswith(".parquet") and path.is_file()


def _all_of(folder: Path) -> list[Names]:
    """The releases of all manifests. Raises NothingToCheckError for files beside manifests that are
    none, or are of a release that stands elsewhere: nobody could tell what they are of.
    """
    found: list[Names] = []
    strange: list[Path] = []
    for file in sorted(folder.glob("*.manifest.json")):
        try:
            schema, name = json.loads(read_beside(file))["view"].split(".", 1)
            names = Names(schema, name, "")
        except (AttributeError, LookupError, OSError, RecursionError, TypeError, ValueError):
            strange.append(file)
        else:
            own = ParquetTarget(names, folder).manifest_file == file
            found += [names] if own else []
            strange += [] if own else [file]
    if found:
        NothingToCheckError.refuse(
            Problem(
                "manifest",
                f"{file.name} cannot be read, or names another release",
                hint="it was changed after it was published, or belongs into another folder",
            )
            for file in strange
        )
    return found


def _has_several(manifest: Manifest) -> bool:
    """Return whether a release has several tables, or counts with the tables that prove them."""
    return released_tables(manifest) is not None or WITNESS in manifest.layout.tables


def _manifest(target: ParquetTarget) -> Manifest:
    signature = signature_file(target.manifest_file)
    try:
        text = read_beside(target.manifest_file)
        signed = read_beside(signature).strip() if os.path.lexists(signature) else None
        manifest = parsed(text, signed)
    except (OSError, ValueError) as error:
        raise no_manifest() from error
    if not target.rows.is_dir():
        raise NothingToCheckError.at("release", f"there is no folder {target.rows.name}")
    return manifest


@dataclass(frozen=True, slots=True)
class PublishedInCatalog:
    """Releases in Spark's catalog, verified on Spark."""

    engine: SparkEngine
    unlisted: ClassVar[tuple[str, ...]] = ()

    def views(self, policy: Policy | None) -> list[Table]:
        found = self._views(policy)
        manifests = {view: self.manifest(view) for view in found}
        self.engine.published = tuple(
            table for view, of in manifests.items() for table in names_of(view, of).published(None)
        )
        self.engine.beside = any(map(_has_several, manifests.values()))
        return found

    def _views(self, policy: Policy | None) -> list[Table]:
        spark = self.engine.spark
        if policy is not None:
            return [in_catalog(Names.of(policy, ""), spark).view(None)]
        schema = spark.catalog.currentDatabase()
        found = names_in(spark, schema)
        kept = (name.removesuffix("_manifest") for name in found if name.endswith("_manifest"))
        views = [Table(name, schema) for name in kept if name in found]
        return [view for view in views if OF in properties(spark, view)]

    def manifest(self, view: Table) -> Manifest:
        spark = self.engine.spark
        kept = Table(f"{view.name}_manifest", view.schema)
        if not spark.catalog.tableExists(name_in_spark(kept)):
            raise no_manifest()
        found = spark.table(name_in_spark(kept))
        rows = found.limit(2).collect()
        if len(rows) != 1:
            raise several_manifests()
        (row,) = rows
        return parsed(row[0], row[1] if "signature" in found.columns else None)

    def changes(self, view: Table, manifest: Manifest, *, alone: bool) -> Iterator[Problem]:
        del alone
        names = names_of(view, manifest)
        listed = [*catalog_objects(self.engine, names), manifest_object(names, manifest)]
        yield from object_problems(seal_of(manifest), listed)
