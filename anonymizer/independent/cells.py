"""Published values and cells, parsed strictly: text that no correct writer produces is an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

# Published values, converted from text to Python values that compare as in SQL.
#
# Numbers, dates and timestamps become `(rank, Fraction)`: exact, and ordered with the infinities
# and NaN, which SQL places last. Everything else is compared as text, by code point.


Ordered: TypeAlias = tuple[int, Fraction]
Value: TypeAlias = str | Ordered
Family: TypeAlias = Literal["whole", "decimal", "float", "time", "boolean", "text"]

FINITE = 0
INFINITE = 1
NAN = 2
MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?")
_DATE = r"(?P<year>[0-9]{4,7})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
_CLOCK = r" (?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})(\.(?P<part>[0-9]{1,9}))?"
_ZONE = r"(?P<zone>[+-][0-9]{2}(:[0-9]{2}){0,2})"
_TIME = re.compile(rf"{_DATE}(?P<bc> \(BC\))?({_CLOCK})?(?P<bc_after> \(BC\))?({_ZONE})?")
_WHOLE_TYPES = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|BIGNUM|VARINT")
_DECIMAL = re.compile(r"DECIMAL\((?P<digits>[0-9]+), ?(?P<scale>[0-9]+)\)")

UNSIZED = "DECIMAL"
"""A Postgres numeric, each of whose values has its own scale."""
_SPECIAL: dict[str, Ordered] = {
    "NaN": (NAN, Fraction(0)),
    "Infinity": (INFINITE, Fraction(0)),
    "-Infinity": (-INFINITE, Fraction(0)),
}


class ValueFormError(ValueError):
    """The text is not a value of its type, or is not written as the type requires."""


def family(sql_type: str) -> Family:
    """The comparison family of a SQL type."""
    if _WHOLE_TYPES.fullmatch(sql_type):
        return "whole"
    if _DECIMAL.fullmatch(sql_type) or sql_type == UNSIZED:
        return "decimal"
    if sql_type in ("FLOAT", "DOUBLE", "REAL"):
        return "float"
    if sql_type == "DATE" or sql_type.startswith("TIMESTAMP"):
        return "time"
    return "boolean" if sql_type == "BOOLEAN" else "text"


@lru_cache(maxsize=200_000)
def read_value(text: str, sql_type: str) -> Value:
    """Parse a value. Raises ValueFormError."""
    kind = family(sql_type)
    if kind == "text":
        return text
    if kind == "boolean":
        if text not in ("true", "false"):
            raise ValueFormError("is neither true nor false")
        return text
    if kind == "whole":
        if not _WHOLE.fullmatch(text) or len(text) > 4000:
            raise ValueFormError("is not a whole number")
        return FINITE, Fraction(int(text))
    if kind == "decimal":
        if sql_type == UNSIZED and text in _SPECIAL:
            return _SPECIAL[text]
        return FINITE, _decimal(text, sql_type)
    return _float(text) if kind == "float" else _moment(text, sql_type)


def _decimal(text: str, sql_type: str) -> Fraction:
    if sql_type == UNSIZED:
        if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", text):
            raise ValueFormError("is not a decimal number")
        return Fraction(text)
    found = _DECIMAL.fullmatch(sql_type)
    assert found is not None
    scale = int(found["scale"])
    # if the type has no digits before the point, DuckDB writes .50, and Postgres 0.50
    whole = "0?" if int(found["digits"]) == scale else "(0|[1-9][0-9]*)"
    form = f"-?{whole}" + (rf"\.[0-9]{{{scale}}}" if scale else "")
    if not re.fullmatch(form, text):
        raise ValueFormError("is not a decimal number of its scale")
    return Fraction(text)


def _float(text: str) -> Ordered:
    if text in ("inf", "-inf"):
        return (INFINITE if text == "inf" else -INFINITE), Fraction(0)
    if text in ("nan", "-nan"):
        return NAN, Fraction(0)
    if not _FLOAT.fullmatch(text):
        raise ValueFormError("is not a number")
    return FINITE, Fraction(text)


def _moment(text: str, sql_type: str) -> Ordered:
    """Seconds since 1970-01-01, in the proleptic Gregorian calendar; a date is its midnight."""
    if text in ("infinity", "-infinity"):
        return (INFINITE if text == "infinity" else -INFINITE), Fraction(0)
    found = _TIME.fullmatch(text)
    zoned = "ZONE" in sql_type or sql_type == "TIMESTAMPTZ"
    if (
        found is None
        or bool(found["zone"]) != zoned
        or (found["hour"] is None) != (sql_type == "DATE")
    ):
        raise ValueFormError("is not a date or timestamp of its type")
    year, month, day = (int(found[part]) for part in ("year", "month", "day"))
    if found["bc"] or found["bc_after"]:
        year = 1 - year
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= MONTHS[month - 1] + (leap and month == 2):
        raise ValueFormError("is no day of the calendar")
    seconds = Fraction(86_400 * _days(year, month, day))
    if found["hour"] is not None:
        hour, minute, second = (int(found[part]) for part in ("hour", "minute", "second"))
        if hour > 23 or minute > 59 or second > 59:
            raise ValueFormError("is no time of day")
        seconds += hour * 3600 + minute * 60 + second + Fraction(f"0.{found['part'] or 0}")
    if found["zone"]:
        parts = [int(part) for part in found["zone"][1:].split(":")] + [0, 0]
        offset = parts[0] * 3600 + parts[1] * 60 + parts[2]
        seconds += offset if found["zone"][0] == "-" else -offset
    return FINITE, seconds


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01: whole years, then whole months, then days."""
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days += sum(MONTHS[: month - 1]) + (1 if leap and month > 2 else 0) + day - 1
    return days - 719_162


