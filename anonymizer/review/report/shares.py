"""Rounds the shares of a report to steps."""

from __future__ import annotations

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
