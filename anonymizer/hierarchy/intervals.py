"""Hierarchies of intervals over an ordered column: grids, given intervals, calendar periods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from anonymizer.compile import Sql, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.scale import MICROSECONDS, Bound, Place, Scale
from anonymizer.policy.hierarchies import Cardinality, Conventional, Date, Divisor, Intervals
from anonymizer.steps import Stage

# Place an ordered column's values on a grid of points, and convert points back to bounds.


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


def place_values(
    place: Place, ends: Ends, *, shape: str, min_width: float | None
) -> tuple[Stage, ...]:
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


def bound_stages(place: Place) -> tuple[Stage, ...]:
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
        return line(place).bound_position(bound)
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


# Hierarchies of intervals over an ordered column: conventional, divisor, cardinality.
#
# All three place the values on a grid of points, build half-open intervals of points, and convert
# these to closed bounds at the end. Source: Yaseen et al. 2018, section III.


MOST_LEAVES = 2**20
"""Largest number of leaf intervals of a given width."""
MOST_DIVIDED = 10**12
"""Largest number whose divisors are searched."""


def conventional(place: Place, spec: Conventional) -> tuple[Stage, ...]:
    """CGH: halve the domain from the root down while leaves keep `min_width` on average.

    The left half takes the odd point, so 1..100 in eight leaves alternates 13 and 12.
    """
    scale = line(place)
    ends = domain_ends(place, spec.domain)
    narrowest = 1.0
    if spec.min_width is not None and scale.line != "reals":
        narrowest = max(1.0, scale.width(spec.min_width))
    return (
        *place_values(place, ends, shape="halves", min_width=spec.min_width),
        place.step(
            "halve",
            positions=place.table("positions"),
            grid=place.table("grid"),
            intervals=place.table("intervals"),
            narrowest=lit(narrowest),
            exact=scale.line == "points",
        ),
        *bound_stages(place),
    )


def divisor(place: Place, spec: Divisor) -> tuple[Stage, ...]:
    """DBGH: a level per divisor of the largest value, counted from 1 (or from a lower minimum).

    The divisors of 100 are those of a domain 1..100; a domain that begins below 1 is counted from
    its beginning. `chain` starts at the smallest divisor and multiplies by the largest remaining
    prime (100 from 10: 10, 50, 100), so that levels nest; `independent` uses every divisor.
    """
    scale = line(place)
    ends = domain_ends(place, spec.domain, from_one=True)
    grid, widths = place.table("grid"), place.table("widths")
    exact = scale.line == "points" and scale.unit == 1
    if spec.divisors is None:
        found: tuple[Stage, ...] = (
            place.guard(
                "guard_cells",
                {"grid": grid, "width": lit(scale.unit), "most": lit(MOST_DIVIDED)},
                lambda row: Problem(
                    f"{place.path}.divisors",
                    "the domain is too large to search for divisors",
                    allowed=f"at most {MOST_DIVIDED:,} units",
                    hint="give the divisors, or a domain",
                ),
            ),
            place.step(
                "widths_found",
                grid=grid,
                widths=widths,
                unit=lit(scale.unit),
                narrowest=lit(spec.min_width or 1),
                chain=spec.mode == "chain",
                exact=exact,
            ),
        )
    else:
        kept = [one for one in spec.divisors if one >= (spec.min_width or 1)]
        given = [one for one in kept if one > 1 or not exact]
        # if all widths are omitted, only the root is left
        found = (
            place.step(
                "widths_given",
                widths=widths,
                given=given or [WIDEST // scale.unit],
                unit=lit(scale.unit),
            ),
        )
    return (
        *place_values(place, ends, shape="units", min_width=None),
        *found,
        place.step(
            "divide",
            positions=place.table("positions"),
            grid=grid,
            widths=widths,
            intervals=place.table("intervals"),
        ),
        *bound_stages(place),
    )


def cardinality(place: Place, spec: Cardinality) -> tuple[Stage, ...]:
    """CBGH: pair neighbouring intervals; of an odd number, the counts decide the unpaired one."""
    scale = line(place)
    ends = domain_ends(place, spec.domain)
    grid, positions = place.table("grid"), place.table("positions")
    nodes, intervals = place.table("nodes"), place.table("intervals")
    if scale.line == "reals":
        width = Sql("1")
    elif spec.min_width is None:
        width = sql("cast(greatest(1, ceil(points / {most})) as bigint)", most=lit(DEFAULT_LEAVES))
    else:
        width = lit(_whole_width(place, scale, spec.min_width))
    return (
        *place_values(place, ends, shape="cells", min_width=spec.min_width),
        place.guard(
            "guard_cells",
            {"grid": grid, "width": width, "most": lit(MOST_LEAVES)},
            lambda row: Problem(
                f"{place.path}.min_width",
                f"makes {row[0]:,} leaf intervals",
                allowed=f"at most {MOST_LEAVES:,}",
                hint="give a wider min_width, or a domain",
            ),
        ),
        place.step("pair_nodes", positions=positions, grid=grid, nodes=nodes, width=width),
        place.step(
            "climb",
            positions=positions,
            nodes=nodes,
            intervals=intervals,
            exact=scale.line == "points",
        ),
        *bound_stages(place),
    )


def _whole_width(place: Place, scale: Scale, width: float) -> int:
    points = scale.width(width)
    if points < 1 or points != int(points):
        raise SourceError(
            Problem(
                f"{place.path}.min_width",
                "is not a whole number of the column's steps",
                allowed=f"multiples of {1 / scale.unit:g}" + (" day" if scale.is_time else ""),
            )
        )
    return int(points)


# Hierarchies of one level of given intervals, with bottom- and top-coding.


def intervals(place: Place, spec: Intervals) -> tuple[Stage, ...]:
    """Build one level of intervals, each starting at a cut; level 2 is the root.

    Values below the first cut are an error unless `bottom` is given. Bottom- and top-coded
    intervals are open (`< 18`, `>= 90`), so that they do not disclose the extremes; `lo` and `hi`
    hold the ends of the data, for measures. Without `top`, the last interval ends with the data.
    """
    scale = line(place)
    marks = {given_bound(place, "cuts", cut): cut for cut in spec.cuts}
    if spec.bottom is not None:
        marks.setdefault(given_bound(place, "bottom", spec.bottom), spec.bottom)
    if spec.top is not None:
        marks.setdefault(given_bound(place, "top", spec.top), spec.top)
    typed = [scale.literal(marks[at]) for at in sorted(marks)]
    uncovered: tuple[Stage, ...] = ()
    if spec.bottom is None:
        uncovered = (
            place.refuse_values(
                sql("value < {first}", first=typed[0]),
                "below the first cut, in no interval",
                "give bottom, or a lower first cut",
            ),
        )
    return (
        *refuse_infinite(place),
        *uncovered,
        place.step(
            "cut_points",
            values=place.values,
            bounds=place.table("bounds"),
            marks=typed,
            before=scale.before(Sql("m.past")),
            before_first=scale.before(Sql("e.first_mark")),
            bottom=_open("<", spec.bottom),
            top=_open(">=", spec.top),
        ),
        finish(place, points=scale.line == "points", wide=True),
    )


def _open(sign: str, bound: int | float | str | None) -> Sql:
    return lit(None if bound is None else f"{sign} {bound}")


# Hierarchies of calendar periods for dates and timestamps.


LENGTHS = {
    "day": "1 day",
    "month": "1 month",
    "quarter": "3 months",
    "year": "1 year",
    "decade": "10 years",
}


@dataclass(frozen=True, slots=True)
class Period:
    """One calendar level."""

    name: str
    length: str


def date(place: Place, spec: Date) -> tuple[Stage, ...]:
    """A level per period, and the root. Periods of timestamps are in UTC.

    The day of a date is the value itself and not a separate level.
    """
    scale = line(place)
    periods = [
        Period(name, LENGTHS[name])
        for name in spec.levels
        if not (name == "day" and scale.line == "points")
    ]
    if not periods:
        raise SourceError(
            Problem(
                f"{place.path}.levels",
                "day is the value itself in a column of dates",
                allowed="month, quarter, year, decade",
            )
        )
    return (
        *refuse_infinite(place),
        place.step(
            "calendar",
            values=place.values,
            bounds=place.table("bounds"),
            periods=periods,
            plain=scale.utc_timestamp(Sql("value")),
            begins_at=scale.begins_at(Sql("begins")),
            ends_at=scale.ends_at(Sql("past")),
        ),
        finish(place, points=scale.line == "points"),
    )
