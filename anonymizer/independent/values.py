"""Published values, converted from text to Python values that compare as in SQL.

Numbers, dates and timestamps become `(rank, Fraction)`: exact, and ordered with the infinities and
NaN, which SQL places last. Everything else is compared as text, by code point.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

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
