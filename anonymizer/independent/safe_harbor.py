"""Whether a release contains no more than Safe Harbor allows, 45 CFR 164.514(b)(2)(i).

What a column may contain follows from its declared content in the manifest. For generalized cells,
bounds and members are judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from anonymizer.independent.layout import Column
from anonymizer.independent.masked import NOWHERE, Cells, identifiers, is_area, is_first, ordered
from anonymizer.independent.masks import RESTRICTED
from anonymizer.independent.release import Release
from anonymizer.independent.result import Check, counted
from anonymizer.independent.rows import Opened
from anonymizer.independent.values import FINITE, Ordered, Value, family

OLDEST = 90
YEAR = 31_556_952
"""Seconds of an average year."""
FORMS = ("mail", "url", "uuid", "mac", "ssn")
"""Identifiers that are recognized by form alone."""
_DAY = re.compile(
    r"(?<![0-9])(?:(?:18|19|20)[0-9]{2}[-/.][01]?[0-9][-/.][0-3]?[0-9]"
    r"|[0-3]?[0-9][-/.][0-3]?[0-9][-/.](?:18|19|20)[0-9]{2})(?![0-9])"
)


def judge_safe_harbor(opened: Opened, release: Release) -> Iterator[Check]:
    """One check per published column, if the layout says that Safe Harbor applies."""
    year = release.layout.safe_harbor
    if year is None:
        return
    for column in release.layout.columns:
        cells = _texts(opened, release, column)
        name, refused = _refused(column, cells, year)
        broken = sum(map(refused, cells.known()))
        if column.quasi:
            broken += sum(
                any(refused(one) for one in row.cells[column.column].values) for row in release.rows
            )
        yield counted(name, column.column, broken)


def _texts(opened: Opened, release: Release, column: Column) -> Cells:
    """The values of a column that is published value by value."""
    values: tuple[str | None, ...] = ()
    if not column.quasi and column.column not in release.layout.tables:
        values = opened.texts(column)
    return Cells(column.column, column.sql_type, values, ())


def _refused(column: Column, cells: Cells, year: int) -> tuple[str, Callable[[Value], bool]]:
    """The name of the check, and the condition for refused values."""
    last = column.masks[-1] if column.masks else None
    emptied = last is not None and last.name in ("null", "constant")

    def number(value: Value) -> Ordered:
        return ordered(value, cells) if isinstance(value, str) else value

    match column.safe_harbor:
        case "none":
            return "safe_harbor_text", lambda one: isinstance(one, str) and _tells(one)
        case "ages" if not emptied:
            return "safe_harbor_age", lambda one: number(one) > (FINITE, OLDEST)
        case "dates" | "birth" if not emptied:
            return "safe_harbor_year", lambda one: not _is_year(number(one), cells, year - OLDEST)
        case "geography" if not emptied:
            few = RESTRICTED if last is None else last.options.get("restricted", RESTRICTED)
            return (
                "safe_harbor_zip3",
                lambda one: not isinstance(one, str) or not is_area(one) or one in few,
            )
    kept = str(last.options.get("value")) if last is not None and last.name == "constant" else None
    shown = {"True": "true", "False": "false"}.get(str(kept), kept)
    return "safe_harbor_nothing", lambda one: one != shown


def _tells(text: str) -> bool:
    return _DAY.search(text) is not None or any(identifiers(text, FORMS))


def _is_year(value: Ordered, cells: Cells, first: int) -> bool:
    rank, number = value
    if value == NOWHERE or rank != FINITE:
        return False
    if family(cells.sql_type) == "whole":
        return first <= number <= 2200
    # (the first day of a year is less than two days from a multiple of the average year)
    return is_first(number, "year") and number >= (first - 1970) * YEAR - 2 * 86_400
