"""Finds the tables that a query reads, with the engine's own parser.

Most texts of a run differ from earlier ones only in names and literals. They are parsed once per
shape: the text with each of its quoted names and strings replaced by a separate word, and numbers
by 1. A text whose shape would be refused is parsed itself.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from anonymizer.compile.sql import Table, ident, lit
from anonymizer.errors import TemplateError

Names: TypeAlias = tuple[str, ...]
"""A table in parts: catalog and schema, if given, and its name."""

SERIALIZE = """prepare tree as select json_serialize_sql(
    $1::varchar, skip_null := true, skip_empty := true, skip_default := true)"""
"""Returns the tree of queries, or an error for other statements; omits parts without tables."""
TOKEN = re.compile(
    r"""
      (?P<name>"(?:[^"]|"")*")
    | (?P<text>'(?:[^']|'')*')
    | (?P<number>(?<![\w.$])\d+(?:\.\d+)?(?![\w.]))
    | (?P<comment>--[^\n]*)
    | (?P<other>/\*|\$[^$\s]*\$|\b[exbEXB]'|[uU]&["']|["'])
    """,
    re.VERBOSE,
)
"""Tokens that may contain any character, and beginnings of tokens whose end is not sought."""
SHAPES = 8192
"""Number of shapes to cache; a run has about a hundred."""


def tables_read(template: str, query: str) -> frozenset[Names]:
    """All tables of the query, as `ident` writes them.

    Raises `TemplateError` if the text is not one query.
    """
    try:
        return _parsed(query).read({})
    except _NotOneQuery as error:
        raise TemplateError(f"template {template}: {error}\n{query}") from error


def tables_of_shape(query: str) -> frozenset[Names] | None:
    """The same, without parsing a query whose shape was seen before.

    None if the query itself has to be parsed.
    """
    shaped = shape(query)
    if shaped is None:
        return None
    text, names = shaped
    try:
        found = _parsed(text)
    except _NotOneQuery:  # the query itself has the better message
        return None
    # if a word is only part of a name, the parser has split the shape differently
    given = {part for parts in found.tables for part in parts} | found.ctes
    return None if any("~" in part for part in given - names.keys()) else found.read(names)


def shape(query: str) -> tuple[str, dict[str, str]] | None:
    """The query with its names and literals replaced, and the original of each replacement.

    None if the text contains another token whose end would have to be sought.
    """
    words: dict[str, str] = {}

    def replaced(found: re.Match[str]) -> str:
        match found.lastgroup:
            case "number":
                return "1"
            case "comment":
                return ""
            case "other":
                raise _NoShape
            case _:
                # (no unquoted name begins like this, and all quoted ones are replaced)
                word = words.setdefault(found[0], f"~{len(words)}")
                return f"{found[0][0]}{word}{found[0][0]}"

    try:
        text = TOKEN.sub(replaced, query)
    except _NoShape:
        return None
    return text, {
        word: token[1:-1].replace(token[0] * 2, token[0]) for token, word in words.items()
    }


class _NoShape(Exception):
    """The text contains a token whose end is not sought."""


class _NotOneQuery(Exception):
    """The text is not one query; holds the message of the parser."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """The names of tables in a tree, in parts, and its common table expressions."""

    tables: frozenset[Names]
    ctes: frozenset[str]

    def read(self, names: Mapping[str, str]) -> frozenset[Names]:
        """The tables as `ident` writes them, with the words of `names` replaced by originals."""
        ctes = {names.get(cte, cte) for cte in self.ctes}
        tables = {tuple(names.get(part, part) for part in parts) for parts in self.tables}
        return frozenset(
            (ident(_table(parts)).text,)
            for parts in tables
            if not (parts[-1] in ctes and len(parts) == 1) and parts[0] != "recurring"
        )


@lru_cache(maxsize=SHAPES)
def _parsed(query: str) -> _Parsed:
    ctes: set[str] = set()
    tables: set[Names] = set()

    def seen(node: dict[str, Any]) -> dict[str, Any]:
        if "cte_map" in node:
            ctes.update(entry["key"] for entry in node["cte_map"].get("map", []))
        if node.get("type") == "RECURSIVE_CTE_NODE":
            ctes.add(node["cte_name"])
        if node.get("type") == "BASE_TABLE":
            parts = (node.get(key) for key in ("catalog_name", "schema_name", "table_name"))
            tables.add(tuple(part for part in parts if part))
        return node

    tree = json.loads(_serialized(query), object_hook=seen)
    if tree.get("error"):
        raise _NotOneQuery(str(tree.get("error_message")))
    if len(tree["statements"]) != 1:
        raise _NotOneQuery("has to render one statement")
    return _Parsed(frozenset(tables), frozenset(ctes))


def _table(parts: Names) -> Table:
    padded = (None,) * (3 - len(parts)) + parts
    return Table(str(padded[2]), padded[1], padded[0])


def _serialized(query: str) -> str:
    # a literal: with a parameter, the statement would be bound and optimized again for each query
    row = parser().execute(f"execute tree({lit(query)})").fetchone()
    return str(row[0]) if row else "{}"


_of_thread = threading.local()


def parser() -> Any:
    """A separate connection per thread, used only for parsing."""
    import duckdb

    if not hasattr(_of_thread, "parser"):
        _of_thread.parser = duckdb.connect(":memory:", config={"threads": 1})
        _of_thread.parser.execute(SERIALIZE)
    return _of_thread.parser
