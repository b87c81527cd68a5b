"""Names in Spark's catalog, and of its types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from anonymizer.compile import Table
from anonymizer.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAMES = {
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "binary": "BLOB",
}
_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)\Z")
_TEXT = re.compile(r"(varchar|char|string)\b.*\Z")


def duckdb_type(name: str) -> str:
    """DuckDB's name of the type whose `simpleString` in Spark is `name`.

    A type without a plain counterpart (a struct, a map, an interval) gets a name that no policy can
    use.
    """
    if name in _NAMES:
        return _NAMES[name]
    found = _DECIMAL.match(name)
    if found:
        return f"DECIMAL({found[1]},{found[2]})"
    if name.startswith("array<"):
        return f"{duckdb_type(name[6:-1])}[]"
    # a text with a length or a collation
    return "VARCHAR" if _TEXT.match(name) else "STRUCT()"


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
