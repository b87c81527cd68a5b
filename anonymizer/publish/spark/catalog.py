"""Publishing into Spark's catalog: a view over a frozen table, and a view with the manifest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    quote_name,
    rows_of,
)
from anonymizer.errors import TargetError
from anonymizer.process.interrupts import decide
from anonymizer.publish.spark.parquet import verify_in_duckdb
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
RUN = "anonymizer.run_id"


OF = "anonymizer.release"


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
        for table in (self.names.view(None), self.names.manifest(None)):
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
                properties(self.spark, view).get(RUN, "?"),
            )
            self.replaces = replaced_release(
                self.names, [made], "Spark's catalog", keeps_ledger=False
            )
        rows = name_in_spark(self.names.rows(None))
        self._building = True
        engine.place_at("staged", rows, self._remove)

    def _exists(self, table: Table) -> bool:
        return bool(self.spark.catalog.tableExists(name_in_spark(table)))

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Verify the frozen table's files on DuckDB if it can read them, then replace the views."""
        assert isinstance(engine, SparkEngine)
        with failures.translate_rest("publish"):
            return self._replace(engine, manifest, sign)

    def _replace(self, engine: SparkEngine, manifest: Manifest, sign: Sign | None) -> Manifest:
        rows = self.names.rows(None)
        files = self._files(rows)
        if files is None:
            self.warnings = (*self.warnings, NOT_SEEN)
        else:
            verify_in_duckdb(files, manifest, engine.duckdb.limits)
        marks = _marks(self.names.release, self.names.run_id)
        self.spark.sql(f"alter table {name_in_spark(rows)} set tblproperties ({marks})")
        columns = ", ".join(quote_name(c) for c in self.spark.table(name_in_spark(rows)).columns)
        found = catalog_objects(engine, self.names, frozen_only=True)
        manifest = sealed_in(manifest, self.names, found, alone=False, sign=sign)
        written = f"{_text(manifest.text())} as manifest"
        if manifest.signature is not None:
            written += f", {_text(manifest.signature)} as signature"
        decide()
        with self._shown(f"select {columns} from {name_in_spark(rows)}", marks):
            self._view(self.names.manifest(None), f"select {written}", marks)
        self.is_published = True
        self._drop_older()
        return manifest

    @contextmanager
    def _shown(self, query: str, marks: str) -> Iterator[None]:
        """Let the view read the new rows; if the block fails, it reads the old ones as before."""
        view = self.names.view(None)
        before = self._definition(view) if self._exists(view) else None
        self._building = False  # what the view may read is not dropped, whatever happens
        try:
            self._view(view, query, marks)
            yield
        except BaseException:
            with suppress(Exception):  # a session that has ended leaves the view as it is
                if before is None:
                    self.spark.sql(f"drop view if exists {name_in_spark(view)}")
                else:
                    self._view(view, *before)
                self._building = True
            raise

    def _definition(self, view: Table) -> tuple[str, str]:
        """The query of a view of this tool, and its marks."""
        found = properties(self.spark, view)
        old = Table(f"_{view.name}_{found[RUN]}", view.schema)
        columns = ", ".join(quote_name(c) for c in self.spark.table(name_in_spark(view)).columns)
        return f"select {columns} from {name_in_spark(old)}", _marks(found[OF], found[RUN])

    def _view(self, view: Table, query: str, marks: str) -> None:
        self.spark.sql(
            f"create or replace view {name_in_spark(view)} tblproperties ({marks}) as {query}"
        )

    def _files(self, table: Table) -> Path | None:
        """The folder of a table's files, if this machine can read it."""
        rows = self.spark.sql(f"describe extended {name_in_spark(table)}").collect()
        found = next((str(row[1]) for row in rows if row[0] == "Location"), "")
        address = urlparse(found)
        path = Path(unquote(address.path))
        return path if address.scheme in ("", "file") and path.is_dir() else None

    def _drop_older(self) -> None:
        """Remove the frozen rows of earlier runs of this release."""
        start = f"_{self.names.name}_"
        for name in names_in(self.spark, self.names.schema):
            table, run_id = Table(name, self.names.schema), name.removeprefix(start)
            ours = name.startswith(start) and len(run_id) == len(self.names.run_id)
            if ours and run_id != self.names.run_id:
                marks = properties(self.spark, table)
                if marks.get(OF) == self.names.release and marks.get(RUN) == run_id:
                    self.spark.sql(f"drop table {name_in_spark(table)}")

    def _remove(self) -> None:
        """Remove the frozen rows of a run that did not publish."""
        if self._building:
            self.spark.sql(f"drop table if exists {name_in_spark(self.names.rows(None))}")


def catalog_objects(
    engine: SparkEngine, names: Names, *, frozen_only: bool = False
) -> tuple[SealedObject, ...]:
    """The frozen table and the view of a release; `frozen_only`: the view does not exist yet."""
    rows, view = names.rows(None), names.view(None)
    columns = _columns(engine.spark, rows)
    digest = _rows_digest(engine.spark, rows)
    shown = columns if frozen_only else _columns(engine.spark, view)
    seen = digest if frozen_only else _rows_digest(engine.spark, view)
    return (
        SealedObject(names.schema, rows.name, "rows", columns, rows=digest),
        SealedObject(names.schema, view.name, "view", shown, rows=seen),
    )


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


def properties(spark: SparkSession, table: Table) -> dict[str, str]:
    """The properties of a table or view, including the release it belongs to."""
    rows = spark.sql(f"show tblproperties {name_in_spark(table)}").collect()
    return {str(row[0]): str(row[1]) for row in rows}


def _marks(release: str, run_id: str) -> str:
    """The properties by which the objects of a release are known."""
    return f"{_text(OF)} = {_text(release)}, {_text(RUN)} = {_text(run_id)}"


def _text(value: str) -> str:
    """A text as a Spark SQL literal."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
