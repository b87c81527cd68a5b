"""Renders a template with its parameters to one checked statement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from anonymizer.compile.environment import environment, template_names
from anonymizer.compile.reads import tables_of_shape, tables_read
from anonymizer.compile.sql import Table, ident
from anonymizer.errors import TemplateError

HEADER = re.compile(r"\A\{#-(?P<text>.*?)-#\}", re.DOTALL)
FIELD = re.compile(r"^\s*(reads|writes|source|parameters)\s+(.*)$")
TARGET = r"""(?P<target>(?:"(?:[^"]|"")*"|[^\s"])+)"""
"""A table, or a type, as `ident` writes it: names in double quotes may hold spaces and quotes."""
CREATES = re.compile(
    rf"\A\s*create or replace (?:table|type) {TARGET} as(?: enum)?\s", re.IGNORECASE
)
INSERTS = re.compile(rf"\A\s*insert into {TARGET}\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Header:
    """The declarations in the first comment of a template."""

    purpose: str
    reads: frozenset[str]
    writes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """One rendered statement. `text` is executed unchanged."""

    text: str
    kind: str
    reads: frozenset[tuple[str, ...]]
    writes: frozenset[tuple[str, ...]]


@cache
def header(template: str) -> Header:
    """The header comment of `template`: purpose, and the parameters that name its tables."""
    loader = environment().loader
    assert loader is not None
    source, _, _ = loader.get_source(environment(), template)
    found = HEADER.match(source)
    if not found:
        raise TemplateError(f"template {template} has no header comment")
    names: dict[str, set[str]] = {"reads": set(), "writes": set()}
    purpose: list[str] = []
    field = "purpose"
    for line in found["text"].strip().splitlines():
        if match := FIELD.match(line):
            field, rest = match.groups()
        else:
            rest = line.strip()
        if field == "purpose":
            purpose.append(rest.strip())
        elif field in names:
            # text after two spaces describes the table's columns
            names[field] |= set(re.split(r"\s{2,}", rest.strip())[0].replace(",", " ").split())
    return Header(" ".join(purpose), frozenset(names["reads"]), frozenset(names["writes"]))


@cache
def variant(template: str, dialect: str) -> str:
    """The template to render for an engine: `<step>.<dialect>.sql.j2` if it exists.

    A variant is written in the SQL of all templates, without constructs that the engine lacks.
    """
    special = template.replace(".sql.j2", f".{dialect}.sql.j2")
    return special if special in template_names() else template


def render(template: str, parameters: Mapping[str, Any], dialect: str = "duckdb") -> Statement:
    """Render `template`, and check that it is the one statement that its header declares.

    Raises `TemplateError` (a defect of the tool) if it is not.
    """
    if dialect != "duckdb":
        template = variant(template, dialect)
    text = environment().get_template(template).render(parameters).strip()
    declared = header(template)
    kind, found_writes, query = _parts(text)
    may_read = _physical(declared.reads, parameters)
    may_write = _physical(declared.writes, parameters)
    reads = tables_of_shape(query)
    if reads is None or not reads <= may_read:
        reads = tables_read(template, query)
    if not reads <= may_read or found_writes != may_write:
        raise TemplateError(
            f"template {template} touches tables that its header does not declare: "
            f"reads {sorted(reads - may_read)}, writes {sorted(found_writes ^ may_write)}"
        )
    return Statement(text, kind, reads, found_writes)


def _parts(text: str) -> tuple[str, frozenset[tuple[str, ...]], str]:
    """The kind of a statement, the table that it writes, and the query of its rows.

    A statement that writes in another form is not a query, and the parser refuses it.
    """
    for kind, pattern in (("create", CREATES), ("insert", INSERTS)):
        if found := pattern.match(text):
            return kind, frozenset({(found["target"],)}), text[found.end() :]
    return "query", frozenset(), text


def _physical(names: frozenset[str], parameters: Mapping[str, Any]) -> frozenset[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()
    for name in names:
        value = parameters.get(name)
        for table in value if isinstance(value, tuple | list) else (value,):
            if isinstance(table, Table):
                found.add((ident(table).text,))
    return frozenset(found)
