"""Releases that Spark published, opened to be judged again: folders need no Spark for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymizer.compile import Table, ident, lit
from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.engines.spark import SparkEngine
from anonymizer.engines.spark_target import OF, ParquetTarget, name_in_spark, names_in, properties
from anonymizer.errors import NothingToCheckError, Problem
from anonymizer.policy import Policy
from anonymizer.release.manifest import Manifest
from anonymizer.release.names import Names

CATALOG = "memory"


@dataclass(frozen=True, slots=True)
class PublishedFolder:
    """A folder of releases, each of them a view in a DuckDB of its own."""

    engine: DuckDBEngine
    manifests: dict[Table, Manifest]

    def views(self, policy: Policy | None) -> list[Table]:
        return list(self.manifests)

    def manifest(self, view: Table) -> Manifest:
        return self.manifests[view]


@contextmanager
def published_folder(policy: Policy | None, database: Any) -> Iterator[PublishedFolder]:
    """Open the releases of a folder. Raises NothingToCheckError where there is none."""
    import duckdb

    given = database
    if given is None and policy is not None and policy.publish.database is not None:
        given = policy.resolve(policy.publish.database)
    if given is None:
        raise NothingToCheckError(
            Problem(
                "--database",
                "names no folder with a release",
                hint="a release in Spark's catalog is verified with the session that sees it",
            )
        )
    folder = Path(given).resolve()
    with duckdb.connect() as connection:
        engine = DuckDBEngine(connection, owned=True, catalog=CATALOG)
        found: dict[Table, Manifest] = {}
        for names in [Names.of(policy, "")] if policy is not None else _all_of(folder):
            target = ParquetTarget(names, folder)
            manifest = _manifest(target)
            view = names.view(CATALOG)
            engine.raw(f"create schema if not exists {ident(Table(names.schema))}", "release")
            files = lit(str(target.rows / "*.parquet"))
            engine.raw(f"create view {ident(view)} as from read_parquet({files})", "release")
            found[view] = manifest
        if not found:
            raise NothingToCheckError(Problem("--database", "holds no release of this tool"))
        yield PublishedFolder(engine, found)


def _all_of(folder: Path) -> Iterator[Names]:
    for file in sorted(folder.glob("*.manifest.json")):
        try:
            schema, name = json.loads(file.read_text(encoding="utf-8"))["view"].split(".", 1)
        except (OSError, ValueError, KeyError):
            continue
        yield Names(schema, name, "")


def _manifest(target: ParquetTarget) -> Manifest:
    try:
        manifest = Manifest(json.loads(target.manifest_file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise NothingToCheckError(
            Problem("manifest", "is missing", hint="was the release made by this tool?")
        ) from error
    if not target.rows.is_dir():
        raise NothingToCheckError(Problem("release", f"there is no folder {target.rows.name}"))
    return manifest


@dataclass(frozen=True, slots=True)
class PublishedInCatalog:
    """Releases in Spark's catalog, judged on Spark."""

    engine: SparkEngine

    def views(self, policy: Policy | None) -> list[Table]:
        spark = self.engine.spark
        if policy is not None:
            names = Names.of(policy, "")
            if names.schema == "main" and not spark.catalog.databaseExists("main"):
                return [Table(names.name, spark.catalog.currentDatabase())]
            return [names.view(None)]
        schema = spark.catalog.currentDatabase()
        found = names_in(spark, schema)
        kept = (name.removesuffix("_manifest") for name in found if name.endswith("_manifest"))
        views = [Table(name, schema) for name in kept if name in found]
        return [view for view in views if OF in properties(spark, view)]

    def manifest(self, view: Table) -> Manifest:
        spark = self.engine.spark
        kept = Table(f"{view.name}_manifest", view.schema)
        if not spark.catalog.tableExists(name_in_spark(kept)):
            raise NothingToCheckError(
                Problem("manifest", "is missing", hint="was the release made by this tool?")
            )
        return Manifest(json.loads(spark.table(name_in_spark(kept)).collect()[0][0]))