# A strict parser of published cells: text that no correct writer produces is an error.
#
#   cell     := NULL | body | body " or NULL"
#   body     := value | "[" value ", " value "]"          numbers, dates, timestamps
#             | member | "{" member ", " member ... "}"   categories
#             | "*"                                       the whole domain
#   member   := text | '"' text with each inner " doubled '"'
#
# Intervals are closed and their bounds differ. A set has two members or more, in the order of their
# code points, each once. A member is in double quotes exactly if it contains one of `,{}[]"`,
# begins or ends with a space, is empty, equals `*` or `NULL`, or ends in ` or NULL`. (Design of the
# release, "Published columns".)
#
# Typed cells: two bounds and whether the cell may be NULL; a list of values in their order; or the
# node of a hierarchy and whether the cell may be NULL.


NULLABLE = " or NULL"
SPECIAL = frozenset(',{}[]"')
Text: TypeAlias = str | None
Raw: TypeAlias = str | tuple[Text, ...] | None
"""A published value as text; a list as a tuple of texts."""


class CellError(ValueError):
    """The cell does not conform to the published grammar; the message contains no value."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of a published cell.

    `exact` and `node` have one value, `interval` its two bounds, `set` its members.
    """

    form: Literal["null", "exact", "node", "interval", "set", "any", "bucketed", "malformed"]
    values: tuple[Value, ...] = ()
    nullable: bool = False
    raw: tuple[Raw, ...] = ()
    """The texts of a malformed cell."""

    def admits(self, value: Value | None) -> bool:
        """Return whether this cell admits a row with this value (unknown for nodes)."""
        if value is None:
            return self.nullable
        if self.form == "any":
            return True
        if self.form == "interval":
            low, high = self.values
            return low <= value <= high  # type: ignore[operator]
        return value in self.values


NULL = Cell("null", nullable=True)
BUCKETED = Cell("bucketed")


def needs_quotes(text: str) -> bool:
    """Return whether a member could be mistaken for another cell or for part of one."""
    return (
        text in ("", "*", "NULL")
        or text.startswith(" ")
        or text.endswith((" ", NULLABLE))
        or not SPECIAL.isdisjoint(text)
    )


def read_text_cell(text: Text, kind: str, sql_type: str, hierarchy: bool) -> Cell:
    """Parse a cell of `cells: text`. Raises CellError."""
    if text is None:
        return NULL
    nullable = text.endswith(NULLABLE)
    body = text[: -len(NULLABLE)] if nullable else text
    if body == "*":
        return Cell("any", nullable=nullable)
    if kind != "categorical":
        return _ordered_body(body, sql_type, nullable)
    if body.startswith("{"):
        return Cell("set", _set_members(body, sql_type, hierarchy), nullable)
    member, rest = _member(body, 0)
    if rest != len(body):
        raise CellError("goes on after its value")
    value = _category(member, sql_type, hierarchy)
    return Cell("node" if hierarchy else "exact", (value,), nullable)


