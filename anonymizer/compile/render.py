"""Render a template with its parameters to one statement."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import cache_from_source
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

import jinja2
from jinja2.bccache import Bucket
from markupsafe import Markup

from anonymizer.compile import sql
from anonymizer.compile.sql import FILTERS, Sql, Table, ident
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
