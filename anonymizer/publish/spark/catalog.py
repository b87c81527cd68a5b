"""Publishing into Spark's catalog: a view over a frozen table, and a view with the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from anonymizer.compile import Table
from anonymizer.engines.base import Engine, frame_of
from anonymizer.engines.spark import failures
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.engines.spark.tables import (
    duckdb_type,
    name_in_spark,
    names_in,
    rows_of,
)
from anonymizer.errors import TargetError
from anonymizer.process.interrupts import decide
from anonymizer.publish.spark.parquet import verify_in_duckdb
from anonymizer.publish.spark.switch import OF, RUN, Switch, is_view, properties, run_of, show, text
from anonymizer.publish.target import Readers, StagedTarget, replaced_release
from anonymizer.release.integrity import (
    Columns,
    RowsDigest,
    SealedObject,
    Sign,
    sealed_in,
)
from anonymizer.release.manifest import Manifest
from anonymizer.release.objects import Names, ObjectEntry

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

NOT_SEEN = (
    "the release was verified on Spark only: DuckDB cannot reach its files from here. Check it"
    " with the SQL of the manifest."
)


SORTED = "spark-sorted-1"
"""SHA-256 of rows as JSON, sorted; otherwise like DuckDB's digests of unordered rows."""


@dataclass(slots=True)
class CatalogTarget(StagedTarget):
    """A release in Spark's catalog: a view over the frozen rows, and a view with the manifest."""

    names: Names
    spark: SparkSession
    _building: bool = field(default=False)

    @property
    def readers(self) -> Readers:
        return Readers(self.names.view(None), frame=self.frame)

    def frame(self) -> pd.DataFrame:
        """The published rows, read back."""
        rows = self.spark.table(name_in_spark(self.names.view(None)))
        columns = [(c.name, duckdb_type(c.dataType.simpleString())) for c in rows.schema]
        return frame_of(columns, rows_of(rows))

    def check(self, engine: Engine) -> None:
        """Raise TargetError if a table or view of that name was not created by this tool."""
        if not self.spark.catalog.databaseExists(self.names.schema):
            raise TargetError.at(
                "publish.schema",
                "is not a database of Spark's catalog",
                hint="create it, or name one that exists",
            )
        for table in (*self.names.published(None), self.names.manifest(None)):
            if self._exists(table) and properties(self.spark, table).get(OF) != self.names.release:
                raise TargetError.at(
                    "publish.name",
                    f"{self.names.schema}.{table.name} exists and was not published by this tool",
                    hint="choose another publish.name or publish.schema",
                )
        assert isinstance(engine, SparkEngine)
        view = self.names.view(None)
        if self._exists(view):
            made = ObjectEntry(
                self.names.release,
                self.names.schema,
                view.name,
                "view",
                run_of(self.spark, view),
            )
            self.replaces = replaced_release(
                self.names, [made], "Spark's catalog", keeps_ledger=False
            )
        self._building = True
        for staged, table in zip(("staged", *self._further), self._frozen, strict=True):
            engine.place_at(staged, name_in_spark(table), self._remove)

    @property
    def _further(self) -> list[str]:
        """The work tables of the further tables, in the order of the published."""
        return [table.name for table in self.staged.values()]

    @property
    def _frozen(self) -> tuple[Table, ...]:
        """The frozen rows of the view and of every further table, in the order of the published."""
        return tuple(self.names.frozen.values())

    def _exists(self, table: Table) -> bool:
        return bool(self.spark.catalog.tableExists(name_in_spark(table)))

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Verify the frozen table's files on DuckDB if it can read them, then replace the views."""
        assert isinstance(engine, SparkEngine)
        with failures.translate_rest("publish"):
            return self._replace(engine, manifest, sign)

    def _replace(self, engine: SparkEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        names = self.names
        rows, *further = map(self._files, self._frozen)
        if rows is None or None in further:
            self.warnings = (*self.warnings, NOT_SEEN)
        else:
            known = {n: file for n, file in zip(names.tables, further, strict=True) if file}
            verify_in_duckdb(rows, manifest, engine.duckdb.limits, known)
        marks = {OF: names.release, RUN: names.run_id}
        listed = ", ".join(f"{text(name)} = {text(value)}" for name, value in marks.items())
        for table in self._frozen:
            self.spark.sql(f"alter table {name_in_spark(table)} set tblproperties ({listed})")
        found = catalog_objects(engine, names, frozen=names.frozen)
        manifest = sealed_in(manifest, names, found, alone=False, sign=sign)
        written = f"{text(manifest.text())} as manifest"
        if manifest.signature is not None:
            written += f", {text(manifest.signature)} as signature"
        decide()
        switch = Switch(self.spark, names, self._frozen)
        self._building = False  # what a view may read is not dropped, whatever happens
        try:
            with switch.done():
                show(self.spark, names.manifest(None), (f"select {written}", marks))
        except BaseException:
            self._building = True
            raise
        self.is_published = True
        self._drop_older(switch.united)
        return manifest

    def _files(self, table: Table) -> Path | None:
        """The folder of a table's files, if this machine can read it."""
        rows = self.spark.sql(f"describe extended {name_in_spark(table)}").collect()
        found = next((str(row[1]) for row in rows if row[0] == "Location"), "")
        address = urlparse(found)
        path = Path(unquote(address.path))
        return path if address.scheme in ("", "file") and path.is_dir() else None

    def _drop_older(self, united: Table) -> None:
        """Remove what earlier runs of this release left: frozen rows, and views of other parts."""
        names = self.names
        kept = {t.name for t in (*self._frozen, *names.published(None), names.manifest(None))}
        kept |= {united.name} if names.tables else set()
        ours = (f"_{names.name}_", f"{names.name}_", *(f"_{name}_" for name in names.tables))
        for name in names_in(self.spark, names.schema):
            if name.startswith(ours) and name not in kept:
                table = Table(name, names.schema)
                if properties(self.spark, table).get(OF) == names.release:
                    kind = "view" if is_view(self.spark, table) else "table"
                    self.spark.sql(f"drop {kind} {name_in_spark(table)}")

    def _remove(self) -> None:
        """Remove the frozen rows of a run that did not publish."""
        for table in self._frozen if self._building else ():
            self.spark.sql(f"drop table if exists {name_in_spark(table)}")


def catalog_objects(
    engine: SparkEngine, names: Names, *, frozen: Mapping[str, Table] | None = None
) -> tuple[SealedObject, ...]:
    """The frozen rows, the view and the further tables of a release, without its manifest.

    `frozen`: where the rows are that these will read, which do not exist yet.
    """
    found: list[SealedObject] = []
    for item in names.entries():
        if item.kind == "manifest":
            continue
        if frozen is not None and item.kind == "view":
            found.append(replace(found[0], name=item.name, kind=item.kind))
            continue
        table = (frozen or {}).get(item.name, Table(item.name, item.schema))
        columns, rows = _columns(engine.spark, table), _rows_digest(engine.spark, table)
        found.append(SealedObject(item.schema, item.name, item.kind, columns, rows=rows))
    return tuple(found)


def _columns(spark: SparkSession, table: Table) -> Columns:
    fields = spark.table(name_in_spark(table)).schema.fields
    return tuple((field.name, field.dataType.simpleString()) for field in fields)


def _rows_digest(spark: SparkSession, table: Table) -> RowsDigest:
    """The digest of rows as JSON, with all digits of times and explicit NULLs."""
    form = "yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS"
    options = f"'timestampFormat', '{form}XXX', 'timestampNTZFormat', '{form}'"
    row = spark.sql(
        "select coalesce(sum(n), 0), sha2(coalesce(array_join(transform(array_sort("
        "collect_list(struct(block, digest))), x -> x.digest), ''), ''), 256) from ("
        " select substr(line, 1, 3) as block, count(*) as n,"
        " sha2(array_join(array_sort(collect_list(line)), ''), 256) as digest from ("
        f" select sha2(to_json(struct(*), map({options}, 'ignoreNullFields', 'false')), 256)"
        f" as line from {name_in_spark(table)}) group by substr(line, 1, 3))"
    ).collect()[0]
    return RowsDigest(int(row[0]), str(row[1]), SORTED)


def in_catalog(names: Names, spark: SparkSession) -> Names:
    """The names, with the session's current database for `main`, the default schema of a policy."""
    if names.schema == "main" and not spark.catalog.databaseExists("main"):
        return replace(names, schema=spark.catalog.currentDatabase())
    return names
