"""Errors that depend on hidden values, given as one of a few steps.

The error of a query is computed from exact figures of the source, and would disclose them if it
were exact: an observer who knows the other ages of a class could derive the last one from the error
of `sum(age)`. So only the step of an error is shown, and only if it is based on enough rows.
"""

from __future__ import annotations

from math import ceil

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Upper ends of the steps; what is above the last is told as that."""
TINY = 1e-9
"""What a product of floating numbers may be off by."""
TIMES = 10
"""A figure is looked at from this many times the fewest units that anything shown holds."""


def step(error: float | None) -> str | None:
    """The step of a relative error (0 is exact, 1 is off by the whole figure)."""
    if error is None:
        return None
    for end in STEPS:
        if error < end:
            return f"< {end:.0%}".replace("%", " %")
    return f"{STEPS[-1]:.0%} or more".replace("%", " %")


def about(count: int) -> int:
    """A count of the source in two significant digits; anything up to ten is ten."""
    return max(10, int(float(f"{count:.2g}"))) if count else 0


def about_share(share: float) -> float:
    """A share of the source, rounded up to a percent."""
    return ceil(100 * share - TINY) / 100


def enough(floor: int) -> int:
    """The fewest units behind a figure whose error is shown, where `floor` holds for the rest."""
    return TIMES * floor
