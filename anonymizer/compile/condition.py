"""Checks a user's SQL condition: one boolean expression over source columns, by an allow-list.

The tree comes from the engine's own parser, so the checked expression is the one that is executed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterator
from typing import Any

from anonymizer.compile.sql import Sql, ident
from anonymizer.errors import Problem

MAX_PARENTHESES = 200
MAX_LENGTH = 10_000

CLASSES = {
    "CONSTANT",
    "COLUMN_REF",
    "COMPARISON",
    "CONJUNCTION",
    "OPERATOR",
    "BETWEEN",
    "CASE",
    "CAST",
    "FUNCTION",
    "TYPE",
}
# the parser treats arithmetic and LIKE as functions; none of these reads, waits or varies
FUNCTIONS = frozenset(
    """+ - * / % // || ~~ !~~ ~~* !~~* ~~~ abs round floor ceil ceiling trunc sign mod greatest
    least coalesce nullif ifnull lower upper trim ltrim rtrim length strlen left right substring
    substr contains starts_with ends_with prefix suffix like_escape not_like_escape ilike_escape
    not_ilike_escape regexp_matches regexp_full_match year month day quarter dayofweek week
    date_part date_trunc date_diff datediff datepart datetrunc isnan isinf isfinite concat
    replace strip_accents list_value""".split()  # noqa: SIM905 - a list of words reads better
)
TYPES = frozenset(
    """BOOLEAN BOOL INT INT4 INT8 TEXT STRING REAL NUMERIC TINYINT SMALLINT INTEGER BIGINT HUGEINT
    UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE DECIMAL VARCHAR DATE TIME TIMESTAMP
    INTERVAL""".split()  # noqa: SIM905 - a list of words reads better
)
HINT = "compare columns of the source with values, joined by and, or, not"


def condition(text: str, columns: Collection[str], path: str) -> Sql | Problem:
    """`text` as SQL in parentheses, or the problem that prevents its use.

    A text that equals the name of a column stands for that column.
    """
    if text in columns:
        return ident(text)
    if len(text) > MAX_LENGTH:
        return Problem(path, "is too long for a condition", allowed=f"{MAX_LENGTH} characters")
    if text.count("(") > MAX_PARENTHESES:
        # the depth limit of the parser differs between versions of the engine
        allowed = f"{MAX_PARENTHESES} parentheses"
        return Problem(path, "is nested too deeply for a condition", allowed=allowed)
    if "\x00" in text:
        return Problem(path, "holds a NUL character", hint=HINT)
    # as one expression by itself, it cannot close the parenthesis around it; on a separate line, it
    # cannot comment the parenthesis out
    trees = [query_tree(f"select\n{text}\n"), query_tree(f"select (\n{text}\n)")]
    if any(tree.get("error") for tree in trees):
        return Problem(path, "is not an SQL expression", hint=HINT)
    if any(len(tree["statements"]) != 1 for tree in trees):
        return Problem(path, "is more than one expression", hint=HINT)
    nodes = [tree["statements"][0]["node"] for tree in trees]
    if not all(_bare(node) for node in nodes):
        return Problem(path, "is more than one expression", hint=HINT)
    for reason in _refusals(nodes[-1]["select_list"][0], {name.lower() for name in columns}):
        return Problem(path, reason, hint=HINT)
    return Sql(f"(\n{text}\n)")


def columns_of(text: str, columns: Collection[str]) -> list[str]:
    """Those of `columns` that an accepted condition reads."""
    if text in columns:
        return [text]
    named = {name.lower() for name in _names(query_tree(f"select (\n{text}\n)"))}
    return [column for column in columns if column.lower() in named]


def _names(tree: Any) -> Iterator[str]:
    """The last parts of all column names in a tree."""
    if isinstance(tree, dict):
        if tree.get("class") == "COLUMN_REF":
            yield tree["column_names"][-1]
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from _names(part)


_of_thread = threading.local()


def parser() -> Any:
    """A separate connection per thread, used only for parsing."""
    import duckdb

    if not hasattr(_of_thread, "parser"):
        _of_thread.parser = duckdb.connect(":memory:", config={"threads": 1})
    return _of_thread.parser


def query_tree(query: str) -> dict[str, Any]:
    """What the engine's parser reads in a query; has `error` where it reads none."""
    row = parser().execute("select json_serialize_sql(?::varchar)", [query]).fetchone()
    found: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    return found


def _bare(node: dict[str, Any]) -> bool:
    """Whether a node selects one expression and nothing else, so its parentheses are balanced."""
    return (
        node["type"] == "SELECT_NODE"
        and len(node["select_list"]) == 1
        and node["from_table"]["type"] == "EMPTY"
        and not node["select_list"][0].get("alias")
        and not any(
            node.get(key)
            for key in ("modifiers", "where_clause", "group_expressions", "having", "qualify")
        )
        and not node["cte_map"]["map"]
    )


def _refusals(tree: dict[str, Any], columns: Collection[str]) -> Iterator[str]:
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
            continue
        if not isinstance(node, dict):
            continue
        kind = node.get("class")
        if kind is not None:
            yield from _refuse_node(kind, node, columns)
        stack.extend(value for value in node.values() if isinstance(value, dict | list))


def _refuse_node(kind: str, node: dict[str, Any], columns: Collection[str]) -> Iterator[str]:
    if kind not in CLASSES:
        name = {"SUBQUERY": "a subquery", "WINDOW": "a window", "STAR": "a star"}.get(
            kind, "something other than columns, values, operators and plain functions"
        )
        yield f"holds {name}"
    elif kind == "COLUMN_REF":
        names = node["column_names"]
        if len(names) != 1 or names[0].lower() not in columns:
            yield "names something that is not a column of the source"
    elif kind == "FUNCTION":
        plain = not (node.get("schema") or node.get("catalog") or node.get("distinct"))
        plain = plain and node.get("filter") is None and not node.get("export_state")
        orders = node.get("order_bys") or {}
        if node["function_name"].lower() not in FUNCTIONS or not plain or orders.get("orders"):
            yield "calls a function that conditions may not call"
    elif kind in ("CAST", "TYPE"):
        # DuckDB 1.5 writes the type into the cast, 2.0 as a separate node
        name = node.get("type_name") or (node.get("cast_type") or {}).get("id") or ""
        if name.upper() not in TYPES and (kind == "TYPE" or "cast_type" in node):
            yield "casts to a type that conditions may not use"
