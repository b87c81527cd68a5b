"""Publishing from Spark: built aside, judged there, judged again by DuckDB, then moved into place.

A release is a folder of Parquet files with its manifest beside it, or a view over a frozen table in
Spark's catalog, with the manifest in a view of its own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from anonymizer.compile import Table, lit
from anonymizer.engines.duckdb import DuckDBEngine
from anonymizer.engines.spark import SparkEngine
from anonymizer.engines.spark_tables import rows_of
from anonymizer.errors import Problem, TargetError
from anonymizer.interrupts import decide
from anonymizer.release.judge import judge, refuse_unless_passed
from anonymizer.release.manifest import Manifest, manifest_file, write_manifest_file
from anonymizer.release.names import Names
from anonymizer.verify import Verification

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

NOT_SEEN = (
    "the release was verified on Spark only: DuckDB cannot reach its files from here. Check it"
    " with the SQL of the manifest."
)


def judged_by_duckdb(folder: Path, manifest: Manifest) -> Verification:
    """Judge Parquet files alone on a DuckDB that has seen nothing else.

    Raises GuaranteeError where a guarantee does not hold.
    """
    import duckdb

    with closing(duckdb.connect()) as connection:
        files = lit(str(folder / "*.parquet"))
        connection.execute(f"create view release as from read_parquet({files})").fetchall()
        engine = DuckDBEngine(connection, owned=True)
        view = Table("release", "main", "memory")
        found = judge(engine, view, manifest.layout, manifest.requirements)
    refuse_unless_passed(found)
    return found


def move_into_place(built: Path, place: Path) -> None:
    """Make the built folder the published one; an old release goes when the new one stands.

    A folder cannot be replaced in one step everywhere: where the system can exchange two folders,
    readers see the old release or the new one; elsewhere they find none for a moment.
    """
    old = built.with_name(f"{built.name}.old")
    if not place.exists():
        built.rename(place)
        return
    if not _exchange(built, place):
        place.rename(old)
        try:
            built.rename(place)
        except BaseException:
            old.rename(place)
            raise
    else:
        built.rename(old)
    shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step, where the system can (Linux)."""
    import ctypes

    here, exchange = -100, 2
    try:
        call = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    return bool(call(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


@dataclass(slots=True)
class ParquetTarget:
    """A folder in which every release is a folder of Parquet files and a manifest."""

    names: Names
    folder: Path
    warnings: tuple[str, ...] = ()

    @property
    def manifest_file(self) -> Path:
        return manifest_file(self.folder / "release", self.names)

    @property
    def rows(self) -> Path:
        """The published folder of files."""
        stem = self.manifest_file.name.removesuffix(".manifest.json")
        return self.folder / f"{stem}.parquet"

    @property
    def building(self) -> Path:
        return self.rows.with_name(f"{self.rows.name}.{self.names.run_id}.tmp")

    @property
    def place(self) -> Path:
        return self.folder

    def frame(self) -> pd.DataFrame:
        """The published rows, read back."""
        import duckdb

        with duckdb.connect() as connection:
            files = lit(str(self.rows / "*.parquet"))
            frame: pd.DataFrame = connection.execute(f"from read_parquet({files})").df()
            return frame

    def check(self, engine: SparkEngine) -> None:
        """Raises TargetError for a place that cannot be used; the release will be built there."""
        where = "publish.database"
        if not self.folder.parent.is_dir():
            raise TargetError(Problem(where, "is in a folder that does not exist"))
        if self.folder.exists() and not self.folder.is_dir():
            raise TargetError(
                Problem(where, "is a file; from Spark a release is a folder of Parquet files")
            )
        writable = self.folder if self.folder.exists() else self.folder.parent
        if not os.access(writable, os.W_OK):
            raise TargetError(Problem(where, "is in a folder that cannot be written"))
        if self.rows.exists() and not self.manifest_file.is_file():
            raise TargetError(
                Problem(
                    where,
                    f"holds {self.rows.name}, which this tool did not publish",
                    hint="choose another publish.name or another folder",
                )
            )
        self.folder.mkdir(exist_ok=True)
        engine.place_at("staged", self.building, self.discard)

    def publish(
        self,
        engine: SparkEngine,
        staged: Table,
        manifest: Manifest,
        tables: Mapping[str, Table] = MappingProxyType({}),
    ) -> None:
        """Judge the files once more, now on DuckDB, and make them the release."""
        judged_by_duckdb(self.building, manifest)
        for path in self.building.glob(".*.crc"):
            path.unlink()
        decide()
        move_into_place(self.building, self.rows)
        aside = self.manifest_file.with_name(f"{self.manifest_file.name}.{self.names.run_id}.tmp")
        write_manifest_file(self.manifest_file, manifest, aside)

    def discard(self) -> None:
        """Remove what was built and not published."""
        shutil.rmtree(self.building, ignore_errors=True)


RUN = "anonymizer.run_id"
OF = "anonymizer.release"


@dataclass(slots=True)
class CatalogTarget:
    """A database of Spark's catalog: a view over the frozen rows, and one with the manifest."""

    names: Names
    spark: SparkSession
    warnings: tuple[str, ...] = ()
    _building: bool = field(default=False)

    @property
    def place(self) -> Path | None:
        return None

    def frame(self) -> pd.DataFrame:
        """The published rows, read back."""
        import pandas as pd

        rows = self.spark.table(name_in_spark(self.names.view(None)))
        return pd.DataFrame(rows_of(rows), columns=rows.columns)

    def check(self, engine: SparkEngine) -> None:
        """Raises TargetError where a table or view of that name is not of this tool."""
        if not self.spark.catalog.databaseExists(self.names.schema):
            raise TargetError(
                Problem(
                    "publish.schema",
                    "is not a database of Spark's catalog",
                    hint="create it, or name one that exists",
                )
            )
        for table in (self.names.view(None), self.names.manifest(None)):
            if self._exists(table) and properties(self.spark, table).get(OF) != self.names.release:
                raise TargetError(
                    Problem(
                        "publish.name",
                        f"{self.names.schema}.{table.name} exists and was not published by this"
                        " tool",
                        hint="choose another publish.name or publish.schema",
                    )
                )
        rows = name_in_spark(self.names.rows(None))
        self._building = True
        engine.place_at("staged", rows, self.discard)

    def _exists(self, table: Table) -> bool:
        return bool(self.spark.catalog.tableExists(name_in_spark(table)))

    def publish(
        self,
        engine: SparkEngine,
        staged: Table,
        manifest: Manifest,
        tables: Mapping[str, Table] = MappingProxyType({}),
    ) -> None:
        """Judge the frozen table's files on DuckDB if it reaches them, then replace the views."""
        rows = self.names.rows(None)
        files = self._files(rows)
        if files is None:
            self.warnings = (*self.warnings, NOT_SEEN)
        else:
            judged_by_duckdb(files, manifest)
        marks = (
            f"{_text(OF)} = {_text(self.names.release)}, {_text(RUN)} = {_text(self.names.run_id)}"
        )
        self.spark.sql(f"alter table {name_in_spark(rows)} set tblproperties ({marks})")
        columns = ", ".join(_quoted(c) for c in self.spark.table(name_in_spark(rows)).columns)
        decide()
        self._view(self.names.view(None), f"select {columns} from {name_in_spark(rows)}", marks)
        literal = _text(manifest.text())
        self._view(self.names.manifest(None), f"select {literal} as manifest", marks)
        self._building = False
        self._drop_older()

    def _view(self, view: Table, query: str, marks: str) -> None:
        self.spark.sql(
            f"create or replace view {name_in_spark(view)} tblproperties ({marks}) as {query}"
        )

    def _files(self, table: Table) -> Path | None:
        """The folder of a table's files, where this machine sees it."""
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

    def discard(self) -> None:
        """Remove the frozen rows of a run that did not publish."""
        if self._building:
            self.spark.sql(f"drop table if exists {name_in_spark(self.names.rows(None))}")


def name_in_spark(table: Table) -> str:
    """A table of the catalog, as Spark's SQL writes it."""
    return ".".join(_quoted(part) for part in table.parts)


def names_in(spark: SparkSession, schema: str) -> list[str]:
    """The tables and views of a database, without temporary ones."""
    rows = spark.sql(f"show tables in {_quoted(schema)}").collect()
    return [str(row["tableName"]) for row in rows if not row["isTemporary"]]


def properties(spark: SparkSession, table: Table) -> dict[str, str]:
    """The properties of a table or view, among them whose release it is."""
    rows = spark.sql(f"show tblproperties {name_in_spark(table)}").collect()
    return {str(row[0]): str(row[1]) for row in rows}


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _text(value: str) -> str:
    """A text as a literal of Spark's SQL."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
