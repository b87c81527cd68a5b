"""Queries about rows that DuckDB runs on the rows' files, because Spark cannot.

An exact search is a recursion over lists, and the members of a population are matched by joins that
Spark would execute by comparing all pairs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from anonymizer.compile import SCRATCH, Table, ident, work
from anonymizer.engines.spark import failures
from anonymizer.engines.spark.names import name_in_spark
from anonymizer.engines.spark.routes import WRITES
from anonymizer.engines.spark.tables import SparkTables, parquet

ONLY_DUCKDB = re.compile(rf"\bwith recursive\b|\b{SCRATCH}\.main\.population\b", re.IGNORECASE)
ROWS = frozenset({"staged", "link", "originals"})
"""Work tables of rows that such queries read."""


def only_duckdb(text: str) -> bool:
    """Whether a text is a query that Spark cannot run."""
    return WRITES.match(text) is None and ONLY_DUCKDB.search(text) is not None


def show_rows(
    tables: SparkTables, used: Iterable[str], known: Iterable[str], published: Iterable[Table]
) -> None:
    """Create views in DuckDB of the rows that a query reads.

    `known`: work tables that DuckDB can already read. `published`: relations of Spark's catalog.
    """
    for name in ROWS & set(used) - set(known):
        if not tables.counts.get(name):
            _show(tables, tables.view(name), work(name))
    for table in published:
        schema = Table(table.schema or "main", SCRATCH)
        tables.duckdb.raw(f"create schema if not exists {ident(schema)}", "verification")
        _show(tables, name_in_spark(table), table)


def _show(tables: SparkTables, relation: str, name: Table) -> None:
    """Create a view over a copy, once: DuckDB may have no access to the rows' own files."""
    if name in tables.shown:
        return
    tables.shown.add(name)
    path = tables.new_file(f"{name.name}-copy")
    with failures.translated("verification"):
        tables.spark.table(relation).write.parquet(str(path))
    query = f"create or replace view {ident(name)} as from {parquet([path])}"
    tables.duckdb.raw(query, "verification")
