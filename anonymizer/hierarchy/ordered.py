"""Hierarchies of intervals over an ordered column: conventional, divisor, cardinality.

All three place the values on a grid of points, build half-open intervals of points, and turn these
into closed bounds at the end. Source: Yaseen et al. 2018, section III.
"""

from __future__ import annotations

from anonymizer.compile import Sql, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.place import Place
from anonymizer.hierarchy.scale import MICROSECONDS, Scale
from anonymizer.plan import Stage
from anonymizer.policy.hierarchies import Cardinality, Conventional, Divisor

VALUE = Sql("value")
WIDEST = 4 * 10**18
"""Most points between the ends of a domain."""
DEFAULT_LEAVES = 2**20
"""Most leaves of a hierarchy whose leaf width is not given: wider leaves are used instead."""
MOST_LEAVES = 2**22
MOST_DIVIDED = 10**12
"""Largest number that is searched for divisors."""

type Ends = tuple[int | float, int | float] | None


def conventional(place: Place, spec: Conventional) -> tuple[Stage, ...]:
    """CGH: halve the domain from the root down while leaves keep `min_width` on average.

    The left half takes the odd point, so 1..100 in eight leaves alternates 13 and 12.
    """
    scale = _scale(place)
    ends = _ends(place, spec.domain)
    narrowest = 1.0
    if spec.min_width is not None and scale.line != "reals":
        narrowest = max(1.0, scale.width(spec.min_width))
    return (
        *_placed(place, ends, shape="halves", min_width=spec.min_width),
        place.step(
            "halve",
            positions=place.table("positions"),
            grid=place.table("grid"),
            intervals=place.table("intervals"),
            narrowest=lit(narrowest),
            exact=scale.line == "points",
        ),
        *_bounded(place),
    )


def divisor(place: Place, spec: Divisor) -> tuple[Stage, ...]:
    """DBGH: a level per divisor of the largest value, counted from 1 (or from a lower minimum).

    The divisors of 100 are those of a domain 1..100; a domain that begins below 1 is counted from
    its beginning. `chain` starts at the smallest divisor and multiplies by the largest prime left
    (100 from 10: 10, 50, 100), so that levels nest; `independent` takes every divisor.
    """
    scale = _scale(place)
    ends = _ends(place, spec.domain)
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
        # with every width left out the root alone remains
        found = (
            place.step(
                "widths_given",
                widths=widths,
                given=given or [WIDEST // scale.unit],
                unit=lit(scale.unit),
            ),
        )
    return (
        *_placed(place, ends, shape="units", min_width=None),
        *found,
        place.step(
            "divide",
            positions=place.table("positions"),
            grid=grid,
            widths=widths,
            intervals=place.table("intervals"),
        ),
        *_bounded(place),
    )


def cardinality(place: Place, spec: Cardinality) -> tuple[Stage, ...]:
    """CBGH: pair neighbouring intervals; of an odd number the counts decide which stays alone."""
    scale = _scale(place)
    ends = _ends(place, spec.domain)
    grid, positions = place.table("grid"), place.table("positions")
    nodes, intervals = place.table("nodes"), place.table("intervals")
    if scale.line == "reals":
        width = Sql("1")
    elif spec.min_width is None:
        width = sql(
            "cast(greatest(1, ceil(points / {most})) as bigint)", most=lit(DEFAULT_LEAVES)
        )
    else:
        width = lit(_whole_width(place, scale, spec.min_width))
    return (
        *_placed(place, ends, shape="cells", min_width=spec.min_width),
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
        *_bounded(place),
    )


def refuse_infinite(place: Place) -> tuple[Stage, ...]:
    """Stop at NaN and infinities, which no interval holds."""
    if not _scale(place).can_be_infinite:
        return ()
    return (
        place.refuse_values(
            Sql("not isfinite(value)"),
            "NaN or infinite: no interval holds them",
            "make them NULL in source.query",
        ),
    )


def _placed(
    place: Place, ends: Ends, *, shape: str, min_width: float | None
) -> tuple[Stage, ...]:
    """Check the values against the domain, and place them on its grid."""
    scale = _scale(place)
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
        *_refuse_wide(place),
        *_refuse_outside(place, ends, at),
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
    """Where points are counted from: divisors count from 1, as the method does."""
    if shape != "units" or scale.is_time:
        return Sql("lowest")
    return sql(
        "case when lowest >= {u} then {u} else lowest - ((lowest % {u}) + {u}) % {u} end",
        u=lit(scale.unit),
    )


def _refuse_wide(place: Place) -> tuple[Stage, ...]:
    scale = _scale(place)
    if scale.is_time:
        return ()
    return (
        place.guard(
            "guard_range",
            {"values": place.values, "scale": lit(scale.unit), "widest": lit(WIDEST)},
            lambda row: Problem(
                place.path,
                "the column's values span too wide a range for intervals",
                allowed=f"{WIDEST:,} units of the last digit",
                hint="use builder intervals, frequency or prefix",
            ),
        ),
    )


def _refuse_outside(place: Place, ends: Ends, at: Sql) -> tuple[Stage, ...]:
    if ends is None:
        return ()
    condition = sql(
        "{at} not between {low} and {high}", at=at, low=lit(ends[0]), high=lit(ends[1])
    )
    return (
        place.refuse_values(condition, "outside of the domain", "widen hierarchy.domain"),
    )


def _bounded(place: Place) -> tuple[Stage, ...]:
    """From intervals of points to bounds, and to the hierarchy."""
    scale = _scale(place)
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


def finish(place: Place, *, points: bool) -> Stage:
    """The hierarchy from `bounds`; `points`: leaves are points of the domain, else values."""
    scale = _scale(place)
    return place.step(
        "finish",
        bounds=place.table("bounds"),
        hierarchy=place.hierarchy,
        points=points,
        at_value=scale.position(VALUE),
        at_lo=scale.position(Sql("lo")),
        at_hi=scale.position(Sql("hi")),
        at_lowest=scale.position(Sql("lowest")),
        lo_text=scale.bound_text(Sql("lo")),
        hi_text=scale.bound_text(Sql("hi")),
    )


def given_bound(place: Place, option: str, bound: int | float | str) -> int | float:
    """Position of a bound from the policy. Raises SourceError if the type has no such value."""
    try:
        return _scale(place).given(bound)
    except ValueError as error:
        raise SourceError(Problem(f"{place.path}.{option}", f"a bound {error}")) from None


def _ends(place: Place, domain: tuple[int | float | str, int | float | str] | None) -> Ends:
    if domain is None:
        return None
    low, high = (given_bound(place, "domain", bound) for bound in domain)
    if _scale(place).line == "days":
        return int(low // MICROSECONDS), int(high // MICROSECONDS)
    if high - low > WIDEST:
        raise SourceError(
            Problem(f"{place.path}.domain", "is too wide", allowed=f"{WIDEST:,} units")
        )
    return low, high


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


def _scale(place: Place) -> Scale:
    scale = place.scale
    assert scale is not None, "checked before the builder is called"
    return scale
