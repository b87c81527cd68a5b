"""The text grammar of published cells: parser, writer, and what a cell covers.

Grammar (kinds `numeric`, `date`, `categorical`)::

    cell     := SQL NULL | body | body " or NULL"
    body     := exact | interval | set | "*"
    interval := "[" value ", " value "]"            ordered kinds, closed, lower bound < upper bound
    set      := "{" member ", " member … "}"        categories, two or more, by code point
    exact    := value | member                      a category, or a node of its hierarchy

A member that contains one of ``,{}[]"``, begins or ends with a space, is empty, equals ``*`` or
``NULL``, or ends in `` or NULL`` stands in double quotes, inner quotes doubled; every other member
stands bare. Sorting looks at the members themselves, not at their quoted text.

`parse` is strict: a text that a correct writer cannot have produced is a `GrammarError`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

NULL_SUFFIX = " or NULL"
SPECIAL = frozenset(',{}[]"')
KINDS = ("numeric", "date", "categorical")


class GrammarError(ValueError):
    """The text is no published cell of this kind."""


@dataclass(frozen=True)
class Exact:
    """One value (`Decimal`, `datetime`, `str`), or one node of a hierarchy (`str`)."""

    value: Any
    nullable: bool = False


@dataclass(frozen=True)
class Interval:
    """All values from `lo` to `hi`, both included."""

    lo: Any
    hi: Any
    nullable: bool = False


@dataclass(frozen=True)
class ValueSet:
    """One of several categories."""

    members: frozenset[str]
    nullable: bool = False


@dataclass(frozen=True)
class Star:
    """Any value of the domain; NULL only if `nullable`."""

    nullable: bool = False


@dataclass(frozen=True)
class Null:
    """The class holds NULL only."""


Cell = Exact | Interval | ValueSet | Star | Null


@dataclass(frozen=True)
class Domain:
    """What a column can hold, as the source (or its hierarchy) says.

    `members`: all categories, or all leaves of the hierarchy. `nodes`: label of an inner node to
    the leaves below it; a label that is both a leaf and a node is read as the node. `lo`, `hi`:
    least and greatest non-NULL value of an ordered column. `has_null`: NULL occurs in the source.
    """

    kind: str
    members: frozenset[str] = frozenset()
    nodes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    lo: Any = None
    hi: Any = None
    has_null: bool = False


def domain_of(
    values: Iterable[Any], kind: str, paths: Mapping[str, Sequence[str]] | None = None
) -> Domain:
    """The domain of a source column; `paths` maps each leaf to its ancestors, parent first."""
    column = list(values)
    present = [value for value in column if not is_null(value)]
    has_null = len(present) < len(column)
    if kind != "categorical":
        comparable = [ordered(value, kind) for value in present]
        lo, hi = (min(comparable), max(comparable)) if comparable else (None, None)
        return Domain(kind, lo=lo, hi=hi, has_null=has_null)
    if paths is None:
        return Domain(kind, members=frozenset(map(as_text, present)), has_null=has_null)
    nodes: dict[str, set[str]] = {}
    for leaf, ancestors in paths.items():
        for label in ancestors:
            nodes.setdefault(label, set()).add(leaf)
    # A node over nothing but the leaf of the same name adds nothing to that leaf.
    inner = {label: frozenset(below) for label, below in nodes.items() if below != {label}}
    return Domain(kind, members=frozenset(paths), nodes=inner, has_null=has_null)


def is_null(value: Any) -> bool:
    """NULL as it comes from a driver or a frame: None, NA, NaT. A float NaN is a value."""
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def as_text(value: Any) -> str:
    """A category as SQL casts it to text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def ordered(value: Any, kind: str) -> Any:
    """A number as `Decimal`, a date or timestamp as naive UTC `datetime`.

    A float becomes the shortest decimal that reads back as the same float, which is also what a
    database prints, so that a published bound and its original compare as equal.
    """
    if kind == "numeric":
        try:
            return Decimal(repr(value) if isinstance(value, float) else str(value))
        except InvalidOperation:
            raise GrammarError(f"not a number: {value!r}") from None
    if isinstance(value, str):
        try:
            value = dt.datetime.fromisoformat(value)
        except ValueError:
            raise GrammarError(f"not a date or timestamp: {value!r}") from None
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
    return dt.datetime(value.year, value.month, value.day)


def needs_quotes(member: str) -> bool:
    return (
        member in ("", "*", "NULL")
        or member[0] == " "
        or member[-1] == " "
        or member.endswith(NULL_SUFFIX)
        or not SPECIAL.isdisjoint(member)
    )


def quote(member: str) -> str:
    return '"' + member.replace('"', '""') + '"' if needs_quotes(member) else member


def parse(text: str | None, kind: str) -> Cell:
    """The cell that `text` publishes in a column of this kind; raises `GrammarError`."""
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    if is_null(text):
        return Null()
    assert text is not None
    nullable = text.endswith(NULL_SUFFIX)
    body = text.removesuffix(NULL_SUFFIX)
    if body == "*":
        return Star(nullable)
    if kind == "categorical":
        if body.startswith("{"):
            return ValueSet(_members(body), nullable)
        member, rest = _member(body, stops="")
        if rest:
            raise GrammarError(f"text after a quoted category: {text!r}")
        return Exact(member, nullable)
    if body.startswith("["):
        bounds = body[1:-1].split(", ")
        if not body.endswith("]") or len(bounds) != 2:
            raise GrammarError(f"not an interval: {text!r}")
        lo, hi = (ordered(bound, kind) for bound in bounds)
        if not _order(lo) < _order(hi):
            raise GrammarError(f"bounds not ascending: {text!r}")
        return Interval(lo, hi, nullable)
    return Exact(ordered(body, kind), nullable)


