"""Hold rendered statements against the tables that they were given, with the engine's parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from anonymizer.compile import Statement, Table, ident
from anonymizer.compile.condition import query_tree
from anonymizer.errors import TemplateError

Names = frozenset[tuple[str, ...]]
VARYING = re.compile(r'"[^"]*"|\'[^\']*\'|\d+')
"""What differs between texts of one form, of which the first is parsed."""


def tables_read(query: str) -> Names:
    """All tables of a query, as `ident` writes them; raises TemplateError for other texts."""
    found = query_tree(query)
    if found.get("error") or len(found["statements"]) != 1:
        raise TemplateError(f"has to render one statement: {found.get('error_message')}\n{query}")
    ctes: set[str] = set()
    tables: set[tuple[str, ...]] = set()
    for node in nodes(found):
        ctes |= {entry["key"] for entry in (node.get("cte_map") or {}).get("map", [])}
        if node.get("type") == "RECURSIVE_CTE_NODE":
            ctes.add(node["cte_name"])
        if node.get("type") == "BASE_TABLE":
            parts = (node.get(key) for key in ("catalog_name", "schema_name", "table_name"))
            tables.add(tuple(part for part in parts if part))
    return frozenset(
        (ident(Table(*reversed(parts))).text,)
        for parts in tables
        if not (parts[-1] in ctes and len(parts) == 1) and parts[0] != "recurring"
    )


def nodes(part: Any) -> Iterator[dict[str, Any]]:
    """All mappings in a tree."""
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for one in part:
            yield from nodes(one)


@contextmanager
def checked() -> Iterator[None]:
    """Within the block, a statement that reads a table it was not given raises TemplateError."""
    rendering = import_module("anonymizer.compile.sql")
    take = rendering.statement
    seen: set[int] = set()

    def statement(template: str, text: str, given: Names) -> Statement:
        made: Statement = take(template, text, given)
        form = hash(VARYING.sub("", text))
        if form not in seen:
            seen.add(form)
            reads = tables_read(rendering.parts(text)[2])
            if reads != made.reads:
                raise TemplateError(f"template {template} reads {sorted(reads ^ made.reads)}")
        return made

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(rendering, "statement", statement)
        yield
