"""Build stages from the options of a column's hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, assert_never

from anonymizer.compile import Table
from anonymizer.errors import Problem, SourceError
from anonymizer.hierarchy import exchange, intervals, sets
from anonymizer.hierarchy.scale import Place
from anonymizer.policy import hierarchies as options
from anonymizer.steps import Stage

Spec: TypeAlias = (
    options.Conventional
    | options.Divisor
    | options.Cardinality
    | options.OnTheFly
    | options.Prefix
    | options.Suffix
    | options.Date
    | options.Intervals
    | options.Taxonomy
    | options.Frequency
    | options.Order
)

ORDERED = (
    options.Conventional,
    options.Divisor,
    options.Cardinality,
    options.OnTheFly,
    options.Intervals,
)
ANY_TYPE = "prefix, suffix, taxonomy, frequency, order"


def inputs(spec: Spec, base: Path) -> tuple[Path, ...]:
    """The files that a hierarchy is read from; paths are relative to `base`."""
    if isinstance(spec, options.Taxonomy) and spec.file is not None:
        return (base / spec.file,)
    return ()


def stages(
    index: int,
    sql_type: str,
    kind: str,
    spec: Spec,
    *,
    column: str,
    base: Path,
    resolve: Callable[[str], Table] | None = None,
) -> tuple[Stage, ...]:
    """The stages that build `hierarchy_<index>` from `values_<index>`.

    Read: `value` (of type `sql_type`, never NULL), `n` (rows with it). Written, one row per value
    and level 1..h: `value`; `leaf`, its position among all leaves of the hierarchy, from 1, such
    that the leaves of every node are consecutive; `level` (h is the root); `node`, the first leaf
    under the node, which identifies it within its level; `label`, what is published (`*` for the
    root, `[30, 39]`, `213**`, a taxonomy's label); `leaves`, the number of leaves under the node;
    `lo` and `hi`, bounds in the column's type for the ordered builders, else NULL.

    Leaves are the taxonomy's or the listed values; for intervals over integers, decimals and dates,
    the points between the bounds; for intervals over floating point and timestamps and over more
    points than 64 bits count, for on_the_fly, prefix, suffix and frequency, the distinct values of
    the data.

    `column` and `base` (the policy's folder) are for messages and files; `resolve` maps the name of
    a taxonomy's table to a table of the source. Raises SourceError if the options do not fit the
    type, or a taxonomy's file is invalid; errors that depend on the data are found by Guards.
    """
    place = Place(index, column, sql_type)
    check_type(place, kind, spec)
    match spec:
        case options.Conventional():
            return intervals.conventional(place, spec)
        case options.Divisor():
            return intervals.divisor(place, spec)
        case options.Cardinality():
            return intervals.cardinality(place, spec)
        case options.OnTheFly():
            return sets.on_the_fly(place)
        case options.Intervals():
            return intervals.intervals(place, spec)
        case options.Date():
            return intervals.date(place, spec)
        case options.Prefix() | options.Suffix():
            return sets.affix(place, spec)
        case options.Frequency():
            return sets.frequency(place)
        case options.Order():
            return sets.order(place, spec)
        case options.Taxonomy():
            return exchange.taxonomy(place, spec, base, resolve)
        case _:
            assert_never(spec)


def check_type(place: Place, kind: str, spec: Spec) -> None:
    """Refuse a builder that cannot work on the column's type."""
    scale = place.scale
    ordered_kind = kind != "categorical" and scale is not None
    path = f"{place.path}.builder"
    if isinstance(spec, options.Date) and not (ordered_kind and scale and scale.is_time):
        allowed = f"conventional, divisor, cardinality, on_the_fly, intervals, {ANY_TYPE}"
        raise SourceError(
            Problem(
                path,
                "date needs a column of dates or timestamps",
                allowed=allowed if ordered_kind else ANY_TYPE,
            )
        )
    if isinstance(spec, ORDERED) and not ordered_kind:
        raise SourceError(
            Problem(path, f"{spec.builder} needs a column of numbers or dates", allowed=ANY_TYPE)
        )
