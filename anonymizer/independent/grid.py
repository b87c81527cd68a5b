"""Judges bounds that lie on a public grid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from math import floor

from anonymizer.independent.cells import FINITE, Cell, family
from anonymizer.independent.form import is_first
from anonymizer.independent.layout import Column
from anonymizer.independent.rows import Release
from anonymizer.independent.rules import Check, form_check


def judge_grid(release: Release) -> Iterator[Check]:
    """Check every cell of the columns on a grid."""
    for column in release.layout.quasi:
        if column.grid is not None:
            cells = {row.cells[column.column] for row in release.rows}
            odd = sum(not _is_on_grid(cell, column, release) for cell in cells)
            yield form_check("cells_on_grid", column.column, odd)


def _is_on_grid(cell: Cell, column: Column, release: Release) -> bool:
    """Return whether the bounds of an interval are those of steps, and a set is of all values."""
    if column.kind == "categorical":
        return cell.form != "set" or (column.list_cells and _is_every_value(cell, column, release))
    if cell.form != "interval":
        return True
    low, high = cell.values
    assert isinstance(low, tuple)
    assert isinstance(high, tuple)
    begins = low[0] != FINITE or _begins_step(low[1], column)
    return begins and (high[0] != FINITE or _ends_step(high[1], column))


def _is_every_value(cell: Cell, column: Column, release: Release) -> bool:
    cells = (row.cells[column.column] for row in release.rows)
    return {*cell.values} == {value for one in cells for value in one.values}


def _begins_step(number: Fraction, column: Column) -> bool:
    if isinstance(column.grid, str) and column.grid != "two digits":
        return is_first(number, column.grid)
    step = _width(number, column)
    kind = family(column.sql_type)
    if kind == "float":
        return abs(number - round(number / step) * step) * 10**6 <= max(abs(number), Fraction(1))
    return number % step == 0 or number == _ends(column.sql_type)[0]


def _ends_step(number: Fraction, column: Column) -> bool:
    kind = family(column.sql_type)
    if isinstance(column.grid, str) and column.grid != "two digits":
        if column.sql_type == "DATE":
            return is_first(number + 86_400, column.grid)
        # (the last instant of a step is less than a second before the next one)
        return is_first(Fraction(floor(number) + 1), column.grid)
    if kind == "float":
        return _begins_step(number, column)
    unit = Fraction(1, 10 ** _digits(column.sql_type))
    step = _width(number, column)
    return (number + unit) % step == 0 or number == _ends(column.sql_type)[1]


def _width(number: Fraction, column: Column) -> Fraction:
    """The width of the step that a number is in: two significant digits, 5 below 100."""
    if column.grid != "two digits":
        return Fraction(str(column.grid))
    width, end = Fraction(5), 100
    while number >= end or number < -end:
        width, end = Fraction(end, 10), end * 10
    return width


def _digits(sql_type: str) -> int:
    """Digits after the point."""
    found = re.search(r",\s*(\d+)\)", sql_type)
    return int(found[1]) if found else 0


def _ends(sql_type: str) -> tuple[Fraction, Fraction]:
    """The smallest and largest value of a whole or decimal type."""
    found = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", sql_type)
    if found:
        most = Fraction(10 ** int(found[1]) - 1, 10 ** int(found[2]))
        return -most, most
    name = sql_type.removeprefix("U")
    bits = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}.get(name, 64)
    if name != sql_type:
        return Fraction(0), Fraction(2**bits - 1)
    return Fraction(-(2 ** (bits - 1))), Fraction(2 ** (bits - 1) - 1)
