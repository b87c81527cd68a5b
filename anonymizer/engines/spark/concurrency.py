"""Concurrent queries, parts solved on the executors, and verification in a single pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from anonymizer.compile import ident, lit, work
from anonymizer.engines.base import ComparedTables, Limits, RemoteProcesses
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.partition_workers import ATTEMPT, Recipe, attach_part
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.spark import failures
from anonymizer.engines.spark.tables import (
    COPIES,
    SparkTables,
    is_remote,
    parquet,
    quote_name,
)
from anonymizer.steps import Parts, Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Solves parts of a large table on the executors; the driver holds only the tree of cuts.
#
# Spark writes the distinct tuples in the order of the leaves. The executor that solves a part reads
# its tuples from these files, and writes its classes to a file, which Spark then reads.


LARGE_FROM = 500_000
"""Number of distinct tuples above which they stay in files, and use no memory of the driver."""
TUPLES = "tuples"
UNITS = "units"
ROWS_OF_A_RANGE = 100_000
"""Enough for every core of a cluster to get some."""
AGGREGATED = frozenset({"leaves_of_cuts", "boxes"})
"""Small tables that are computed from all units: on Spark if the units are there."""


def executors(spark: SparkSession) -> RemoteProcesses:
    """The executors, which solve as many parts at a time as they have cores."""
    if is_remote(spark):
        return _executors_of_a_server(spark)
    context = spark.sparkContext

    def run(task: Callable[[], None]) -> None:
        with failures.translate_errors("parts"):
            context.parallelize([0], 1).foreach(lambda _: task())

    return RemoteProcesses(context.defaultParallelism, run)


def _executors_of_a_server(spark: SparkSession) -> RemoteProcesses:
    """Those of a server behind Spark Connect, which runs functions of batches of rows only."""
    from pyspark.sql.functions import spark_partition_id

    # as many partitions as the executors have cores, unless the server is configured otherwise
    many = spark.range(ROWS_OF_A_RANGE).select(spark_partition_id()).distinct().count()

    def run(task: Callable[[], None]) -> None:
        def solve(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                task()
                yield batch

        with failures.translate_errors("parts"):
            spark.range(0, 1, 1, 1).mapInArrow(solve, "id bigint").collect()

    return RemoteProcesses(many, run)


@dataclass(frozen=True, slots=True)
class ExecutorFiles:
    """The files from which executors solve the parts of a stage, and to which they write."""

    tables: SparkTables
    stage: Parts
    views: Mapping[str, str]
    """Work tables from which a part is taken, by name, each as a query over files."""
    files: tuple[Path, ...]
    folder: Path
    """The folder to which classes are written."""

    @classmethod
    def of(cls, tables: SparkTables, stage: Parts) -> ExecutorFiles:
        """Write the tables that the parts need to files, including small tables that all share."""
        recipe = Recipe.of(stage)
        whole = {table.name for table in recipe.needed if table not in stage.taken}
        taken = [stage.taken[t].statement().reads for t in recipe.needed if t in stage.taken]
        names = sorted(whole | {name.rpartition(".")[2] for reads in taken for (name,) in reads})
        for name in names:
            tables.to_spark(name)
        folder = tables.new_file("classes")
        folder.mkdir(mode=0o700)
        files = tuple(path for name in names for path in tables.files_of(name))
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
        with _engine(folder, limits) as engine, attach_part(engine, taken, read_only=True):
            query = recipe.classes(part)
            engine.raw(f"copy ({query}) to {lit(str(classes))} (format parquet)", stage.name)
        classes.replace(result)


def _engine(
    folder: Path, limits: Limits, files: tuple[Path, ...] = ()
) -> AbstractContextManager[DuckDBEngine]:
    return own_connection(None, spill=folder, files=files, writable=(folder,), limits=limits)


# Verifies published rows, staged rows and originals in one pass: Spark counts, DuckDB judges.
#
# Staged rows are joined with originals, the published rows are appended, and equal tuples are
# counted: one scan of each table, in one job. DuckDB then sees the same rows as Spark, under other
# references: a query uses a reference only to join a staged row with its original.


ROWS_UP_TO = 20_000_000
"""Number of rows up to which this is done: DuckDB expands the counts to all rows."""
TUPLES_UP_TO = 5_000_000
"""Number of distinct tuples of published cells and originals up to which this is done."""
RELEASE_TUPLES = "judged_together"

_SIDE, _STAGED, _ORIGINAL, _ID = (f"anonymizer:{n}" for n in ("side", "staged", "of", "id"))
_PUBLISHED, _LINKED = 0, 1


def answer_together(tables: SparkTables, compared: ComparedTables) -> bool:
    """Make the rows available in DuckDB; False if they are too many, or references are not unique.

    In that case Spark runs the queries, one by one, on the rows themselves.
    """
    staged = tables.rows_of(compared.staged)
    originals = tables.rows_of(compared.originals)
    if max(staged, originals) > ROWS_UP_TO:
        return False
    if originals > TUPLES_UP_TO and tables.in_duckdb("units") > TUPLES_UP_TO:
        return False
    path = tables.new_file(RELEASE_TUPLES)
    _tuple_counts(tables, compared).write.parquet(str(path))
    return _create_views(tables, compared, path, staged, originals)


def _tuple_counts(tables: SparkTables, compared: ComparedTables) -> DataFrame:
    """The distinct tuples of side, published cells and originals, each with its number of rows."""
    from pyspark.sql import functions as f

    published = tables.spark.table(tables.view(compared.published))
    cells = published.columns
    staged = tables.spark.table(tables.view(compared.staged))
    originals = tables.spark.table(tables.view(compared.originals)).select(
        f.col(compared.reference), *(f.col(c).alias(_original(c)) for c in compared.columns)
    )
    staged = staged.select(compared.reference, *map(quote_name, cells), f.lit(True).alias(_STAGED))
    originals = originals.withColumn(_ORIGINAL, f.lit(True))
    joined = staged.join(originals, compared.reference, "full_outer").drop(compared.reference)
    both = joined.withColumn(_SIDE, f.lit(_LINKED)).unionByName(
        published.withColumn(_SIDE, f.lit(_PUBLISHED)), allowMissingColumns=True
    )
    counted = both.groupBy(*map(quote_name, both.columns)).agg(f.count(f.lit(1)).alias(COPIES))
    return counted.withColumn(_ID, f.monotonically_increasing_id())


def _create_views(
    tables: SparkTables, compared: ComparedTables, path: Path, staged: int, originals: int
) -> bool:
    """Create views of the three tables in DuckDB; False if the join shows repeated references."""
    files, side, copies = parquet([path]), ident(_SIDE), ident(COPIES)
    with_staged, with_original = ident(_STAGED), ident(_ORIGINAL)
    ((tuples, pairs, alone, left),) = tables.duckdb.raw(
        f"select count(*), sum({copies}) filter ({with_staged} and {with_original}),"
        f" sum({copies}) filter ({with_staged} and {with_original} is null),"
        f" sum({copies}) filter ({with_staged} is null and {with_original})"
        f" from {files}",
        RELEASE_TUPLES,
    )
    pairs, alone, left = int(pairs or 0), int(alone or 0), int(left or 0)
    if tuples > TUPLES_UP_TO or pairs + alone != staged or pairs + left != originals:
        return False
    listed = ", ".join(ident(c).text for c in tables.columns(compared.published))
    values = ", ".join(f"{ident(_original(c))} as {ident(c)}" for c in compared.columns)
    # (a reference is a number that is unique in its table)
    reference = (
        f"cast({ident(_ID)} as hugeint) * 4294967296 + unnest(range({copies}))"
        f" as {ident(compared.reference)}"
    )
    for name, query in {
        compared.published: f"select {listed} from (select {listed}, unnest(range({copies}))"
        f" from {files} where {side} = {_PUBLISHED})",
        compared.staged: f"select {reference}, {listed} from {files} where {with_staged}",
        compared.originals: f"select {reference}{', ' * bool(values)}{values}"
        f" from {files} where {with_original}",
    }.items():
        tables.duckdb.raw(f"create or replace view {ident(work(name))} as {query}", name)
    return True


def _original(column: str) -> str:
    return f"anonymizer:original {column}"
