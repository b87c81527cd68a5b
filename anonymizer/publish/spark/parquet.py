"""Publishing from Spark: built separately, verified by Spark and by DuckDB, then moved into place.

A release is a folder of Parquet files with a separate manifest, or a view over a frozen table in
Spark's catalog, with the manifest in another view.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from anonymizer.compile import Sql, Table, ident, one_file, work
from anonymizer.engines.base import Engine, Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.errors import TargetError
from anonymizer.process.interrupts import decide
from anonymizer.publish.target import Readers, StagedTarget
from anonymizer.release.formats import in_frame
from anonymizer.release.integrity import SealedObject, Sign, sealed, sorted_rows
from anonymizer.release.judge import judge, refuse_unless_passed
from anonymizer.release.manifest import Manifest, manifest_file, write_manifest_file
from anonymizer.release.objects import Names
from anonymizer.verification.guarantees import of_population, of_source

if TYPE_CHECKING:
    import pandas as pd


NONE: Mapping[str, Path] = MappingProxyType({})
PLACE = "look at free space and permissions in its folder, and run again"


def rows_in(folder: Path) -> Sql:
    """The rows of a folder of Parquet files: the columns of all files, and none of its path."""
    files = one_file(folder, files="*.parquet")
    return Sql(f"read_parquet({files}, union_by_name = true, hive_partitioning = false)")


@contextmanager
def _open_folder(
    folder: Path, limits: Limits, further: Mapping[str, Path] = NONE
) -> Iterator[tuple[DuckDBEngine, Table]]:
    """The rows of a folder of Parquet files, in a new DuckDB that can read nothing else.

    `further`: the folders of further tables of the release, by their names.
    """
    with own_connection(None, writable=(folder, *further.values()), limits=limits) as engine:
        view = work("release")
        for table, rows in {view: folder, **{work(n): rows for n, rows in further.items()}}.items():
            engine.raw(f"create view {ident(table)} as from {rows_in(rows)}", "release")
        yield engine, view


def verify_in_duckdb(
    folder: Path, manifest: Manifest, limits: Limits, further: Mapping[str, Path] = NONE
) -> None:
    """Verify Parquet files in a new DuckDB that can read nothing else.

    Checks that need a population or the source were made in the run, and are not repeated. Raises
    GuaranteeError if a check fails.
    """
    answered = (*of_population(manifest.requirements), *of_source(manifest.requirements))
    asked = tuple(item for item in manifest.requirements if item not in answered)
    if not asked and answered:
        return
    with _open_folder(folder, limits, further) as (engine, view):
        found = judge(engine, view, manifest.layout, asked)
    refuse_unless_passed(found)


def files_object(names: Names, folder: Path, limits: Limits) -> SealedObject:
    """The rows of a folder of Parquet files, which are unordered, as DuckDB reads them."""
    with _open_folder(folder, limits) as (engine, view):
        return relation_object(engine, names, view)


def relation_object(engine: DuckDBEngine, names: Names, relation: Table) -> SealedObject:
    """Like `files_object`, for files that a DuckDB view reads."""
    columns = tuple(engine.describe(ident(relation).text, "seal"))
    rows = sorted_rows(engine, relation, columns)
    return SealedObject(names.schema, names.name, "view", columns, rows=rows)


def _open(built: Path) -> None:
    """Give files that a JVM wrote for nobody else the mode of the user's new files."""
    usual = built / ".mode"
    usual.mkdir()
    mode = usual.stat().st_mode & 0o777
    usual.rmdir()
    for path in built.iterdir():
        path.chmod(mode & 0o666)
    built.chmod(mode)


@contextmanager
def moved_into_place(built: Path, place: Path) -> Iterator[None]:
    """Make the built folder the published one; an old release is removed after the block.

    If the system can exchange two folders, readers see the old release or the new one; elsewhere
    they find none for a moment. If the block fails, everything is where it was.
    """
    old = built.with_name(f"{built.name}.old")
    _move(built, place, old)
    try:
        yield
    except BaseException:
        if old.exists():
            _move(old, place, built)
        else:
            place.rename(built)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _move(built: Path, place: Path, old: Path) -> None:
    """Put a folder into a place; what was there becomes `old`."""
    if not place.exists():
        built.rename(place)
    elif _exchange(built, place):
        built.rename(old)
    else:
        place.rename(old)
        try:
            built.rename(place)
        except BaseException:
            old.rename(place)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically, if the system can (Linux)."""
    import ctypes

    here, exchange = -100, 2
    try:
        call = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError):
        return False
    return bool(call(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


@dataclass(slots=True)
class ParquetTarget(StagedTarget):
    """A folder in which every release is a folder of Parquet files and a manifest."""

    names: Names
    folder: Path

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

    @property
    def readers(self) -> Readers:
        return Readers(self.names.view(None), frame=self.frame)

    def frame(self) -> pd.DataFrame:
        """The published rows, read back."""
        import duckdb

        with duckdb.connect() as connection:
            query = in_frame("pandas", connection, rows_in(self.rows).text)
            frame: pd.DataFrame = connection.execute(query).df()
            return frame

    def check(self, engine: Engine) -> None:
        """Raise TargetError if the place cannot be used. The release will be built there."""
        where = "publish.database"
        if self.names.tables:
            said = "is a folder, where further tables cannot take their places in one step"
            raise TargetError.at(where, said, hint="leave it out: publish in the catalog")
        if not self.folder.parent.is_dir():
            raise TargetError.at(where, "is in a folder that does not exist")
        if self.folder.exists() and not self.folder.is_dir():
            raise TargetError.at(
                where, "is a file; from Spark a release is a folder of Parquet files"
            )
        writable = self.folder if self.folder.exists() else self.folder.parent
        if not os.access(writable, os.W_OK):
            raise TargetError.at(where, "is in a folder that cannot be written")
        if self.rows.exists() and not self.manifest_file.is_file():
            raise TargetError.at(
                where,
                f"holds {self.rows.name}, which this tool did not publish",
                hint="choose another publish.name or another folder",
            )
        assert isinstance(engine, SparkEngine)
        if self.rows.exists():
            place = f"{self.folder.name}/{self.rows.name}"
            self.replaces = (f"the release in {place} is replaced by the new one",)
        self.folder.mkdir(exist_ok=True)
        engine.place_at("staged", self.building, self._remove)

    def publish(self, engine: Engine, manifest: Manifest, sign: Sign | None = None) -> Manifest:
        """Verify the files again, on DuckDB, and make them the release."""
        assert isinstance(engine, SparkEngine)
        limits = engine.duckdb.limits
        verify_in_duckdb(self.building, manifest, limits)
        rows = files_object(self.names, self.building, limits)
        manifest = sealed(manifest, (rows,), alone=True, sign=sign)
        for path in self.building.glob(".*.crc"):
            path.unlink()
        if engine.owns_connection:
            _open(self.building)
        aside = self.manifest_file.with_name(f"{self.manifest_file.name}.{self.names.run_id}.tmp")
        decide()
        try:
            with moved_into_place(self.building, self.rows):
                write_manifest_file(self.manifest_file, manifest, aside)
        except OSError as error:
            with suppress(OSError):
                aside.unlink()
            said = f"the manifest cannot be written: {os.strerror(error.errno or 0)}"
            raise TargetError.at("publish.database", said, hint=PLACE) from error
        self.is_published = True
        return manifest

    def _remove(self) -> None:
        """Remove what was built unless it was published."""
        shutil.rmtree(self.building, ignore_errors=True)
