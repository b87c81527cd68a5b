"""Bins for a chart of an ordered column: round bounds, open ends, no bin with few units."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise

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


def is_little(share: float, step: float) -> bool:
    """Whether a share is the marker for less than half a step."""
    return share == round(step * LITTLE, 5)


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
