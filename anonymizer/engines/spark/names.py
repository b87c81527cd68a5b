"""Names in Spark's catalog."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from anonymizer.compile import Table
from anonymizer.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def name_in_spark(table: Table) -> str:
    """The quoted name of a table of the catalog in Spark's SQL."""
    return ".".join(quoted(part) for part in table.parts)


def names_in(spark: SparkSession, schema: str) -> list[str]:
    """The names of the tables and views of a database, without temporary ones."""
    rows = spark.sql(f"show tables in {quoted(schema)}").collect()
    return [str(row["tableName"]) for row in rows if not row["isTemporary"]]


def quoted(name: str) -> str:
    """A quoted name in Spark's SQL."""
    return "`" + name.replace("`", "``") + "`"


def catalog_table(parts: Sequence[str], spark: SparkSession, path: str) -> DataFrame:
    """A table or view of the catalog, by the parts of the name that the policy gives at `path`.

    Raises SourceError if there is none.
    """
    name = ".".join(map(quoted, parts))
    if spark.catalog.tableExists(name):
        return spark.table(name)
    known = names_in(spark, spark.catalog.currentDatabase())
    near = get_close_matches(parts[-1], known, n=1)
    file = path.replace(".table", ".file")
    raise SourceError.at(
        path,
        "is not a table of Spark's catalog",
        hint=f"did you mean {near[0]}?"
        if near
        else f"name it as catalog.database.table, or give Parquet files as {file}",
    )
