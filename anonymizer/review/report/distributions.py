"""The distribution of every published column, before and after, in shares."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

from anonymizer.compile import Sql, Table, ident, lit, work
from anonymizer.contract.layout import PublishedColumn
from anonymizer.contract.rounding import finest
from anonymizer.measure.queries import QueryAttribute
from anonymizer.measure.queries import QueryAttribute as StagedAttribute
from anonymizer.review.inputs import Beside, Published
from anonymizer.source.profile import kind_of

# Bins for a chart of an ordered column: round bounds, open ends, no bin with few units.


LITTLE = 0.4875
"""Fraction of a rounding step that marks a small nonzero share; differs from 0 and every step."""


def step_of(rows: int) -> float:
    """The rounding step of a share: 0.1 %, or 1 % if there are few rows."""
    return 0.001 if rows >= 10_000 else 0.01


def rounded(part: float, whole: float, step: float) -> float:
    """Round a share to steps. A nonzero share below half a step becomes LITTLE of a step."""
    if not whole or part <= 0:
        return 0.0
    steps = round(part / whole / step)
    return round(steps * step, 3) if steps else round(step * LITTLE, 5)


OTHER = "other values"
NULL = "NULL"
WANTED = 10
EPOCH = date(1970, 1, 1)
LARGEST = Fraction(sys.float_info.max)
LONG = 1e15
"""Numbers from here on are written with an exponent."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A bin from `low` (included) to `high` (excluded)."""

    number: int
    low: float
    high: float
    label: str


def round_bounds(low: float, high: float, whole: bool) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten that divide [low, high] into about ten bins.

    Computed in fractions: doubles cannot represent the difference of the two largest doubles, nor a
    tenth of the smallest.
    """
    begin, end = Fraction(str(low)), Fraction(str(high))
    width = max((end - begin) / WANTED, Fraction(int(whole)))
    if width <= 0:
        return [low]
    step = _round_step(width)
    numbers = range(math.ceil(begin / step), math.ceil(end / step) + 1)
    # the last bound may exceed all doubles, and the smallest doubles may be too far apart
    found = (number * step for number in numbers)
    return list(dict.fromkeys(float(bound) for bound in found if abs(bound) <= LARGEST))


def _round_step(width: Fraction) -> Fraction:
    """The smallest of 1, 2 or 5 times a power of ten that is not below `width`."""
    places = math.floor(math.log10(width.numerator) - math.log10(width.denominator))
    power = Fraction(10) ** places
    enough = width * (1 - Fraction(1, 10**9))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= enough)


def merged(bounds: Sequence[float], units: Sequence[int], floor: int) -> list[float]:
    """Merge bins of fewer than `floor` units, and return the remaining bounds.

    `units` has one count more than there are bounds. An empty bin counts as too small.
    """
    kept: list[float] = []
    held = units[0]
    for bound, following in zip(bounds, units[1:], strict=True):
        if held >= floor:
            kept.append(bound)
            held = following
        else:
            held += following
    if held < floor and kept:
        kept.pop()
    return kept


def intervals(bounds: Sequence[float], whole: bool, days: bool) -> list[Interval]:
    """Labelled bins between the bounds; the first and last are open-ended."""
    ends = [-math.inf, *bounds, math.inf]
    return [
        Interval(number, low, high, _label(low, high, whole, days))
        for number, (low, high) in enumerate(pairwise(ends), start=1)
    ]


def _label(low: float, high: float, whole: bool, days: bool) -> str:
    if math.isinf(low) and math.isinf(high):
        return "all"
    if math.isinf(low):
        return f"below {_text(high, days)}"
    if math.isinf(high):
        return f"{_text(low, days)} or more" if not days else f"from {_text(low, days)}"
    if whole or days:
        last = high - 1
        return _text(low, days) if last <= low else f"{_text(low, days)} – {_text(last, days)}"
    return f"{_text(low, days)} – {_text(high, days)}"


def _text(place: float, days: bool) -> str:
    if days:
        try:
            return (EPOCH + timedelta(days=place)).isoformat()
        except OverflowError:  # databases have dates that Python cannot represent
            return "9999-12-31" if place > 0 else "0001-01-01"
    return f"{place:,.0f}" if 10_000 <= abs(place) < LONG else f"{place:.12g}"


def listed(found: dict[int, tuple[str | None, int, int]], floor: int) -> list[tuple[str, float]]:
    """Label and rows of every bin; those with fewer than `floor` units are not named.

    `found`: label, rows and units by bin, where 0 is the remainder and -1 NULL.
    """
    bars = [(str(label), float(n)) for b, (label, n, _) in sorted(found.items()) if b > 0]
    rest, null = (found.get(b, (None, 0, 0)) for b in (0, -1))
    other, units = float(rest[1]), rest[2]
    if null[2] >= floor:
        bars.append((NULL, float(null[1])))
    else:
        other, units = other + null[1], units + null[2]
    if units >= floor:
        bars.append((OTHER, other))
    return bars


# The distance between a column's distributions before and after, over values instead of bins.


EXACT = 1e-9
"""Precision of sums of shares."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Distances between source and release, between 0 and 1."""

    moved: float
    """Half the sum of the differences of the shares of single values: the share that has moved."""
    below: float | None
    """For an ordered column: the largest difference between the shares below any value."""
    values: int
    """Different values of the source, including NULL."""


