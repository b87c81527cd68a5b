"""SQL as a type: text that may enter a template, and the filters that create it.

A template can only print `Sql`. Names become `Sql` through `ident`, Python values through `lit`;
anything else in a template raises an error, which prevents SQL injection.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import PurePath

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


def idents(names: Sequence[str | Table]) -> list[Sql]:
    """Several names, each quoted as an identifier."""
    return [ident(name) for name in names]


def lits(values: Iterable[object]) -> list[Sql]:
    """Several Python values, each as an SQL literal."""
    return [lit(value) for value in values]


FILTERS: dict[str, Callable[..., object]] = {
    "ident": ident,
    "idents": idents,
    "lit": lit,
    "lits": lits,
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