def _members(body: str) -> frozenset[str]:
    if not body.endswith("}"):
        raise GrammarError(f"set without end: {body!r}")
    rest, members = body[1:], list[str]()
    while True:
        member, rest = _member(rest, stops=",}")
        members.append(member)
        if rest == "}":
            break
        if not rest.startswith(", "):
            raise GrammarError(f"members not separated by comma and space: {body!r}")
        rest = rest[2:]
    if len(members) < 2 or members != sorted(set(members)):
        raise GrammarError(f"not two or more different members by code point: {body!r}")
    return frozenset(members)


def _member(text: str, stops: str) -> tuple[str, str]:
    """The first member of `text` and what follows it."""
    if not text.startswith('"'):
        end = min((i for i, char in enumerate(text) if char in stops), default=len(text))
        if needs_quotes(text[:end]):
            raise GrammarError(f"must stand in quotes: {text[:end]!r}")
        return text[:end], text[end:]
    out, i = "", 1
    while i < len(text):
        if text[i] != '"':
            out, i = out + text[i], i + 1
        elif text[i : i + 2] == '""':
            out, i = out + '"', i + 2
        else:
            if not needs_quotes(out):
                raise GrammarError(f"must not stand in quotes: {out!r}")
            return out, text[i + 1 :]
    raise GrammarError(f"quotes without end: {text!r}")


def write(cell: Cell) -> str | None:
    """The text of a cell. Numbers are equal in value, not always in form (1e2 or 100)."""
    if isinstance(cell, Null):
        return None
    if isinstance(cell, Star):
        body = "*"
    elif isinstance(cell, ValueSet):
        body = "{" + ", ".join(quote(member) for member in sorted(cell.members)) + "}"
    elif isinstance(cell, Interval):
        body = f"[{_write_value(cell.lo)}, {_write_value(cell.hi)}]"
    else:
        body = _write_value(cell.value)
    return body + (NULL_SUFFIX if cell.nullable else "")


def _write_value(value: Any) -> str:
    if isinstance(value, dt.datetime):
        midnight = value.time() == dt.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    return quote(value) if isinstance(value, str) else str(value)


def _order(value: Any) -> Any:
    """NaN is the greatest number, as in the databases."""
    if isinstance(value, Decimal):
        return (1, Decimal(0)) if value.is_nan() else (0, value)
    return value


def leaves(cell: Cell, domain: Domain) -> frozenset[str]:
    """The categories that a categorical cell admits, NULL apart."""
    if isinstance(cell, Star):
        return domain.members
    if isinstance(cell, ValueSet):
        return cell.members
    if isinstance(cell, Exact):
        return domain.nodes.get(cell.value, frozenset({cell.value}))
    return frozenset()


def covers(cell: Cell, original: Any, domain: Domain) -> bool:
    """Whether the row's original value is among those that the cell admits."""
    if is_null(original):
        return isinstance(cell, Null) or cell.nullable
    if domain.kind == "categorical":
        return as_text(original) in leaves(cell, domain)
    if isinstance(cell, Star):
        return True
    value = _order(ordered(original, domain.kind))
    if isinstance(cell, Interval):
        return bool(_order(cell.lo) <= value <= _order(cell.hi))
    return isinstance(cell, Exact) and bool(_order(cell.value) == value)


def problems(text: str | None, domain: Domain) -> list[str]:
    """What is wrong with a published text, its domain known (nothing if it is canonical)."""
    try:
        cell = parse(text, domain.kind)
    except GrammarError as error:
        return [str(error)]
    if domain.kind != "categorical" or isinstance(cell, Star | Null):
        return []
    found, below = list[str](), leaves(cell, domain)
    if not below <= domain.members:
        found.append("holds a category outside the domain")
    if below == domain.members and len(below) > 1:
        found.append("covers the domain and is not *")
    return found


def typed_cell(row: Mapping[str, Any], column: str, kind: str) -> Cell:
    """The same cell from the columns of a release with typed cells."""
    if kind != "categorical":
        lo, hi = row[f"{column}_lo"], row[f"{column}_hi"]
        if is_null(lo) or is_null(hi):
            return Null()
        nullable, first, last = (
            bool(row[f"{column}_nullable"]),
            ordered(lo, kind),
            ordered(hi, kind),
        )
        same = _order(first) == _order(last)
        return Exact(first, nullable) if same else Interval(first, last, nullable)
    value = row[column]
    if is_null(value):
        return Null()
    if isinstance(value, str):
        nullable = bool(row[f"{column}_nullable"])
        return Star(nullable) if value == "*" else Exact(value, nullable)
    members = [as_text(member) for member in value if not is_null(member)]
    nullable = len(members) < len(value)
    if len(members) > 1:
        return ValueSet(frozenset(members), nullable)
    return Exact(members[0], nullable) if members else Null()
