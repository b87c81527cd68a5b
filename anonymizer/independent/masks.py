"""The masks of columns in a manifest, parsed from untrusted JSON."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fields import is_number, known, listed, mapping, whole

LARGEST = 2**63
CALENDAR = ("year", "quarter", "month", "week", "day", "hour")
FORMATS = ("hex", "uuid", "number", "like")
METHODS = ("nearest", "random", "down")
KINDS = (
    *("mail", "phone", "iban", "card", "ssn", "national_id", "ip", "mac", "url"),
    *("coordinates", "uuid"),
)
CENSUS, GIVEN = "census 2000", "given"
_FEW = "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
RESTRICTED = tuple(_FEW.split())
"""Areas with at most 20,000 people in the Census of 2000."""
_HELD = (
    "names geography dates birth ages telephone fax mail ssn medical_record health_plan account"
    " licence vehicle device url ip biometric photograph other none"
)
HARBOR = frozenset(_HELD.split())
"""What a column may contain under Safe Harbor."""
OPTIONS: Mapping[str, frozenset[str]] = {
    "token": frozenset({"format", "lasting"}),
    "shift": frozenset({"within", "keep"}),
    "top_code": frozenset({"at", "at_least"}),
    "bottom_code": frozenset({"at", "at_least"}),
    "round": frozenset({"to", "method"}),
    "noise": frozenset({"amount", "share", "between"}),
    "redact": frozenset({"patterns"}),
    "zip3": frozenset({"population", "restricted"}),
    "null": frozenset(),
    "constant": frozenset({"value"}),
}
"""The options that each mask may have."""
ONE_OF = {
    "top_code": ("at", "at_least"),
    "bottom_code": ("at", "at_least"),
    "noise": ("amount", "share"),
    "round": ("to",),
    "shift": ("within",),
    "constant": ("value",),
    "token": ("format",),
    "zip3": ("population",),
}
"""Options of which a mask has exactly one."""


@dataclass(frozen=True, slots=True)
class Mask:
    """One mask of a column, with its options."""

    name: str
    options: Mapping[str, Any]


def read_masks(given: Any, where: str) -> tuple[Mask, ...]:
    """Parse the masks of a column. Raises UnreadableError for anything unknown."""
    masks = tuple(_mask(one, f"{where}[{i}]") for i, one in enumerate(listed(given, where)))
    if len({mask.name for mask in masks}) < len(masks):
        raise UnreadableError(f"{where}: has a mask twice")
    return masks


def _mask(given: Any, where: str) -> Mask:
    name = mapping(given, where).get("mask")
    if not isinstance(name, str) or name not in OPTIONS:
        raise UnreadableError(f"{where}.mask: is not known")
    options = dict(known(given, where, {"mask", *OPTIONS[name]}))
    del options["mask"]
    needed = ONE_OF.get(name, ())
    if needed and sum(option in options for option in needed) != 1:
        raise UnreadableError(f"{where}: needs one of {', '.join(needed)}")
    if name == "zip3" and ("restricted" in options) != (options["population"] == GIVEN):
        raise UnreadableError(f"{where}.restricted: is not that of its population")
    for option, value in options.items():
        _refuse_odd(option, value, f"{where}.{option}")
    return Mask(name, options)


def _refuse_odd(option: str, value: Any, where: str) -> None:
    match option:
        case "within" | "at_least":
            good = whole(value, where, 1, LARGEST) > 0
        case "at":
            limit(value, where)
            good = True
        case "amount" | "share":
            good = is_number(value) and value > 0
        case "to":
            good = value in CALENDAR if isinstance(value, str) else is_number(value) and value > 0
        case "between":
            low, high = (limit(end, where) for end in _pair(value, where))
            good = low <= high
        case "lasting":
            good = value is True
        case "value":
            good = isinstance(value, str | bool) or is_number(value)
        case _:
            allowed: Collection[str] = {
                "format": FORMATS,
                "method": METHODS,
                "keep": ("weekday", "order"),
                "patterns": KINDS,
                "population": (CENSUS, GIVEN),
                "restricted": [f"{area:03}" for area in range(1000)],
            }[option]
            several = option in ("keep", "patterns", "restricted")
            values = listed(value, where) if several else [value]
            good = all(isinstance(one, str) and one in allowed for one in values)
    if not good:
        raise UnreadableError(f"{where}: is not known")


def _pair(value: Any, where: str) -> list[Any]:
    ends = listed(value, where)
    if len(ends) != 2 or isinstance(ends[0], str) != isinstance(ends[1], str):
        raise UnreadableError(f"{where}: is no pair of values")
    return ends


def limit(value: Any, where: str) -> Fraction:
    """A number, or the seconds of a date since 1970."""
    if is_number(value):
        return Fraction(value)
    try:
        moment = dt.datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise UnreadableError(f"{where}: is no number and no date") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    since = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return Fraction(since // dt.timedelta(microseconds=1), 10**6)
