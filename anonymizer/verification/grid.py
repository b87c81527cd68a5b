"""Conditions on bounds that lie on a public grid. No statement that rounds values is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.compile import Sql, Table, lit
from anonymizer.contract.layout import Layout, PublishedColumn, quasi
from anonymizer.source.masking.masks import bounds, exact_type, family_of, precision
from anonymizer.verification.form import CALENDAR, REALS, value_of
from anonymizer.verification.questions import Question, condition, of_column

ON_GRID = "cells_on_grid"
TWO_DIGITS = "two digits"


def two_digits(value: str, sql_type: str) -> Sql:
    """The step of two significant digits, 5 below 100; below zero it is finer up to its end."""
    wide = "DOUBLE" if sql_type in REALS else exact_type(sql_type)
    digits = 37 if sql_type in REALS else len(str(int(bounds(sql_type)[1])))
    steps = [
        f"when {value} >= {value_of(10**n, wide)} or {value} < {value_of(-(10**n), wide)}"
        f" then {value_of(10 ** (n - 1), wide)}"
        for n in range(digits - 1, 1, -1)
    ]
    finest = value_of(5, wide)
    return Sql(f"case {' '.join(steps)} else {finest} end") if steps else finest


def first_of_step(column: PublishedColumn, last: str) -> Sql:
    """A value that is not after the first one of the step that ends with `last`."""
    step, sql_type = column.grid, column.sql_type
    if step in CALENDAR:
        return Sql(f"date_trunc({lit(step)}, {_plain(column, last)})")
    own, width = _width(column, last)
    return Sql(f"({own} - ({width}))")


def last_of_step(column: PublishedColumn, first: str) -> Sql:
    """A value that is not before the last one of the step that begins with `first`."""
    step = column.grid
    if step in CALENDAR:
        number, unit = (3, "month") if step == "quarter" else (1, step)
        return Sql(f"{_plain(column, first)} + interval '{number} {unit}'")
    own, width = _width(column, first)
    return Sql(f"({own} + ({width}))")


def _width(column: PublishedColumn, name: str) -> tuple[str, Sql]:
    """A number in a type in which it can be added, and the width of its step."""
    sql_type = column.sql_type
    wide = "DOUBLE" if sql_type in REALS else exact_type(sql_type)
    if wide == "HUGEINT" and "HUGEINT" in sql_type:
        wide = "DOUBLE"  # (sums near the ends of the type would be beyond it)
    own = f"cast({name} as {wide})"
    return own, _step(column.grid, own, sql_type, wide)


def _step(step: Any, own: str, sql_type: str, wide: str) -> Sql:
    return two_digits(own, sql_type) if step == TWO_DIGITS else value_of(step, wide)


def grid_questions(view: Table, layout: Layout) -> Iterator[Question]:
    """Whether every bound lies on the grid, and categories show one value or all."""
    for column in quasi(layout):
        if column.grid is None:
            continue
        ordered = column.kind != "categorical"
        parameters = {
            "data": view,
            "label": "cell",
            "bucket": column.bucket,
            "ordered": ordered,
            **of_column(column),
            **({"begins": _begins(column), "ends": _ends(column)} if ordered else {}),
        }
        yield condition(ON_GRID, column.column, parameters, "n")


def _begins(column: PublishedColumn) -> Sql:
    """True if `lo` is the first value of a step."""
    step, sql_type = column.grid, column.sql_type
    if step in CALENDAR:
        plain = _plain(column, "lo")
        return Sql(f"not isfinite(lo) or {plain} = date_trunc({lit(step)}, {plain})")
    return _multiple(step, "lo", sql_type)


def _ends(column: PublishedColumn) -> Sql:
    """True if `hi` is the last value of a step; of reals the first one of the next."""
    step, sql_type = column.grid, column.sql_type
    if step in CALENDAR:
        plain = _plain(column, "hi")
        after = "1 day" if sql_type == "DATE" else "1 second"
        next_one = f"date_trunc({lit(step)}, {plain} + interval '{after}')"
        return Sql(f"not isfinite(hi) or {next_one} > {plain}")
    if sql_type in REALS:
        return _multiple(step, "hi", sql_type)
    wide = exact_type(sql_type)
    most = value_of(str(bounds(sql_type)[1]), wide)
    width = _step(step, f"cast(hi as {wide})", sql_type, wide)
    # (the remainder before the unit is added, which may be beyond the type)
    rest = f"(cast(hi as {wide}) % ({width}))"
    unit = _unit(sql_type)
    return Sql(f"cast(hi as {wide}) = {most} or {rest} = -{unit} or {rest} = ({width}) - {unit}")


def _multiple(step: Any, name: str, sql_type: str) -> Sql:
    if sql_type in REALS:
        own = f"cast({name} as double)"
        width = _step(step, own, sql_type, "DOUBLE")
        nearest = f"round({own} / ({width})) * ({width})"
        return Sql(f"not isfinite({own}) or abs({own} - {nearest}) <= {_blur(own)}")
    wide = exact_type(sql_type)
    own = f"cast({name} as {wide})"
    width = _step(step, own, sql_type, wide)
    least = value_of(str(bounds(sql_type)[0]), wide)
    return Sql(f"{own} % ({width}) = 0 or {own} = {least}")


def _blur(own: str) -> str:
    """What the rounding of doubles and singles may be wrong by."""
    return f"greatest(abs({own}), cast(1 as double)) * cast(1e-6 as double)"


def _plain(column: PublishedColumn, name: str) -> str:
    if column.sql_type.endswith("TIME ZONE"):
        return f"timezone('UTC', {name})"
    return f"cast({name} as timestamp)" if column.sql_type != "DATE" else name


def _unit(sql_type: str) -> Sql:
    """The distance of neighbouring values."""
    digits = precision(sql_type)[1] if family_of(sql_type) == "decimal" else 0
    return value_of(f"0.{'0' * (digits - 1)}1" if digits else 1, exact_type(sql_type))
