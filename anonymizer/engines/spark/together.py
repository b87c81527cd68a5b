"""Verifies published rows, staged rows and originals in one pass: Spark counts, DuckDB judges.

Staged rows are joined with originals, the published rows are appended, and equal tuples are
counted: one scan of each table, in one job. DuckDB then sees the same rows as Spark, under other
references: a query uses a reference only to join a staged row with its original.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.compile import ident, work
from anonymizer.engines.base import Compared
from anonymizer.engines.spark.names import quoted
from anonymizer.engines.spark.tables import COPIES, SparkTables, parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROWS_UP_TO = 20_000_000
"""Number of rows up to which this is done: DuckDB expands the counts to all rows."""
TUPLES_UP_TO = 5_000_000
"""Number of distinct tuples of published cells and originals up to which this is done."""
TUPLES = "judged_together"

_SIDE, _STAGED, _ORIGINAL, _ID = (f"anonymizer:{n}" for n in ("side", "staged", "of", "id"))
_PUBLISHED, _LINKED = 0, 1


def judged_together(tables: SparkTables, compared: Compared) -> bool:
    """Make the rows available in DuckDB; False if they are too many, or references are not unique.

    In that case Spark runs the queries, one by one, on the rows themselves.
    """
    staged = tables.written(compared.staged)
    originals = tables.written(compared.originals)
    if max(staged, originals) > ROWS_UP_TO:
        return False
    if originals > TUPLES_UP_TO and tables.in_duckdb("units") > TUPLES_UP_TO:
        return False
    path = tables.new_file(TUPLES)
    _counted(tables, compared).write.parquet(str(path))
    return _shown(tables, compared, path, staged, originals)


def _counted(tables: SparkTables, compared: Compared) -> DataFrame:
    """The distinct tuples of side, published cells and originals, each with its number of rows."""
    from pyspark.sql import functions as f

    published = tables.spark.table(tables.view(compared.published))
    cells = published.columns
    staged = tables.spark.table(tables.view(compared.staged))
    originals = tables.spark.table(tables.view(compared.originals)).select(
        f.col(compared.reference), *(f.col(c).alias(_original(c)) for c in compared.columns)
    )
    staged = staged.select(compared.reference, *map(quoted, cells), f.lit(True).alias(_STAGED))
    originals = originals.withColumn(_ORIGINAL, f.lit(True))
    joined = staged.join(originals, compared.reference, "full_outer").drop(compared.reference)
    both = joined.withColumn(_SIDE, f.lit(_LINKED)).unionByName(
        published.withColumn(_SIDE, f.lit(_PUBLISHED)), allowMissingColumns=True
    )
    counted = both.groupBy(*map(quoted, both.columns)).agg(f.count(f.lit(1)).alias(COPIES))
    return counted.withColumn(_ID, f.monotonically_increasing_id())


def _shown(
    tables: SparkTables, compared: Compared, path: Path, staged: int, originals: int
) -> bool:
    """Create views of the three tables in DuckDB; False if the join shows repeated references."""
    files, side, copies = parquet([path]), ident(_SIDE), ident(COPIES)
    with_staged, with_original = ident(_STAGED), ident(_ORIGINAL)
    ((tuples, pairs, alone, left),) = tables.duckdb.raw(
        f"select count(*), sum({copies}) filter ({with_staged} and {with_original}),"
        f" sum({copies}) filter ({with_staged} and {with_original} is null),"
        f" sum({copies}) filter ({with_staged} is null and {with_original})"
        f" from {files}",
        TUPLES,
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