def distance(
    release: Published,
    counted: Table,
    after: Table | None,
    attribute: QueryAttribute | None,
    *,
    ordered: bool,
    total: float,
) -> Distance:
    """Compute the distances of one column.

    `counted`: values of the source; `after`: those of the release, or `attribute`: its cells.
    `total`: rows of the release.
    """
    cells: dict[str, Any] = {"i": 0, "members": None, "domain": None, "spans": None}
    if attribute is not None:
        cells = attribute.template_names
    ((moved, below, values),) = release.select(
        "report/distance_ordered" if ordered else "report/distance",
        counted=counted,
        after=after,
        total=total,
        rows=work("query_rows"),
        **cells,
    )
    return Distance(_exact(moved), None if below is None else _exact(below), int(values))


def _exact(found: float) -> float:
    """Limit to 0..1; return 0 for differences that come from the order of summation only."""
    return 0.0 if abs(found) < EXACT else min(max(float(found), 0.0), 1.0)


# The distribution of every published column, before and after, in shares.
#
# Bins with fewer units than `floor` (in the source, if it is available) and labels of values with
# fewer units are not shown. Shares are rounded, so that before and after do not disclose the values
# of single suppressed rows. Distances are computed from the values, not from the bars.


MOST = 11
"""Values of a categorical column that are shown individually."""
BEFORE, AFTER, BINS = work("report_before"), work("report_after"), work("report_bins")
FEW = 4
"""Rows whose share is the smallest rounding step for shares that depend on the source."""
RANGES, SETS = "ranges", "sets of values"
UNORDERED = ("token", "constant")
"""Masks whose published values may be numbers although the originals are not."""
OR_NULL, BUCKETS = "a value or NULL", "in a bucket"


@dataclass(frozen=True, slots=True)
class Bar:
    """One bin; shares between 0 and 1, None if there is no figure."""

    label: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Distribution:
    """One column in bins."""

    column: str
    role: str
    bars: tuple[Bar, ...]
    distance: float | None
    """Half the sum of the differences over all values: the share of rows that would have to move;
    rounded like a share, and 0 only if nothing has moved."""
    cells: bool = False
    """True if the labels are published cells, because there is no source to compare with."""
    below: float | None = None
    """For an ordered column: the largest difference of the shares below any value, rounded."""
    folded: bool = False
    """True if several values share a bar, so that the bars show less than the distances."""
    unit: str = "rows"
    """The unit of the shares: `persons` if a person's value is published once (msb)."""


def shown_role(column: PublishedColumn) -> str:
    """The role shown to a reader; `masked` if no other role describes the column."""
    return "masked" if column.masks and column.role == "keep" else column.role


