"""Rounding of figures that cannot be computed from the release.

A hidden value can be derived from a figure of full precision that depends on it. Figures that a
recipient cannot compute from the published cells are therefore rounded to three significant
digits; query errors are given in steps (`measure.steps`).
"""

from __future__ import annotations

DIGITS = 3
"""Significant digits of a figure that the release alone does not give."""


def coarse(value: float) -> float:
    """`value` with DIGITS significant digits."""
    return float(f"{value:.{DIGITS}g}")
