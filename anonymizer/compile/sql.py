"""SQL text that is safe to execute: the type, its filters, and the templates they render in.

A template can only print `Sql`. Names become `Sql` through `ident`, Python values through `lit`;
anything else in a template raises an error, which prevents SQL injection.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from importlib.util import cache_from_source
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from anonymizer.errors import TemplateError

PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of SQL text that is known to be safe to print unchanged."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Table:
    """A table by its physical name; `catalog` and `schema` are omitted if they are None."""

    name: str
    schema: str | None = None
    catalog: str | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(part for part in (self.catalog, self.schema, self.name) if part is not None)


SCRATCH = "anon_scratch"
"""Catalog (or schema) that holds every work table of a run."""


WIDE_BITS = "wide_bits"
"""Beginning of the names of columns with more bits than an integer of 64 has; on a server they are
strings of bits."""


def work(name: str) -> Table:
    """The work table `name` of a run."""
    return Table(name, "main", SCRATCH)


def quote(name: str) -> str:
    """One identifier, always in double quotes, inner ones doubled."""
    if "\x00" in name:
        raise ValueError("an identifier cannot hold a NUL character")
    return '"' + name.replace('"', '""') + '"'


def ident(name: str | Table | Sql) -> Sql:
    """A column name or a table as an identifier. Work tables are not quoted."""
    if isinstance(name, Sql):
        raise TypeError("ident takes a name, not SQL")
    if isinstance(name, Table):
        ours = name.catalog == SCRATCH
        return Sql(".".join(p if ours and PLAIN_NAME.match(p) else quote(p) for p in name.parts))
    return Sql(quote(name))


def one_file(path: PurePath, *, files: str = "") -> Sql:
    """A path as the literal that DuckDB's readers of files take for it alone, or for the `files` of
    a folder: they read a path as a pattern, by which `a[1].csv` would be `a1.csv`.
    """
    return lit(str(as_pattern(path) / files))


def as_pattern(path: PurePath) -> PurePath:
    """The pattern that matches a path, and no other."""
    return type(path)(re.sub(r"[*?\[]", r"[\g<0>]", str(path)))


def lit(value: object) -> Sql:
    """A value as an SQL literal. Text keeps every character; NaN and infinities are typed."""
    match value:
        case None:
            return Sql("NULL")
        case bool():
            return Sql("true" if value else "false")
        case int():
            return Sql(str(value))
        case Decimal():
            if not value.is_finite():
                return Sql(f"CAST('{value}' AS DOUBLE)")
            return Sql(f"{value:f}")
        case float():
            if math.isnan(value) or math.isinf(value):
                return Sql(f"CAST('{value}' AS DOUBLE)")
            return Sql(f"CAST({value!r} AS DOUBLE)")
        case dt.datetime():
            return Sql(f"TIMESTAMP '{value.isoformat(sep=' ')}'")
        case dt.date():
            return Sql(f"DATE '{value.isoformat()}'")
        case str():
            if "\x00" in value:
                raise ValueError("a text literal cannot hold a NUL character")
            return Sql("'" + value.replace("'", "''") + "'")
        case _:
            raise TypeError(f"no SQL literal for {type(value).__name__}")


def sql(text: str, /, **parts: Sql | Table | str) -> Sql:
    """`text` with `{name}` filled in: `Sql` unchanged, tables and strings as identifiers."""
    filled = {k: v.text if isinstance(v, Sql) else ident(v).text for k, v in parts.items()}
    return Sql(text.format(**filled))


def join(parts: Iterable[Sql], separator: str = ", ") -> Sql:
    """Pieces of SQL joined by a separator (a constant of the template)."""
    pieces = list(parts)
    for piece in pieces:
        if not isinstance(piece, Sql):
            raise TypeError(f"join takes Sql, not {type(piece).__name__}")
    return Sql(separator.join(piece.text for piece in pieces))


FILTERS: dict[str, Callable[..., object]] = {
    "ident": ident,
    "idents": lambda names: [ident(name) for name in names],
    "lit": lit,
    "lits": lambda values: [lit(value) for value in values],
    "join": join,
    "length": len,
}


@dataclass(frozen=True, slots=True)
class NumberedColumn:
    """An attribute of a class: the name of a column, ending in the object's number."""

    prefix: str
    number: str = "index"
    """The attribute that holds the number."""

    def __get__(self, one: object, owner: type) -> Sql:
        return Sql(f"{self.prefix}{getattr(one, self.number)}")


@dataclass(frozen=True, slots=True)
class NumberedTable:
    """The same for the name of a work table."""

    prefix: str
    number: str = "index"

    def __get__(self, one: object, owner: type) -> Table:
        return work(f"{self.prefix}_{getattr(one, self.number)}")


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
    made_by = (jinja2.__version__, Path(__file__).read_text())
    stamp = hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:16]
    return CompiledTemplates(str(beside), f"template-%s-{stamp}.bin")


