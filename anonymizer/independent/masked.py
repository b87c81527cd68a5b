"""Whether the published values of masked columns have the form that their masks give them.

Only what a release alone shows is judged: the form of tokens, codes, multiples, bounds, constants,
and identifiers in text (mail, web, IP and MAC addresses, UUIDs, telephone numbers with a country,
cards and bank accounts with their check digits, social security numbers).
"""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymizer.independent.masks import KINDS, RESTRICTED, Mask, limit
from anonymizer.independent.result import Check, counted
from anonymizer.independent.values import FINITE, Ordered, ValueFormError, family, read_value

TOKENS = {
    "hex": re.compile(r"[0-9a-f]{64}"),
    "uuid": re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}"),
    "number": re.compile(r"[0-9]{1,18}"),
}


@dataclass(frozen=True, slots=True)
class Cells:
    """The published values of a column, as text, with the unit of each."""

    column: str
    sql_type: str
    values: tuple[str | None, ...]
    units: tuple[object, ...]

    def known(self) -> Iterator[str]:
        return (one for one in self.values if one is not None)

    def broken(self, holds: Callable[[str], bool]) -> int:
        """How many values do not satisfy the condition."""
        return sum(not holds(one) for one in self.known())


def judge_masks(masks: Iterable[Mask], cells: Cells) -> Iterator[Check]:
    """Check the published values of a column for each of its masks."""
    for mask in masks:
        found = _judged(mask, cells)
        if found is not None:
            name, broken = found
            yield counted(name, cells.column, broken)


def _judged(mask: Mask, cells: Cells) -> tuple[str, int] | None:
    options = mask.options
    match mask.name:
        case "token":
            form = TOKENS.get(options["format"])
            if form is None:
                return None
            return "mask_form", cells.broken(lambda one: form.fullmatch(one) is not None)
        case "top_code" | "bottom_code":
            top = mask.name == "top_code"
            if "at_least" in options:
                return "mask_group", _missing(cells, options["at_least"], top=top)
            at = _end(options["at"], cells)
            return "mask_beyond", cells.broken(
                lambda one: ordered(one, cells) <= at if top else ordered(one, cells) >= at
            )
        case "round":
            return "mask_rounded", cells.broken(lambda one: _is_multiple(one, options["to"], cells))
        case "noise":
            if "between" not in options:
                return None
            low, high = (_end(end, cells) for end in options["between"])
            return "mask_between", cells.broken(lambda one: low <= ordered(one, cells) <= high)
        case "redact":
            kinds = options.get("patterns") or KINDS
            return "mask_patterns", cells.broken(lambda one: not any(identifiers(one, kinds)))
        case "zip3":
            few = options.get("restricted", RESTRICTED)
            return "mask_zip3", cells.broken(lambda one: is_area(one) and one not in few)
        case "null":
            return "mask_constant", sum(1 for _ in cells.known())
        case "constant":
            nulls = sum(one is None for one in cells.values)
            broken = cells.broken(lambda one: _is_constant(one, options["value"], cells))
            return "mask_constant", nulls + broken
    return None


def is_area(text: str) -> bool:
    """Whether a text is a three-digit area."""
    return re.fullmatch("[0-9]{3}", text) is not None


NOWHERE: Ordered = (99, Fraction(0))
"""Stands for an invalid value; greater than every value."""


def ordered(text: str, cells: Cells) -> Ordered:
    """A value of the column as a number; NOWHERE if it is invalid for the column's type."""
    if family(cells.sql_type) not in ("whole", "decimal", "float", "time"):
        return NOWHERE
    try:
        value = read_value(_plain(text), cells.sql_type)
    except ValueFormError:
        return NOWHERE
    assert isinstance(value, tuple)
    return (FINITE, _as_real(value[1], cells)) if value[0] == FINITE else value


def _plain(text: str) -> str:
    """The number with the leading zero that DuckDB omits for decimals without whole digits."""
    return re.sub(r"^(-?)\.", r"\g<1>0.", text)


def _as_real(number: Fraction, cells: Cells) -> Fraction:
    """The nearest number of the column's type, if that is floating-point."""
    if family(cells.sql_type) != "float":
        return number
    try:
        real = float(number)
        if cells.sql_type != "DOUBLE":
            (real,) = struct.unpack("<f", struct.pack("<f", real))
        return Fraction(real)
    except (OverflowError, ValueError):
        return number