def compared(
    beside: Beside, column: PublishedColumn, attribute: StagedAttribute | None, floor: int
) -> Distribution:
    """Source and release in the same bins. `attribute`: staged cells of a quasi-identifier."""
    originals = beside.originals
    physical = Sql(originals.values[column.column])
    person = Sql(originals.person) if originals.person else None
    once = _once(beside, column)
    _count(beside, originals.table, physical, _kind(column), BEFORE, person, once=once)
    ordered = _make_bins(beside, BEFORE, column, floor, least=floor)
    before = _binned(beside, BEFORE, ordered)
    if attribute is not None:
        rows = work("query_rows")
        found = beside.select(
            "report/expected", ordered=ordered, rows=rows, bins=BINS, **attribute.template_names
        )
        after = {int(bin_): float(n) for bin_, n in found}
        total = float(beside.run_sql(f"select count(*) from {ident(beside.view)}")[0][0])
        far = distance(beside, BEFORE, None, attribute, ordered=ordered, total=total)
    else:
        table, value = _published(beside, column)
        _count(beside, table, value, _kind(column), AFTER)
        after = {bin_: n for bin_, (_, n, _) in _binned(beside, AFTER, ordered).items()}
        total = float(sum(after.values()))
        far = distance(beside, BEFORE, AFTER, None, ordered=ordered, total=total)
    if not _is_complete(beside, column):
        # an exact 0 would disclose that no hidden value has moved
        below = None if far.below is None else max(far.below, EXACT)
        far = replace(far, moved=max(far.moved, EXACT), below=below)
    made = _distribution(
        column, before, after, total, floor, attribute is not None, far, ordered=ordered
    )
    return replace(made, unit="persons" if once else "rows")


def _is_complete(beside: Beside, column: PublishedColumn) -> bool:
    """True if every value of a column is published: no row suppressed, no cell generalized."""
    measures = beside.manifest.data["measures"]
    return not (measures["suppressed"] or measures.get(f"ncp.{column.column}") or column.masks)


def alone(release: Published, column: PublishedColumn, floor: int) -> Distribution:
    """The distribution of the release without its source: values, or published cells."""
    table, value = _published(release, column)
    if column.role in ("quasi", "semi"):
        value = _cell(column)
    layout = release.layout
    person = ident(layout.person_id) if layout.person_id and table == release.view else None
    generalized = column.role in ("quasi", "semi")
    kind = "categorical" if generalized else column.kind
    _count(release, table, value, kind, AFTER, person)
    ordered = kind != "categorical" and _make_bins(release, AFTER, column, floor)
    if not ordered:
        _make_groups(release, AFTER, floor)
    found = _binned(release, AFTER, ordered)
    total = sum(n for _, n, _ in found.values())
    step = step_of(total)
    bars = [Bar(label, None, rounded(n, total, step)) for label, n in listed(found, floor)]
    unit = "persons" if _once(release, column) else "rows"
    return Distribution(
        column.column, shown_role(column), tuple(bars), None, generalized, unit=unit
    )


def _once(release: Published, column: PublishedColumn) -> bool:
    """Return whether the column is published with one value for all rows of a person."""
    return release.layout.person_id is not None and column.column in release.layout.tables


def _published(release: Published, column: PublishedColumn) -> tuple[Table, Sql]:
    """The table and column in which an ungeneralized column is published."""
    table = release.layout.tables.get(column.column)
    name = ident(column.name or column.column)
    if table is None:
        return release.view, name
    return Table(table, release.view.schema, release.view.catalog), name


def _cell(column: PublishedColumn) -> Sql:
    """The label of a published cell: an exact value, or only that it is a range or a set.

    Bounds and members may be rare values; an exact value is shared by a whole class.
    """
    if column.lo is not None and column.hi is not None:
        lo, hi = (f"cast({ident(name)} as varchar)" for name in (column.lo, column.hi))
        exact = lo
        if column.nullable is not None:
            exact = f"case when {ident(column.nullable)} then {lit(OR_NULL)} else {lo} end"
        text = f"case when {lo} = {hi} then {exact} when {lo} is not null then {lit(RANGES)} end"
    elif column.list_cells:
        name = ident(column.name or column.column)
        text = (
            f"case when len({name}) = 1 then cast({name}[1] as varchar)"
            f" when {name} is not null then {lit(SETS)} end"
        )
    else:
        name = ident(column.name or column.column)
        opening = f"left(cast({name} as varchar), 1)"
        text = (
            f"case when {opening} = '[' then {lit(RANGES)} when {opening} = '{{' then {lit(SETS)}"
            f" when ends_with(cast({name} as varchar), ' or NULL') then {lit(OR_NULL)}"
            f" else cast({name} as varchar) end"
        )
    if column.bucket is not None:
        text = f"case when {ident(column.bucket)} is null then {text} else {lit(BUCKETS)} end"
    return Sql(text)


