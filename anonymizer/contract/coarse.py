"""Rounds figures that cannot be computed from the release.

A hidden value can be derived from a figure of full precision that depends on it. Figures that a
recipient cannot compute from the published cells are therefore rounded to three significant
digits, and what depends on how rows differ within their classes, to no less than the share of ten
rows (persons); query errors are given in steps (`measure.steps`).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Context, Decimal
from itertools import count
from typing import Any

DIGITS = 3
"""Significant digits of a figure that cannot be computed from the release alone."""
MANY = 10
"""Number of rows (persons) whose share is the finest step of a mean over all: a single one rarely
moves the mean to another step."""
SEARCH = ("level.", "lattice_", "ncp_")
"""Prefixes of the figures of a search that are published. All others, such as the number of persons
placed last, depend on hidden values and are of no use to readers."""
BOUNDS = ("ncp_bound", "ncp_weighted_bound")
LEAST = "lattice_bound"
LOSS = "lattice_loss"


def coarse(value: float) -> float:
    """`value` with DIGITS significant digits."""
    return float(f"{value:.{DIGITS}g}")


def coarse_mean(value: float, units: int) -> float:
    """A mean over `units` with DIGITS significant digits, in steps of the share of MANY of them."""
    step = finest(units)
    return coarse(float(round(Decimal(repr(value)) / step) * step)) if value else value


def finest(units: int, many: int = MANY) -> Decimal:
    """The smallest of 1, 2 or 5 times a power of ten that is the share of `many` units or more."""
    share = Decimal(many) / max(units, many)
    steps = (
        Decimal(m).scaleb(-places)
        for places in count()
        for m in (1, Decimal("0.5"), Decimal("0.2"))
    )
    found = Decimal(1)
    for step in steps:
        if step < share:
            break
        found = step
    return found


def of_search(figures: Mapping[str, Any], units: int) -> dict[str, Any]:
    """The figures of a search to publish with a release of `units` rows (persons)."""
    told = {name: value for name, value in figures.items() if name.startswith(SEARCH)}
    for name in BOUNDS:
        if told.get(name):
            told[name] = _below(float(told[name]), finest(units))
    if LOSS in told and LEAST in told:
        told[LOSS] = coarse(float(told[LOSS]))
        told[LEAST] = _digits_below(float(told[LEAST]))
    return told


def _below(value: float, step: Decimal) -> float:
    """The largest multiple of a step that is at most `value`."""
    return float(Decimal(repr(value)) // step * step)


def _digits_below(value: float) -> float:
    """`value` rounded down to DIGITS significant digits."""
    return float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal(Decimal(repr(value))))
