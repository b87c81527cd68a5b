"""Checks of `preset: safe_harbor`: every published column declares and respects its content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anonymizer.errors import Problem
from anonymizer.policy.columns import MASKS
from anonymizer.policy.paths import column_path
from anonymizer.policy.safe_harbor import (
    COARSE,
    EMPTIED,
    KINDS,
    LETTER_OF,
    LETTERS,
    OLDEST,
    UNPUBLISHED,
    applies,
    named_kinds,
    named_notes,
    shows,
)

if TYPE_CHECKING:
    from anonymizer.policy.columns import Code, Column, Rounding
    from anonymizer.policy.fields import PolicyFields

REFUSED = {
    "token": "a code that is derived from a value, 164.514(c)",
    "redact": "for free text, in which names and places remain",
    "shift": "of dates, of which the year alone may be published",
    "zip3": "of ZIP codes, which are geography",
}
"""Roles whose columns may not declare `none`, with the reason."""


def stated(policy: PolicyFields) -> Iterator[Problem]:
    """Every published column declares its content, and shows no more than is allowed."""
    for name, column in policy.columns.items():
        path = column_path(name, "safe_harbor")
        if not applies(policy):
            if column.safe_harbor is not None:
                said = "is an option of preset: safe_harbor"
                yield Problem(path, said, hint="preset: safe_harbor, or leave it out")
            continue
        if column.role in UNPUBLISHED:
            continue
        if column.safe_harbor is None:
            said = (
                "is missing: under preset: safe_harbor every published column says which of the"
                " eighteen identifiers it holds"
            )
            yield Problem(path, said, ", ".join(KINDS), "none, if it holds none; or role: drop")
            continue
        yield from _acknowledged(name, column)
        yield from _treated(name, column)
        if shows(column):
            yield from _by_name(name, column)


def algorithm(policy: PolicyFields) -> Iterator[Problem]:
    """Algorithms and options that publish values in places that are not checked are refused."""
    if not applies(policy):
        return
    if policy.algorithm.name == "msb":
        said = "publishes columns in tables of their own, which are not judged for Safe Harbor"
        yield Problem("algorithm.name", said, hint="leave algorithm out")
    for name, column in policy.columns.items():
        if column.safe_harbor not in COARSE:
            continue
        for option in ("hierarchy", "sensitive_when"):
            if getattr(column, option) is not None:
                said = f"is not available for {column.safe_harbor}: its cells are not judged"
                yield Problem(column_path(name, option), said, hint="leave it out")


def _acknowledged(name: str, column: Column) -> Iterator[Problem]:
    for option in ("acknowledge", "acknowledge_unique"):
        if getattr(column, option):
            said = "is refused under preset: safe_harbor, which leaves no identifier"
            yield Problem(column_path(name, option), said, hint="role: drop")


def _by_name(name: str, column: Column) -> Iterator[Problem]:
    """A column whose name contradicts its declaration."""
    path, named = column_path(name, "safe_harbor"), named_kinds(name)
    hint = "role: drop; or another name in source.query, if it is something else"
    if column.safe_harbor == "none" and named:
        listed = ", ".join(f"{LETTERS[LETTER_OF[k]][0]} ({LETTER_OF[k]})" for k in named)
        said = f"is none, and the column's name speaks of {listed}"
        yield Problem(path, said, " or ".join(named), hint)
    elif column.safe_harbor == "none" and named_notes(name):
        yield Problem(path, "is none, and the column's name speaks of free text", hint=hint)
    elif column.safe_harbor == "dates" and "birth" in named:
        said = "is dates, and the column's name speaks of births, which disclose ages over 89"
        yield Problem(path, said, "birth", "safe_harbor: birth, with bottom_code")


def _treated(name: str, column: Column) -> Iterator[Problem]:
    """A column publishes only what is allowed for its kind."""
    kind = column.safe_harbor
    if column.role in EMPTIED:
        return
    match kind:
        case "none":
            if column.role in REFUSED or column.zip3:
                role = column.role if column.role in REFUSED else "zip3"
                said = f"is {role}, which is {REFUSED[role]}"
                hint = (
                    "safe_harbor: geography" if role == "zip3" else "role: drop, null or constant"
                )
                yield Problem(column_path(name, "role"), said, hint=hint)
        case "geography":
            if [mask for mask, _ in column.masks] != ["zip3"]:
                said = "publishes more of a place than the first three digits of its ZIP code"
                yield _unfit(name, column, said, "zip3, null, constant", "role: zip3")
        case "dates" | "birth":
            yield from _of_dates(name, column)
        case "ages":
            yield from _of_ages(name, column)
        case _:
            said = f"publishes {LETTERS[LETTER_OF[kind or 'other']][0]}"
            if column.role == "token":
                said += ": a token is derived from them, which 164.514(c) rules out"
            yield _unfit(name, column, said, "identifier, drop, null, constant", "role: drop")


def _unfit(name: str, column: Column, said: str, allowed: str, hint: str) -> Problem:
    letter = LETTER_OF[column.safe_harbor or "other"]
    return Problem(column_path(name, "role"), f"{said} ({letter})", allowed, hint)


def _of_dates(name: str, column: Column) -> Iterator[Problem]:
    """The year alone: dates rounded to it, or whole numbers that are years.

    (Whether a column without a mask has whole numbers depends on its type.)
    """
    masks, allowed = dict(column.masks), "round to year, null, constant"
    step = getattr(masks.pop("round", None), "to", None)
    codes = [masks.pop(code) for code in ("bottom_code", "top_code") if code in masks]
    if masks or (step is not None and step != "year"):
        said = "publishes more of a date than its year"
        yield _unfit(name, column, said, allowed, "role: round, to: year")
        return
    if step is None and column.role in MASKS and not codes:
        yield _unfit(name, column, "publishes more than a year", allowed, "role: round, to: year")
        return
    whole = not any(isinstance(_at(code), str) for code in codes)
    if step is None and not whole:
        said = "publishes more of a date than its year"
        yield _unfit(name, column, said, allowed, "role: round, to: year, bottom_code: 1936-01-01")
    if column.safe_harbor == "birth" and _at(dict(column.masks).get("bottom_code")) is None:
        said = f"is missing: births tell ages over {OLDEST - 1}, which are one category"
        hint = f"bottom_code: the year {OLDEST} years ago, as 1936-01-01 (1936 for whole numbers)"
        yield Problem(column_path(name, "bottom_code"), said, hint=hint)


def _of_ages(name: str, column: Column) -> Iterator[Problem]:
    """Ages above 89 are one category, which starts at 90 or below."""
    masks, path = dict(column.masks), column_path(name, "top_code")
    top = masks.pop("top_code", None)
    at = _at(top)
    hint = f"top_code: {OLDEST}, or role: top_code with at: {OLDEST}"
    if not set(masks) <= {"bottom_code", "round"}:
        said = f"publishes ages above {OLDEST - 1}"
        yield _unfit(name, column, said, "top_code, null, constant", hint)
    elif at is None:
        yield Problem(path, f"is missing: ages above {OLDEST - 1} are published as one", hint=hint)
    elif isinstance(at, str) or at > OLDEST:
        path = column_path(name, "at" if column.role == "top_code" else "top_code")
        yield Problem(path, f"shows ages above {OLDEST - 1}", f"{OLDEST} or less", hint)


def _at(code: Code | Rounding | Column | None) -> float | str | None:
    found: float | str | None = getattr(code, "at", None)
    return found
