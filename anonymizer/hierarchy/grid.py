"""Place an ordered column's values on a grid of points, and convert points back to bounds."""

from __future__ import annotations

from typing import TypeAlias

from anonymizer.compile import Sql, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.place import Place
from anonymizer.hierarchy.scale import MICROSECONDS, Bound, Scale
from anonymizer.steps import Stage

VALUE = Sql("value")
WIDEST = 4 * 10**18
"""Largest number of points between the ends of a domain."""
DEFAULT_LEAVES = 2**16
"""Largest number of leaves without a given leaf width; wider leaves are used instead."""

Ends: TypeAlias = tuple[int | float, int | float] | None


def refuse_infinite(place: Place) -> tuple[Stage, ...]:
    """Stop at NaN and infinities, which no interval contains."""
    if not line(place).can_be_infinite:
        return ()
    return (
        place.refuse_values(
            Sql("not isfinite(value)"),
            "NaN or infinite: no interval holds them",
            "make them NULL in source.query",
        ),
    )


def placed(place: Place, ends: Ends, *, shape: str, min_width: float | None) -> tuple[Stage, ...]:
    """Check the values against the domain, and place them on its grid."""
    scale = line(place)
    at = scale.position(VALUE)
    lowest, highest = (at, at) if ends is None else (lit(ends[0]), lit(ends[1]))
    reals = scale.line == "reals"
    grid = {
        "values": place.values,
        "grid": place.table("grid"),
        "lowest": lowest,
        "highest": highest,
    }
    if reals:
        placing = place.step(
            "grid_reals",
            **grid,
            shape=shape,
            min_width=lit(None if min_width is None else float(min_width)),
            most=lit(DEFAULT_LEAVES),
        )
    else:
        placing = place.step("grid_points", **grid, origin=_origin(scale, shape))
    return (
        *refuse_infinite(place),
        *_refuse_wide(place, from_one=shape == "units"),
        *_refuse_outside(place, ends),
        placing,
        place.step(
            "positions",
            values=place.values,
            grid=place.table("grid"),
            positions=place.table("positions"),
            position=at,
            real=reals,
        ),
    )


def _origin(scale: Scale, shape: str) -> Sql:
    """The point from which others are counted; divisors count from 1, as in the paper."""
    if shape != "units" or scale.is_time:
        return Sql("lowest")
    return sql(
        "case when lowest >= {u} then {u} else lowest - ((lowest % {u}) + {u}) % {u} end",
        u=lit(scale.unit),
    )


def _refuse_wide(place: Place, *, from_one: bool) -> tuple[Stage, ...]:
    """Stop if points cannot be counted; `from_one`: from 1, or a lower minimum, as `_origin`."""
    scale = line(place)
    if scale.is_time:
        return ()
    return (
        place.guard(
            "guard_range",
            {
                "values": place.values,
                "scale": lit(scale.unit),
                "widest": lit(WIDEST),
                "from_one": from_one,
                "large": scale.too_large(VALUE),
            },
            lambda row: _wide(place, large=bool(row[0]), from_one=from_one),
        ),
    )


def _wide(place: Place, *, large: bool, from_one: bool) -> Problem:
    said, allowed = "span too wide a range for intervals", f"{WIDEST:,} units of the last digit"
    if large:
        said, allowed = "are too large for intervals", "119 bits"
    elif from_one:
        said += ", whose points are counted from 1"
    hint = "use builder intervals, frequency or prefix"
    return Problem(place.path, f"the column's values {said}", allowed=allowed, hint=hint)


def _refuse_outside(place: Place, ends: Ends) -> tuple[Stage, ...]:
    if ends is None:
        return ()
    scale = line(place)
    low, high = ends
    # compared in the column's own type: values that other guards refuse may have no position
    condition = sql(
        "value not between {low} and {high}",
        low=scale.lower(lit(low)),
        high=scale.upper(lit(high if scale.line == "reals" else high + 1)),
    )
    return (place.refuse_values(condition, "outside of the domain", "widen hierarchy.domain"),)


def bounded(place: Place) -> tuple[Stage, ...]:
    """Convert intervals of points to bounds, and these to the hierarchy."""
    scale = line(place)
    return (
        place.step(
            "bounds",
            intervals=place.table("intervals"),
            grid=place.table("grid"),
            bounds=place.table("bounds"),
            lower=scale.lower(Sql("first_at")),
            upper=scale.upper(Sql("past_at")),
            real=scale.line == "reals",
        ),
        finish(place, points=scale.line == "points"),
    )


def finish(place: Place, *, points: bool, wide: bool = False) -> Stage:
    """Build the hierarchy from `bounds`; `points`: leaves are points of the domain, else values.

    `wide`: ranges with more points than 64 bits can count are possible; their leaves are values.
    """
    scale = line(place)
    counting = points and wide and scale.greatest - scale.least > WIDEST
    return place.step(
        "finish",
        bounds=place.table("bounds"),
        hierarchy=place.hierarchy,
        points=points,
        widest=lit(WIDEST) if counting else None,
        scale=lit(scale.unit),
        at_value=scale.position(VALUE),
        at_lo=scale.position(Sql("lo")),
        at_hi=scale.position(Sql("hi")),
        at_lowest=scale.position(Sql("lowest")),
        lo_text=scale.bound_text(Sql("lo")),
        hi_text=scale.bound_text(Sql("hi")),
    )


def given_bound(place: Place, option: str, bound: Bound) -> int | float:
    """Position of a bound from the policy. Raises SourceError if the type has no such value."""
    try:
        return line(place).given(bound)
    except ValueError as error:
        raise SourceError(Problem(f"{place.path}.{option}", f"a bound {error}")) from None


def domain_ends(
    place: Place, domain: tuple[Bound, Bound] | None, *, from_one: bool = False
) -> Ends:
    """Positions of the ends of a given domain; None if the data determines them.

    `from_one`: points are counted from 1 if the domain begins above 1.
    """
    if domain is None:
        return None
    low, high = (given_bound(place, "domain", bound) for bound in domain)
    if line(place).line == "days":
        return int(low // MICROSECONDS), int(high // MICROSECONDS)
    begins = min(low, line(place).unit) if from_one else low
    if high - begins > WIDEST:
        raise SourceError(
            Problem(f"{place.path}.domain", "is too wide", allowed=f"{WIDEST:,} units")
        )
    return low, high


def line(place: Place) -> Scale:
    """The scale of a column that is known to be ordered."""
    scale = place.scale
    assert scale is not None, "checked before the builder is called"
    return scale
