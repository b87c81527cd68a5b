"""Solves parts of a large table on the executors; the driver holds only the tree of cuts.

Spark writes the distinct tuples in the order of the leaves. The executor that solves a part reads
its tuples from these files, and writes its classes to a file, which Spark then reads.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from anonymizer.compile import ident, lit, work
from anonymizer.engines.base import Elsewhere, Limits
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.part import ATTEMPT, Recipe, attached
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.spark import failures
from anonymizer.engines.spark.tables import SparkTables
from anonymizer.steps import Parts, Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LARGE_FROM = 500_000
"""Number of distinct tuples above which they stay in files, and use no memory of the driver."""
TUPLES = "tuples"
UNITS = "units"
AGGREGATED = frozenset({"leaves_of_cuts", "boxes"})
"""Small tables that are computed from all units: on Spark if the units are there."""


def executors(spark: SparkSession) -> Elsewhere:
    """The executors, which solve as many parts at a time as they have cores."""
    context = spark.sparkContext

    def run(task: Callable[[], None]) -> None:
        with failures.translated("parts"):
            context.parallelize([0], 1).foreach(lambda _: task())

    return Elsewhere(context.defaultParallelism, run)


@dataclass(frozen=True, slots=True)
class Spread:
    """The files from which executors solve the parts of a stage, and to which they write."""

    tables: SparkTables
    stage: Parts
    views: Mapping[str, str]
    """Work tables from which a part is taken, by name, each as a query over files."""
    files: tuple[Path, ...]
    folder: Path
    """The folder to which classes are written."""

    @classmethod
    def of(cls, tables: SparkTables, stage: Parts) -> Spread:
        """Write the tables that the parts need to files, including small tables that all share."""
        recipe = Recipe.of(stage)
        whole = {table.name for table in recipe.needed if table not in stage.taken}
        taken = [stage.taken[t].statement().reads for t in recipe.needed if t in stage.taken]
        names = sorted(whole | {name.rpartition(".")[2] for reads in taken for (name,) in reads})
        for name in names:
            tables.to_spark(name)
        folder = tables.new_file("classes")
        folder.mkdir(mode=0o700)
        files = tuple(path for name in names for path in tables.listed(name))
        return cls(tables, stage, {n: tables.reading(n) for n in names}, files, folder)

    def task(self, part: Row, limits: Limits) -> Callable[[], None]:
        """A function that solves a part in another process."""
        given = (self.stage, tuple(part), dict(self.views), self.files, self._file(part), limits)
        return partial(solve_from_files, *given)

    def gather(self, parts: list[Row]) -> None:
        """Combine the classes of all parts in one work table."""
        self.tables.adopt(self.stage.result.name, [self._file(part) for part in parts])

    def _file(self, part: Row) -> Path:
        return self.folder / f"{part[0]}.parquet"


def solve_from_files(
    stage: Parts,
    part: Row,
    views: Mapping[str, str],
    files: tuple[Path, ...],
    result: Path,
    limits: Limits,
) -> None:
    """Solve one part in a process that shares no state with the run.

    As in `solve_alone`, two processes may work on the same part.
    """
    recipe = Recipe.of(stage)
    with TemporaryDirectory(prefix=ATTEMPT, dir=result.parent) as own:
        folder = Path(own)
        taken, classes = folder / "part.duckdb", folder / "classes.parquet"
        with _engine(folder, limits, files) as engine:
            for name, query in views.items():
                engine.raw(f"create view {ident(work(name))} as {query}", stage.name)
            recipe.hand_over(engine, part, taken)
        shutil.rmtree(folder / "spilled", ignore_errors=True)
        recipe.solve(taken, limits, lambda _: None)
        with _engine(folder, limits) as engine, attached(engine, taken, read_only=True):
            query = recipe.classes(part)
            engine.raw(f"copy ({query}) to {lit(str(classes))} (format parquet)", stage.name)
        classes.replace(result)


def _engine(
    folder: Path, limits: Limits, files: tuple[Path, ...] = ()
) -> AbstractContextManager[DuckDBEngine]:
    return own_connection(None, spill=folder, files=files, writable=(folder,), limits=limits)
