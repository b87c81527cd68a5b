"""Typed access to fields of untrusted JSON. Raises UnreadableError."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from anonymizer.independent.errors import UnreadableError


def parsed(text: str) -> Any:
    """Parse JSON with exact numbers; constants such as NaN and duplicate keys are errors."""
    try:
        return json.loads(
            text,
            parse_int=_whole,
            parse_float=Decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError, ArithmeticError, MemoryError):
        raise UnreadableError("manifest: is not JSON that can be read") from None


def mapping(given: Any, where: str) -> dict[str, Any]:
    """An object."""
    if not isinstance(given, dict):
        raise UnreadableError(f"{where}: is not an object")
    return given


def known(given: Any, where: str, fields: set[str]) -> dict[str, Any]:
    """An object with at most these fields: another one might change their meaning."""
    data = mapping(given, where)
    if set(data) - fields:
        raise UnreadableError(f"{where}: has a field that this reader does not know")
    return data


def listed(given: Any, where: str) -> list[Any]:
    """A list."""
    if not isinstance(given, list):
        raise UnreadableError(f"{where}: is not a list")
    return given


def text(given: Any, where: str) -> str:
    """A non-empty text."""
    if not isinstance(given, str) or not given:
        raise UnreadableError(f"{where}: is not a text")
    return given


def name(given: Any, where: str) -> str | None:
    """A non-empty text, or null."""
    return None if given is None else text(given, where)


def flag(given: Any, where: str) -> bool:
    """True or false."""
    if not isinstance(given, bool):
        raise UnreadableError(f"{where}: is not true or false")
    return given


def whole(given: Any, where: str, least: int, most: int) -> int:
    """A whole number between two bounds."""
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise UnreadableError(f"{where}: is no whole number from {least} to {most}")
    return given


def is_number(given: Any) -> bool:
    """Whether the value is a number as parsed by `parsed`."""
    return isinstance(given, int | Decimal) and not isinstance(given, bool)


def code(given: Any, where: str) -> int | Decimal | str | None:
    """The top or bottom code of a column."""
    if given is not None and not isinstance(given, str) and not is_number(given):
        raise UnreadableError(f"{where}: is no number and no text")
    found: int | Decimal | str | None = given
    return found


def _whole(text: str) -> int:
    found = int(text)
    float(found)  # raises for a number beyond all doubles
    return found


def _no_constant(name: str) -> Any:
    raise ValueError("no number of JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made
