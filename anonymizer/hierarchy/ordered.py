"""Hierarchies of intervals over an ordered column: conventional, divisor, cardinality.

All three place the values on a grid of points, build half-open intervals of points, and convert
these to closed bounds at the end. Source: Yaseen et al. 2018, section III.
"""

from __future__ import annotations

from anonymizer.compile import Sql, lit, sql
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy.grid import DEFAULT_LEAVES, WIDEST, bounded, domain_ends, line, placed
from anonymizer.hierarchy.place import Place
from anonymizer.hierarchy.scale import Scale
from anonymizer.policy.builders import Cardinality, Conventional, Divisor
from anonymizer.steps import Stage

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
        *placed(place, ends, shape="halves", min_width=spec.min_width),
        place.step(
            "halve",
            positions=place.table("positions"),
            grid=place.table("grid"),
            intervals=place.table("intervals"),
            narrowest=lit(narrowest),
            exact=scale.line == "points",
        ),
        *bounded(place),
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
        *placed(place, ends, shape="units", min_width=None),
        *found,
        place.step(
            "divide",
            positions=place.table("positions"),
            grid=grid,
            widths=widths,
            intervals=place.table("intervals"),
        ),
        *bounded(place),
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
        *placed(place, ends, shape="cells", min_width=spec.min_width),
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
        *bounded(place),
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