def _end(value: Any, cells: Cells) -> Ordered:
    return FINITE, _as_real(limit(value, "manifest.layout.columns.masks"), cells)


def _missing(cells: Cells, least: int, *, top: bool) -> int:
    """By how many rows (persons) the group at the code is too small."""
    there = [
        (ordered(one, cells), unit)
        for one, unit in zip(cells.values, cells.units, strict=True)
        if one is not None
    ]
    if not there:
        return 0
    code = (max if top else min)(value for value, _ in there)
    return max(0, least - len({unit for value, unit in there if value == code}))


def _is_multiple(text: str, to: Any, cells: Cells) -> bool:
    rank, number = ordered(text, cells)
    if rank != FINITE:
        return (rank, number) != NOWHERE
    if isinstance(to, str):
        return family(cells.sql_type) == "time" and is_first(number, to)
    step = Fraction(to)
    if family(cells.sql_type) != "float":
        return number % step == 0
    # if neighbouring numbers are further apart than multiples, each counts as a multiple
    digits = 50 if cells.sql_type == "DOUBLE" else 22
    if abs(number) >= step * 2**digits:
        return True
    return bool(abs(number - round(number / step) * step) <= abs(number) / 2**digits)


def is_first(seconds: Fraction, unit: str) -> bool:
    """Whether a moment is the first one of its unit of time, in UTC."""
    if unit == "hour":
        return seconds % 3600 == 0
    if seconds % 86_400 != 0:
        return False
    days = int(seconds // 86_400)
    if unit == "week":
        return (days + 3) % 7 == 0  # 1970-01-01 was a Thursday
    month, day = _month_and_day(days)
    first = {"year": (1,), "quarter": (1, 4, 7, 10)}.get(unit, range(1, 13))
    return unit == "day" or (day == 1 and month in first)


def _month_and_day(days: int) -> tuple[int, int]:
    """Month and day of the month of a day number since 1970-01-01. The calendar repeats after 400
    years, which keeps dates in the range of Python.
    """
    date = dt.date(2000, 1, 1) + dt.timedelta((days - 10_957) % 146_097)
    return date.month, date.day


def _is_constant(text: str, value: Any, cells: Cells) -> bool:
    if isinstance(value, bool):
        return text == str(value).lower()
    if isinstance(value, str):
        return text == value
    return ordered(text, cells) == _end(value, cells)


_MAIL = re.compile(r"[^\s@<>,;:\"'()]@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")
_URL = re.compile(r"(?:https?|ftp)://[^ ]")
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_START, _STOP = r"(?<![0-9A-Za-z])", r"(?![0-9A-Za-z])"
_FORMS = {
    "mail": _MAIL,
    "url": _URL,
    "uuid": re.compile(
        rf"{_START}[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}{_STOP}"
    ),
    "mac": re.compile(rf"{_START}[0-9a-fA-F]{{2}}(?::[0-9a-fA-F]{{2}}){{5}}{_STOP}"),
    "ip": re.compile(rf"(?<![0-9A-Za-z.]){_OCTET}(?:\.{_OCTET}){{3}}(?![0-9A-Za-z.])"),
    "phone": re.compile(rf"{_START}\+[1-9][0-9 ]{{5,}}[0-9]{_STOP}"),
    "ssn": re.compile(
        r"(?<![0-9A-Za-z-])(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9A-Za-z-])"
    ),
}
_CARD = re.compile(rf"{_START}[3-6][0-9]{{3}}(?:[ -]?[0-9]{{4}}){{3}}{_STOP}")
_ACCOUNT = re.compile(rf"{_START}[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{11,30}}{_STOP}")


def identifiers(text: str, kinds: Collection[str]) -> Iterator[str]:
    """The kinds of identifiers in a text."""
    yield from (kind for kind, form in _FORMS.items() if kind in kinds and form.search(text))
    if "card" in kinds and any(_luhn(found[0]) for found in _CARD.finditer(text)):
        yield "card"
    if "iban" in kinds and any(_mod_97(found[0]) for found in _ACCOUNT.finditer(text)):
        yield "iban"


def _luhn(text: str) -> bool:
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _mod_97(text: str) -> bool:
    moved = text[4:] + text[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1
