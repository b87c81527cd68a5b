"""The number of units behind each figure of a query, counted by the query itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from anonymizer.compile import ident
from anonymizer.compile.reads import parser

UNITS = "anon_units"
"""The added column that counts the units."""
AGGREGATES = frozenset(
    {"count", "count_star", "sum", "avg", "mean"}
    | {f"{kind}{of}" for kind in ("stddev", "var") for of in ("_samp", "_pop")}
    | {"stddev", "variance"}
)
"""Aggregates to which every row of a group contributes: neither extremes nor single values."""
ARITHMETIC = frozenset({"+", "-", "*", "/", "round", "coalesce", "nullif", "abs"})
UNCOUNTED = (
    "is not one SELECT over the table whose last column is made of count, sum, avg, stddev and"
    " variance: how many rows stand behind it cannot be told"
)


def with_units(query: str, person: str | None) -> str | None:
    """Add a column to the query that counts rows (persons) by group.

    None for a query whose figures may depend on single rows.
    """
    tree = _parsed(query)
    if tree is None:
        return None
    node = tree["statements"][0]["node"]
    if (
        node["type"] != "SELECT_NODE"
        or node["cte_map"]["map"]
        or node["from_table"]["type"] != "BASE_TABLE"
        or not _over_many(node["select_list"][-1])
    ):
        return None
    counted = "count(*)" if person is None else f"count(distinct {ident(person)})"
    counting = _parsed(f"select {counted} as {UNITS}")
    assert counting is not None
    node["select_list"] += counting["statements"][0]["node"]["select_list"]
    row = parser().execute("select json_deserialize_sql(?::json)", [json.dumps(tree)]).fetchone()
    assert row is not None
    return str(row[0])


def _parsed(query: str) -> dict[str, Any] | None:
    row = parser().execute("select json_serialize_sql(?::varchar)", [query]).fetchone()
    tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    return None if tree.get("error") or len(tree["statements"]) != 1 else tree


def _over_many(figure: dict[str, Any]) -> bool:
    """Whether a figure is arithmetic over aggregates of all rows of its group."""
    found = list(_leaves(figure))
    return "aggregate" in found and "other" not in found


def _leaves(node: dict[str, Any]) -> Iterator[str]:
    kind = node["class"]
    if kind == "CONSTANT":
        yield "constant"
    elif kind == "CAST":
        yield from _leaves(node["child"])
    elif kind == "OPERATOR" and node["type"] in ("OPERATOR_COALESCE", "OPERATOR_NULLIF"):
        for child in node["children"]:
            yield from _leaves(child)
    elif kind == "FUNCTION" and node["function_name"].lower() in AGGREGATES:
        # with a filter, a group could consist of single rows
        yield "other" if node["filter"] is not None else "aggregate"
    elif kind == "FUNCTION" and node["function_name"].lower() in ARITHMETIC:
        for child in _arguments(node):
            yield from _leaves(child)
    else:
        yield "other"


def _arguments(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """DuckDB 2.0 names arguments; 1.5 lists them as children."""
    for child in node.get("arguments", node.get("children", ())):
        yield child.get("expression", child)
