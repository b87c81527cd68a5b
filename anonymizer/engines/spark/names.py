"""Names in Spark's catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymizer.compile import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def name_in_spark(table: Table) -> str:
    """A table of the catalog, as Spark's SQL writes it."""
    return ".".join(quoted(part) for part in table.parts)


def names_in(spark: SparkSession, schema: str) -> list[str]:
    """The tables and views of a database, without temporary ones."""
    rows = spark.sql(f"show tables in {quoted(schema)}").collect()
    return [str(row["tableName"]) for row in rows if not row["isTemporary"]]


def quoted(name: str) -> str:
    """A name as Spark's SQL writes it."""
    return "`" + name.replace("`", "``") + "`"