def read_member(text: Text, kind: str, sql_type: str) -> Value | None:
    """Parse a single value of `cells: text`, as in a bucketized cell. Raises CellError."""
    if text is None:
        return None
    if kind != "categorical":
        return _value(text, sql_type)
    member, rest = _member(text, 0)
    if rest != len(text):
        raise CellError("goes on after its value")
    return _category(member, sql_type, hierarchy=False)


def read_bounds(lo: Raw, hi: Raw, nullable: Raw, sql_type: str) -> Cell:
    """Parse a typed cell of numbers, dates or timestamps. Raises CellError."""
    may_be_null = _boolean(nullable)
    if lo is None and hi is None:
        if not may_be_null:
            raise CellError("has no bounds and is not NULL")
        return NULL
    low, high = _value(lo, sql_type), _value(hi, sql_type)
    if low > high:  # type: ignore[operator]
        raise CellError("has its bounds the wrong way round")
    if low == high:
        return Cell("exact", (low,), may_be_null)
    return Cell("interval", (low, high), may_be_null)


def read_list(listed: Raw, sql_type: str) -> Cell:
    """Parse a typed cell of categories without a hierarchy. Raises CellError."""
    if not isinstance(listed, tuple) or not listed:
        raise CellError("is not a list of values")
    nullable = listed[-1] is None
    members = [_value(one, sql_type) for one in listed[: len(listed) - nullable]]
    _check_order(members)
    if not members:
        return NULL
    return Cell("exact" if len(members) == 1 else "set", tuple(members), nullable)


def read_node(label: Raw, nullable: Raw) -> Cell:
    """Parse a typed cell of categories with a hierarchy. Raises CellError."""
    may_be_null = _boolean(nullable)
    if label is None:
        if not may_be_null:
            raise CellError("has no node and is not NULL")
        return NULL
    if not isinstance(label, str):
        raise CellError("is not the label of a node")
    if label == "*":
        return Cell("any", nullable=may_be_null)
    return Cell("node", (label,), may_be_null)


def _ordered_body(body: str, sql_type: str, nullable: bool) -> Cell:
    if not body.startswith("["):
        return Cell("exact", (_value(body, sql_type),), nullable)
    bounds = body[1:-1].split(", ")
    if not body.endswith("]") or len(bounds) != 2:
        raise CellError("is not an interval")
    low, high = (_value(one, sql_type) for one in bounds)
    if not low < high:  # type: ignore[operator]
        raise CellError("has bounds that are equal or the wrong way round")
    return Cell("interval", (low, high), nullable)


def _set_members(body: str, sql_type: str, hierarchy: bool) -> tuple[Value, ...]:
    members: list[str] = []
    at = 1
    while True:
        member, at = _member(body, at)
        members.append(member)
        if body[at:] == "}":
            break
        if not body.startswith(", ", at):
            raise CellError("is not a set")
        at += 2
    if len(members) < 2:
        raise CellError("is a set of one")
    _check_order(members)
    return tuple(_category(one, sql_type, hierarchy) for one in members)


def _member(text: str, at: int) -> tuple[str, int]:
    """The member that begins at a position, and the position after it."""
    if text.startswith('"', at):
        inner, place = "", at + 1
        while place < len(text):
            if text.startswith('""', place):
                inner, place = inner + '"', place + 2
            elif text[place] == '"':
                if not needs_quotes(inner):
                    raise CellError("has quotes that are not needed")
                return inner, place + 1
            else:
                inner, place = inner + text[place], place + 1
        raise CellError("has quotes that do not close")
    place = at
    while place < len(text) and text[place] not in SPECIAL:
        place += 1
    member = text[at:place]
    if needs_quotes(member):
        raise CellError("lacks quotes")
    return member, place


def _category(text: str, sql_type: str, hierarchy: bool) -> Value:
    return text if hierarchy else _value(text, sql_type)


def _value(text: Raw, sql_type: str) -> Value:
    if not isinstance(text, str):
        raise CellError("lacks a value")
    try:
        return read_value(text, sql_type)
    except ValueFormError as error:
        raise CellError(str(error)) from None


def _boolean(text: Raw) -> bool:
    if text not in ("true", "false"):
        raise CellError("does not say whether it may be NULL")
    return text == "true"


def _check_order(members: Sequence[Value]) -> None:
    """Check the order of members: text by code point, as Python compares it; numbers by value."""
    for one, after in pairwise(members):
        if not one < after:  # type: ignore[operator]
            raise CellError("has members out of order or twice")
