"""Validates what a manifest from an untrusted source says of the masks of a column."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from typing import Any, get_args

from anonymizer.policy import masking
from anonymizer.policy.masking import CALENDAR, Identifier
from anonymizer.policy.safe_harbor import CENSUS, GIVEN, ZIP3

MASKS: Mapping[str, Mapping[str, Any]] = {
    "token": {"format": ("hex", "uuid", "number", "like"), "lasting": bool},
    "shift": {"within": int, "keep": ("weekday", "order")},
    "top_code": {"at": int | float | str, "at_least": int},
    "bottom_code": {"at": int | float | str, "at_least": int},
    "round": {"to": int | float | str, "method": ("nearest", "random", "down")},
    "noise": {"amount": int | float, "share": int | float, "between": list},
    "redact": {"patterns": get_args(Identifier)},
    "zip3": {"population": (CENSUS, GIVEN), "restricted": list},
    "null": {},
    "constant": {"value": bool | int | float | str},
}
"""The masks that a column can have, with the types or allowed values of their options."""
NEEDED: Mapping[str, tuple[str, ...]] = {
    **{mask: options for mask, (options, _) in masking.NEEDED.items()},
    "token": ("format",),
    "zip3": ("population",),
}
"""The options of which each mask has exactly one."""
LISTS = ("keep", "patterns")


def is_mask(mask: Mapping[str, Any]) -> bool:
    """Whether a mask is known, with options of the right types."""
    options = MASKS.get(mask["mask"])
    if options is None or not mask.keys() <= {"mask", *options}:
        return False
    needed = NEEDED.get(mask["mask"], ())
    if needed and len(mask.keys() & set(needed)) != 1:
        return False
    if mask["mask"] == "zip3" and not _is_zip3(mask):
        return False
    return all(_is_option(name, mask[name], kind) for name, kind in options.items() if name in mask)


def _is_zip3(mask: Mapping[str, Any]) -> bool:
    """Whether it lists the areas that are not shown, or refers to the guidance's list."""
    if mask["population"] == CENSUS:
        return "restricted" not in mask
    return all(isinstance(area, str) and ZIP3.match(area) for area in mask["restricted"])


def _is_option(name: str, value: Any, kind: Any) -> bool:
    if isinstance(kind, tuple):
        words = value if name in LISTS and isinstance(value, list) else [value]
        return (name in LISTS) == isinstance(value, list) and all(word in kind for word in words)
    if not isinstance(value, kind) or (
        isinstance(value, bool) and name not in ("value", "lasting")
    ):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    match name:
        case "at":
            return is_number_or_date(value)
        case "between":
            pair = len(value) == 2 and all(map(is_number_or_date, value))
            return pair and isinstance(value[0], str) == isinstance(value[1], str)
        case "to":
            return value in CALENDAR if isinstance(value, str) else value > 0
        case "within" | "at_least" | "amount" | "share":
            return bool(value > 0)
    return True


def is_number_or_date(value: Any) -> bool:
    """Whether a value is a finite number, or the text of a date."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    if not isinstance(value, str):
        return math.isfinite(value)
    try:
        dt.datetime.fromisoformat(value)
    except ValueError:
        return False
    return True