SECTION = re.compile(
    r"^-- name: (?P<name>\S+)\n(?P<head>(?:--[^\n]*\n)*)(?P<text>.*?)(?=^-- name: |\Z)",
    re.MULTILINE | re.DOTALL,
)
NOTES = ("parameters:", "source:")
WRITTEN: dict[str, str] = {}
"""Templates without a file, by name."""


@dataclass(frozen=True, slots=True)
class Template:
    """A section of a file in `templates/`: what it is for, and its text."""

    purpose: str
    text: str


@cache
def templates(folder_name: str) -> Mapping[str, Template]:
    """The sections of `<folder>.sql` and of the files in `<folder>/`, by their names.

    A section begins with `-- name: <name>`. The comment lines that follow say what it is for; what
    they say from `parameters:` or `source:` on is for readers of the file only.
    """
    root = folder("templates")
    found: dict[str, Template] = {}
    for path in (root / f"{folder_name}.sql", *sorted((root / folder_name).glob("*.sql"))):
        if path.is_file():
            for section in SECTION.finditer(path.read_text(encoding="utf-8")):
                lines = [line[2:].strip() for line in section["head"].splitlines()]
                purpose = takewhile(lambda line: not line.startswith(NOTES), lines)
                found[section["name"]] = Template(" ".join(purpose), section["text"].strip("\n"))
    return found


def template_text(name: str) -> str | None:
    """The text of `<folder>/<section>`, for Jinja; None if there is none."""
    folder_name, _, section = name.rpartition("/")
    found = templates(folder_name).get(section)
    return WRITTEN.get(name) if found is None else found.text


@cache
def environment() -> jinja2.Environment:
    """The only environment, with no filters and globals but those set here."""
    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(template_text),
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


def purpose(template: str) -> str:
    """What the template is for, from the comment under its name."""
    folder_name, _, section = template.rpartition("/")
    found = templates(folder_name).get(section)
    return "" if found is None else found.purpose


@cache
def variant(template: str, dialect: str) -> str:
    """The template to render for an engine: `<step>.<dialect>` if it exists.

    A variant is written in the SQL of all templates, without constructs that the engine lacks.
    """
    special = f"{template}.{dialect}"
    return template if template_text(special) is None else special


TARGET = r"""(?P<target>(?:"(?:[^"]|"")*"|[^\s"])+)"""
"""A table, or a type, as `ident` writes it: names in double quotes may hold spaces and quotes."""
CREATES = re.compile(
    rf"\A\s*create or replace (?:table|type) {TARGET} as(?: enum)?\s", re.IGNORECASE
)
INSERTS = re.compile(rf"\A\s*insert into {TARGET}\s", re.IGNORECASE)
Names: TypeAlias = frozenset[tuple[str, ...]]
"""Tables, as `ident` writes them."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One rendered statement, and which of the tables it was given it reads and writes.

    `text` is executed unchanged.
    """

    text: str
    kind: str
    reads: Names
    writes: Names


def render(template: str, parameters: Mapping[str, Any], dialect: str = "duckdb") -> Statement:
    """Render `template` to one statement, which may touch the tables among its parameters.

    Raises `TemplateError` (a defect of the tool) if it writes another table.
    """
    if dialect != "duckdb":
        template = variant(template, dialect)
    text = environment().get_template(template).render(parameters).strip()
    return statement(template, text, tables(parameters))


def statement(template: str, text: str, given: Names) -> Statement:
    """The rendered text with the tables it touches, of those that are given."""
    kind, target, query = parts(text)
    if not target <= given:
        raise TemplateError(f"template {template} writes a table that it was not given")
    return Statement(text, kind, frozenset(one for one in given if _names(query, *one)), target)


def parts(text: str) -> tuple[str, Names, str]:
    """The kind of a statement, the table that it writes, and the query of its rows."""
    for kind, pattern in (("create", CREATES), ("insert", INSERTS)):
        if found := pattern.match(text):
            return kind, frozenset({(found["target"],)}), text[found.end() :]
    return "query", frozenset(), text


def tables(parameters: Mapping[str, Any]) -> Names:
    """The tables among the parameters, and in their lists."""
    found: set[tuple[str, ...]] = set()
    for value in parameters.values():
        for table in value if isinstance(value, tuple | list) else (value,):
            if isinstance(table, Table):
                found.add((ident(table).text,))
    return frozenset(found)


def _names(query: str, table: str) -> bool:
    """Whether the query names the table, and not only one whose name begins or ends like it."""
    at = query.find(table)
    while at >= 0:
        around = query[at - 1 : at] + query[at + len(table) :][:1]
        if not _WORD.search(around):
            return True
        at = query.find(table, at + 1)
    return False


_WORD = re.compile(r'[\w."]')
