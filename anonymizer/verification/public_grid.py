"""Conditions on bounds that lie on a public grid. No statement that rounds values is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.compile import Sql, Table
from anonymizer.contract.layout import Layout, PublishedColumn, quasi
from anonymizer.source.masking.masks import bounds, exact_type, family_of, precision
from anonymizer.verification.form import REALS, value_of
from anonymizer.verification.questions import Question, condition, of_column

SECOND = 1_000_000
HOUR = 3_600 * SECOND
DAY = 24 * HOUR
"""Microseconds."""
DAYS = {"year": 366, "quarter": 92, "month": 31, "week": 7, "day": 1, "hour": 1}
"""Days of a step of time, at most."""
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


def above(column: PublishedColumn) -> Sql:
    """True if the bound `b.hi` lies more than a step beyond the greatest value `x.hi`."""
    if column.grid in DAYS:
        return Sql(f"date_diff('day', x.hi, b.hi) > {DAYS[column.grid]}")
    own, width = _width(column, "b.hi")
    return Sql(f"{own} - ({width}) > x.hi")


def below(column: PublishedColumn) -> Sql:
    """True if the bound `b.lo` lies more than a step before the least value `x.lo`."""
    if column.grid in DAYS:
        return Sql(f"date_diff('day', b.lo, x.lo) > {DAYS[column.grid]}")
    own, width = _width(column, "b.lo")
    return Sql(f"{own} + ({width}) < x.lo")


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
    if step not in DAYS:
        return _multiple(step, "lo", sql_type)
    plain = _plain(column, "lo")
    conditions = {
        "year": f"month({plain}) = 1 and day({plain}) = 1",
        "quarter": f"month({plain}) % 3 = 1 and day({plain}) = 1",
        "month": f"day({plain}) = 1",
        "week": f"({_day(plain)} + 3) % 7 = 0",
    }
    part = HOUR if step == "hour" else DAY
    whole = [] if sql_type == "DATE" else [f"epoch_us({plain}) % {part} = 0"]
    return Sql(" and ".join([conditions.get(step, "true"), *whole]))


def _ends(column: PublishedColumn) -> Sql:
    """True if `hi` is the last value of a step; of reals the first one of the next."""
    step, sql_type = column.grid, column.sql_type
    if step in DAYS:
        plain = _plain(column, "hi")
        leap = f"year({plain}) % 4 = 0 and (year({plain}) % 100 <> 0 or year({plain}) % 400 = 0)"
        last = (
            f"case when month({plain}) in (4, 6, 9, 11) then 30 when month({plain}) <> 2 then 31"
            f" when {leap} then 29 else 28 end"
        )
        conditions = {
            "year": f"month({plain}) = 12 and day({plain}) = 31",
            "quarter": f"month({plain}) % 3 = 0 and day({plain}) = {last}",
            "month": f"day({plain}) = {last}",
            "week": f"({_day(plain)} + 4) % 7 = 0",
        }
        part = HOUR if step == "hour" else DAY
        # the last instant, which is less than a second before the next step; remainders of
        # instants before 1970 are negative
        rest = f"(epoch_us({plain}) % {part} + {part}) % {part}"
        whole = [] if sql_type == "DATE" else [f"{rest} >= {part - SECOND}"]
        return Sql(" and ".join([conditions.get(step, "true"), *whole]))
    if sql_type in REALS:
        return _multiple(step, "hi", sql_type)
    wide = exact_type(sql_type)
    most = value_of(str(bounds(sql_type)[1]), wide)
    width = _step(step, f"cast(hi as {wide})", sql_type, wide)
    # (the remainder before the unit is added, which may be beyond the type)
    rest = f"(cast(hi as {wide}) % ({width}))"
    unit = _unit(sql_type)
    return Sql(f"cast(hi as {wide}) = {most} or {rest} = -{unit} or {rest} = ({width}) - {unit}")


def _day(plain: str) -> str:
    return f"date_diff('day', DATE '1970-01-01', cast({plain} as date))"


def _multiple(step: Any, name: str, sql_type: str) -> Sql:
    if sql_type in REALS:
        own = f"cast({name} as double)"
        width = _step(step, own, sql_type, "DOUBLE")
        nearest = f"round({own} / ({width})) * ({width})"
        # (what the rounding of doubles and singles may be wrong by)
        blur = f"greatest(abs({own}), cast(1 as double)) * cast(1e-6 as double)"
        return Sql(f"not isfinite({own}) or abs({own} - {nearest}) <= {blur}")
    wide = exact_type(sql_type)
    own = f"cast({name} as {wide})"
    width = _step(step, own, sql_type, wide)
    least = value_of(str(bounds(sql_type)[0]), wide)
    return Sql(f"{own} % ({width}) = 0 or {own} = {least}")


def _plain(column: PublishedColumn, name: str) -> str:
    """A date, or the microsecond that an instant is in."""
    if column.sql_type.endswith("TIME ZONE"):
        return f"timezone('UTC', {name})"
    if column.sql_type == "TIMESTAMP_NS":
        # (a cast drops what is below a microsecond, which before 1970 is towards the next one)
        below = f"(epoch_ns({name}) % 1000 + 1000) % 1000"
        return f"cast(make_timestamp_ns(epoch_ns({name}) - {below}) as timestamp)"
    return f"cast({name} as timestamp)" if column.sql_type != "DATE" else name


def _unit(sql_type: str) -> Sql:
    """The distance of neighbouring values."""
    digits = precision(sql_type)[1] if family_of(sql_type) == "decimal" else 0
    return value_of(f"0.{'0' * (digits - 1)}1" if digits else 1, exact_type(sql_type))
