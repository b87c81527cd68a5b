"""Render a template with its parameters to one checked statement."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, TypeAlias

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from anonymizer.compile import sql
from anonymizer.compile.sql import FILTERS, Sql, Table, ident, lit
from anonymizer.errors import TemplateError

# The Jinja environment in which every statement is rendered.


def folder(name: str) -> Path:
    """`templates/` or `sql/`: inside the installed package, or next to it in a checkout."""
    inside = Path(str(files("anonymizer"))) / name
    beside = Path(str(files("anonymizer"))).parent / name
    for path in (inside, beside):
        if path.is_dir():
            return path
    raise TemplateError(f"the folder {name} is missing from this installation")


def only_sql(value: object) -> Markup:
    """Jinja's finalize: raises for a value that is neither `Sql` nor the output of a macro.

    Autoescape is on, so that the output of a macro, whose parts have been checked here, is `Markup`
    and can be distinguished from a bare string.
    """
    if isinstance(value, Sql):
        return Markup(value.text)
    if isinstance(value, Markup):
        return value
    raise TemplateError(f"a template printed a bare {type(value).__name__}; use a filter")


class CompiledTemplates(jinja2.FileSystemBytecodeCache):
    """A cache of compiled templates, which saves a run half a second.

    It is in the folder of this module's bytecode, which is trusted like the code itself, and only
    written if Python writes bytecode. A cache that cannot be read or written is ignored.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # a damaged pickle may raise anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            if not Path(self.directory).is_dir():  # Python creates it if it writes bytecode
                Path(self.directory).mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)


def compiled_templates() -> CompiledTemplates:
    """The cache for this version of Jinja and of the filters."""
    beside = Path(cache_from_source(__file__)).parent
    # filters of constants are evaluated when a template is compiled
    made_by = (jinja2.__version__, *(Path(path).read_text() for path in (__file__, sql.__file__)))
    stamp = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:16]
    return CompiledTemplates(str(beside), f"template-%s-{stamp}.bin")


WRITTEN: dict[str, str] = {}
"""Templates without a file: their texts, by the paths that they would have."""


@cache
def template_names() -> frozenset[str]:
    """All templates, by their paths in the folder."""
    return frozenset(environment().list_templates())


@cache
def environment() -> jinja2.Environment:
    """The only environment, with no filters and globals but those set here."""
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.FileSystemLoader(str(folder("templates"))), jinja2.DictLoader(WRITTEN)]
        ),
        undefined=jinja2.StrictUndefined,
        finalize=only_sql,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,  # there are more templates than the default keeps
        bytecode_cache=compiled_templates(),
    )
    made.filters.clear()
    made.filters.update(FILTERS)
    made.globals.clear()
    made.globals["range"] = range
    return made


# Finds the tables that a query reads, with the engine's own parser.
#
# Most texts of a run differ from earlier ones only in names and literals. They are parsed once per
# shape: the text with each of its quoted names and strings replaced by a separate word, and numbers
# by 1. A text whose shape would be refused is parsed itself.


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


# Renders a template with its parameters to one checked statement.


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
