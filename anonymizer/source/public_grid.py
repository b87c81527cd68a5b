"""The public grid on which the bounds of intervals lie: the first and last value of its steps.

An interval begins with the first value of a step and ends with the last one of a step, so that its
bounds say nothing of which values occur. A single value is published as it is: its whole class has
it, which is what the guarantee of classes is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from anonymizer.compile import Sql, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.scale import scale_of
from anonymizer.policy import Policy
from anonymizer.policy.columns import TWO_DIGITS
from anonymizer.policy.paths import column_path
from anonymizer.source.masking.masks import (
    Mask,
    bounds,
    exact_type,
    family_of,
    invalid_option,
    precision,
    typed_literal,
)
from anonymizer.source.profile import Attribute

EVERYTHING = "*"
"""The grid of categories: a cell shows one value or all of them."""
REAL_DIGITS = 36
"""Digits of floating-point numbers up to which steps grow."""


def grid_of(policy: Policy, name: str, kind: str, sql_type: str) -> Any:
    """The step of the bounds of a quasi-identifier; None without a grid.

    Raises SourceError if the step does not fit the type.
    """
    given = policy.columns[name]
    if policy.publish.bounds != "grid" or policy.algorithm.over_levels or given.role != "quasi":
        return None
    if kind == "categorical":
        return EVERYTHING
    if given.bounds is not None:
        mask = Mask(name, "round", sql_type, {"to": given.bounds.step}, Sql(""), Sql(""))
        SourceError.refuse(_unfit(mask, column_path(name, "bounds", "step")))
        return given.bounds.step
    scale = scale_of(sql_type)
    return "month" if scale is not None and scale.is_time else TWO_DIGITS


def _unfit(mask: Mask, path: str) -> Iterator[Problem]:
    """Why a step does not fit a column's type, or leaves single values."""
    step = mask.options["to"]
    strange = invalid_option(mask, "to")
    if strange is not None:
        yield Problem(path, *strange)
        return
    digits = precision(mask.sql_type)[1] if mask.family == "decimal" else 0
    single = step == "day" if mask.family == "date" else False
    if mask.family in ("whole", "decimal"):
        single = step * 10**digits < 2
    if single:
        yield Problem(path, "has one value: bounds would be those of rows", "two values or more")


def two_digits(own: str, sql_type: str) -> str:
    """The step of two significant digits around a number, 5 below 100.

    Below zero a power of ten belongs to the finer steps, so that steps do not overlap.
    """
    real = family_of(sql_type) == "double"
    wide = "DOUBLE" if real else exact_type(sql_type)
    most = 10**REAL_DIGITS if real else int(bounds(sql_type)[1])
    whens = []
    power = 2
    while 10**power <= most:
        end, step = (typed_literal(10**n, wide) for n in (power, power - 1))
        whens.append(f"when {own} >= {end} or {own} < -{end} then {step}")
        power += 1
    finest = typed_literal(5, wide)
    return f"(case {' '.join(reversed(whens))} else {finest} end)" if whens else str(finest)


def ends_of_step(attribute: Attribute, value: Sql) -> tuple[Sql, Sql]:
    """The first and the last value of the step that a value is in; of reals the first one of the
    next.
    """
    step, sql_type = attribute.grid, attribute.sql_type
    scale = scale_of(sql_type)
    assert scale is not None
    if scale.is_time:
        number, unit = (3, "month") if step == "quarter" else (1, step)
        here = sql("date_trunc({u}, {t})", u=lit(step), t=scale.utc_timestamp(value))
        after = sql("{b} + {i}", b=here, i=Sql(f"interval '{number} {unit}'"))
        first, last = (
            sql("case when isfinite({v}) then {e} else {v} end", v=value, e=end)
            for end in (scale.begins_at(here), scale.ends_at(after))
        )
        return first, last
    real = family_of(sql_type) == "double"
    wide = "DOUBLE" if real else exact_type(sql_type)
    own = f"cast({value} as {wide})"
    width = two_digits(own, sql_type) if step == TWO_DIGITS else str(typed_literal(step, wide))
    if real:
        at = f"floor({own} / {width})"
        first, last = (
            Sql(
                f"case when isfinite({value}) then cast({place} * {width} as {sql_type})"
                f" else {value} end"
            )
            for place in (at, f"({at} + 1)")
        )
        return first, last
    digits = precision(sql_type)[1] if family_of(sql_type) == "decimal" else 0
    least, most = (typed_literal(end, wide) for end in bounds(sql_type))
    over = f"({own} % {width})"
    rest = f"(case when {over} < 0 then {over} + {width} else {over} end)"
    more = f"({width} - {typed_literal(Decimal(1).scaleb(-digits), wide)} - {rest})"
    begin = f"case when {own} < {least} + {rest} then {least} else {own} - {rest} end"
    end = f"case when {own} > {most} - {more} then {most} else {own} + {more} end"
    return Sql(f"cast({begin} as {sql_type})"), Sql(f"cast({end} as {sql_type})")
