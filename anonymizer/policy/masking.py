"""Masking roles and their options: what is published instead of a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator

from anonymizer.policy.frozen import Options, Shorthand, fail
from anonymizer.policy.values import AtLeastTwo, Bound, OneOf

MaskRole = Literal[
    "token",
    "shift",
    "top_code",
    "bottom_code",
    "round",
    "noise",
    "redact",
    "zip3",
    "null",
    "constant",
]
MASKS: tuple[str, ...] = get_args(MaskRole)
"""The roles that mask."""
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "token": ("format", "key_file", "vault"),
    "shift": ("within", "keep", "per", "key_file"),
    "top_code": ("at", "at_least"),
    "bottom_code": ("at", "at_least"),
    "round": ("to", "method"),
    "noise": ("amount", "share", "between"),
    "redact": ("patterns",),
    "zip3": (),
    "null": (),
    "constant": ("value",),
}
"""The options of each; `population` of zip3 is checked and described separately."""
NEEDED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "shift": (("within",), "within: 30 days"),
    "top_code": (("at", "at_least"), "at: 89, or at_least: 5"),
    "bottom_code": (("at", "at_least"), "at: 18, or at_least: 5"),
    "round": (("to",), "to: 5, or to: month"),
    "noise": (("amount", "share"), "amount: 3, or share: 0.1"),
    "constant": (("value",), "value: removed"),
}
"""Options of which exactly one is required, and an example."""
Identifier = Literal[
    "mail", "phone", "iban", "card", "ssn", "national_id", "ip", "mac", "url", "coordinates", "uuid"
]
"""Kinds of identifiers with a recognizable form."""
Calendar = Literal["year", "quarter", "month", "week", "day", "hour"]
CALENDAR: tuple[str, ...] = get_args(Calendar)
Method = Literal["nearest", "random", "down"]
_SPAN = re.compile(r"([0-9]{1,5})( (day|days|week|weeks))?\Z")
LONGEST_SHIFT = 36_525
"""A hundred years, in days."""


def _days(given: object) -> object:
    found = _SPAN.match(str(given)) if isinstance(given, str | int) else None
    if found is None or isinstance(given, bool):
        raise fail("must be a number of days", allowed="30 days, 8 weeks")
    days = int(found[1]) * (7 if (found[3] or "").startswith("week") else 1)
    if not 1 <= days <= LONGEST_SHIFT:
        raise fail("must be a number of days", allowed=f"1 day to {LONGEST_SHIFT} days")
    return days


Days = Annotated[int, BeforeValidator(_days), Shorthand({"type": "string"})]


def _step(given: object) -> object:
    if isinstance(given, str) and given in CALENDAR:
        return given
    if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
        return given
    allowed = f"a number above 0, or {', '.join(CALENDAR)}"
    raise fail("must be the step to round to", allowed=allowed)


Step = Annotated[int | float | Calendar, BeforeValidator(_step)]


class Code(OneOf):
    """A top or bottom code: given, or determined from the data."""

    ONE_OF = ("at", "at_least")

    at: Bound | None = None
    """The value itself: values beyond it are published as this value."""
    at_least: AtLeastTwo | None = None
    """Take the value that at least this many rows (persons) reach or pass."""


def _code(given: object) -> object:
    return given if isinstance(given, Mapping | Code) else {"at": given}


class Rounding(Options):
    """How values are rounded."""

    to: Step
    """A step for numbers; year, quarter, month, week, day or hour for dates, which are cut off."""
    method: Method = "nearest"
    """For numbers: to the nearest multiple, at random so that the mean is preserved, or down."""


def _rounding(given: object) -> object:
    return given if isinstance(given, Mapping | Rounding) else {"to": given}


_ONE: dict[str, Any] = {"type": ["number", "string"]}
Coding = Annotated[Code, BeforeValidator(_code), Shorthand(_ONE)]
Rounded = Annotated[Rounding, BeforeValidator(_rounding), Shorthand(_ONE)]
