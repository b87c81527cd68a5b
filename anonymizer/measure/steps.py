"""Errors that depend on hidden values, reported as one of a few steps.

The error of a query is computed from exact figures of the source, and would disclose them if it
were exact: an observer who knows the other ages of a class could derive the last one from the error
of `sum(age)`. So only the step of an error is shown, and only if it is based on enough rows.
"""

from __future__ import annotations

from math import ceil

from anonymizer.contract.coarse import finest

STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Upper bounds of the steps; anything above the last is reported as such."""
TINY = 1e-9
"""Tolerance for floating-point products."""
TIMES = 10
"""An error is shown from this many times the fewest units required for anything shown."""


def step(error: float | None) -> str | None:
    """The step of a relative error (0 is exact, 1 is off by the whole figure)."""
    if error is None:
        return None
    for end in STEPS:
        if error < end:
            return f"< {end:.0%}".replace("%", " %")
    return f"{STEPS[-1]:.0%} or more".replace("%", " %")


def about(count: int) -> int:
    """A count of the source rounded to tens and two significant digits; 1 to 9 become ten."""
    if count >= 100:
        return int(float(f"{count:.2g}"))
    return max(10, (count + 5) // 10 * 10) if count else 0


def about_share(share: float, units: int) -> float:
    """A share of `units` of the source, rounded up to a percent, or to the share of ten of them."""
    step = max(0.01, float(finest(units)))
    return min(round(ceil(share / step - TINY) * step, 2), 1.0)


def enough(floor: int) -> int:
    """The fewest units behind a figure whose error is shown; `floor` is the limit for the rest."""
    return TIMES * floor
