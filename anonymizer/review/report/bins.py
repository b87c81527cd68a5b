"""Bins for a chart of an ordered column: round bounds, open ends, no bin with few units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

WANTED = 10
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Interval:
    """A bin from `low` (included) to `high` (excluded)."""

    number: int
    low: float
    high: float
    label: str


def round_bounds(low: float, high: float, whole: bool) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten that cut [low, high] into about ten."""
    width = max((high - low) / WANTED, 1.0 if whole else 0.0)
    if width <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(width))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= width * (1 - 1e-9))
    first, last = math.ceil(low / step), math.ceil(high / step)
    # for steps below one a multiple is a quotient: 3 / 10, not 3 * 0.1
    if step < 1:
        return [number / round(1 / step) for number in range(first, last + 1)]
    return [number * step for number in range(first, last + 1)]


def merged(bounds: Sequence[float], units: Sequence[int], floor: int) -> list[float]:
    """Bounds without those that separate a bin of fewer than `floor` units.

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
    """Bins between the bounds, with labels; the first and last are open."""
    ends = [-math.inf, *bounds, math.inf]
    found = []
    for number, (low, high) in enumerate(pairwise(ends), start=1):
        found.append(Interval(number, low, high, _label(low, high, whole, days)))
    return found


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
        except OverflowError:  # there are dates in databases that are none in Python
            return "9999-12-31" if place > 0 else "0001-01-01"
    return f"{place:,.0f}" if abs(place) >= 10_000 else f"{place:g}"
