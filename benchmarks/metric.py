"""One metric for all tools: the mean normalized certainty penalty of a quasi-identifying cell.

Computed from the published cells, as text: numbers by the published interval, clipped to the
column's domain, over the domain's width; categories by the leaves under a node, or the members of
a set, over the size of the domain; 0 for a single value, 1 for `*` and for a suppressed row.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import duckdb

from benchmarks.tables import hierarchy_file


def mean_ncp(
    release: str,
    source: Path,
    quasi: Sequence[str],
    connection: duckdb.DuckDBPyConnection,
) -> tuple[float, int]:
    """Mean NCP per quasi-identifying cell, and the number of rows that were not published.

    `release` is a relation of `connection` with the columns `quasi` as text and `copies`, how many
    published rows a row stands for.
    """
    rows = _one(connection, f"select count(*) from '{source}'")
    published = _one(connection, f"select coalesce(sum(copies), 0) from {release}")
    total = Fraction(0)
    for column in quasi:
        size = _one(connection, f"select count(distinct {column}) from '{source}'")
        numeric = column == "age"
        lo, hi = connection.execute(
            f"select min({column}), max({column}) from '{source}'"
        ).fetchone() or (0, 0)
        nodes = _nodes(column, connection, source)
        cells = connection.execute(
            f"select {column}, cast(sum(copies) as bigint) from {release} group by all"
        ).fetchall()
        for cell, copies in cells:
            loss = _number(cell, lo, hi, nodes) if numeric else _category(cell, size, nodes)
            total += copies * loss
    lost = rows - published
    total += lost * len(quasi)
    return float(total / (rows * len(quasi))), lost


def _one(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0])


def _nodes(column: str, connection: duckdb.DuckDBPyConnection, source: Path) -> dict[str, set[str]]:
    """The values of the table below every node of the column's hierarchy."""
    present = {
        str(row[0])
        for row in connection.execute(f"select distinct {column} from '{source}'").fetchall()
    }
    found: dict[str, set[str]] = {}
    with hierarchy_file(column).open(newline="") as handle:
        for leaf, *ancestors in csv.reader(handle, delimiter=";"):
            if leaf in present:
                for node in ancestors:
                    found.setdefault(node, set()).add(leaf)
    return found


def _number(cell: str, lo: int, hi: int, nodes: dict[str, set[str]]) -> Fraction:
    if cell == "*":
        return Fraction(1)
    if cell in nodes:
        values = [int(value) for value in nodes[cell]]
        low, high = min(values), max(values)
    elif cell.startswith("["):
        low, high = (int(part) for part in cell[1:-1].split(", "))
    else:
        low = high = int(cell)
    return Fraction(min(high, hi) - max(low, lo), hi - lo)


def _category(cell: str, size: int, nodes: dict[str, set[str]]) -> Fraction:
    if cell == "*":
        return Fraction(1)
    listed = cell.startswith("{")
    members = len(cell[1:-1].split(", ")) if listed else len(nodes.get(cell, {cell}))
    return Fraction(0) if members == 1 else Fraction(members, size)