def _count(
    release: Published,
    data: Table,
    value: Sql,
    kind: str,
    counted: Table,
    person: Sql | None = None,
    *,
    once: bool = False,
) -> None:
    """Write `counted`: how many rows (persons) have each value."""
    release.select(
        "report/values",
        data=data,
        value=value,
        kind=kind,
        person=person,
        once=once,
        counted=counted,
    )


def _kind(column: PublishedColumn) -> str:
    """The kind of a column; kept columns and tokens are categorical whatever their type."""
    if any(mask["mask"] in UNORDERED for mask in column.masks):
        return "categorical"
    if column.role == "keep" and not column.sql_type.startswith(("VARCHAR", "BOOLEAN", "UUID")):
        return kind_of(column.sql_type) or "categorical"
    return column.kind


def _make_bins(
    release: Published, counted: Table, column: PublishedColumn, floor: int, *, least: int = 1
) -> bool:
    """Create BINS and return whether they are intervals.

    `least`: values with fewer rows do not affect the bounds.
    """
    if _kind(column) == "categorical":
        _make_groups(release, counted, floor)
        return False
    ((low, high, whole, _),) = release.select("report/range", counted=counted, least=least)
    if low is None:
        _make_groups(release, counted, floor)
        return False
    days = _kind(column) == "date"
    first, last = sorted((float(low), float(high)))
    bounds = round_bounds(first, last, bool(whole))
    _make_intervals(release, bounds, counted, bool(whole), days)
    found = _binned(release, counted, True)
    units = [found.get(number, ("", 0, 0))[2] for number in range(1, len(bounds) + 2)]
    _make_intervals(release, merged(bounds, units, floor), counted, bool(whole), days)
    return True


def _make_groups(release: Published, counted: Table, floor: int) -> None:
    release.select("report/groups", counted=counted, bins=BINS, floor=floor, most=MOST)


def _make_intervals(
    release: Published, bounds: list[float], counted: Table, whole: bool, days: bool
) -> None:
    listed = intervals(bounds, whole, days)
    release.select("report/intervals", counted=counted, bins=BINS, intervals=listed)


def _binned(
    release: Published, counted: Table, ordered: bool
) -> dict[int, tuple[str | None, int, int]]:
    """Map each bin to label, rows and units; 0 is the remainder, -1 NULL."""
    rows = release.select("report/binned", counted=counted, bins=BINS, ordered=ordered)
    return {int(b): (label, int(n), int(units)) for b, label, n, units in rows}


def _distribution(
    column: PublishedColumn,
    before: dict[int, tuple[str | None, int, int]],
    after: dict[int, float],
    total: float,
    floor: int,
    spread: bool,
    far: Distance,
    *,
    ordered: bool,
) -> Distribution:
    """Combine the counts of all bins into a distribution.

    `spread`: cells cover several values, including rare ones.
    """
    source = sum(n for _, n, _ in before.values())
    step = max(step_of(source), float(finest(source, FEW)))
    known = sum(n for b, n in after.items() if b > 0)
    labels = {str(label): b for b, (label, _, _) in before.items() if b > 0}
    bars = []
    # the remainder after the bins: NULL and the rest are indistinguishable in a spread cell
    named = listed(before, floor)
    tail = [(label, n) for label, n in named if label not in labels]
    for label, n in named:
        if label in labels:
            mass = after.get(labels[label], 0.0)
            bars.append(Bar(label, rounded(n, source, step), rounded(mass, total, step)))
    if not ordered:
        # by what is shown: the order of the exact counts would tell which of equal shares is larger
        bars.sort(key=lambda bar: (-(bar.before or 0.0), bar.label))
    left = max(total - known, 0.0)
    rest = sum(n for _, n in tail)
    if tail or (spread and left / total > 0.0005):
        label = " and ".join(name for name, _ in tail) or OTHER
        bars.append(Bar(label, rounded(rest, source, step), rounded(left, total, step)))
    return Distribution(
        column.column,
        shown_role(column),
        tuple(bars),
        rounded(far.moved, 1, step),
        below=None if far.below is None else rounded(far.below, 1, step),
        folded=far.values > len(bars),
    )
