"""Parameters as exact fractions, so that a bound such as 0.2 is compared with integers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

DENOMINATOR = 10**18
"""Largest denominator: products with counts of a release stay within 128-bit integers."""


def upper_bound(value: float | int | str | Decimal) -> Fraction:
    """The decimal as written, as a fraction of at most eighteen digits.

    A truncated bound is stricter, so that no release passes because of it.
    """
    exact = Fraction(Decimal(repr(value) if isinstance(value, float) else value))
    if exact.denominator <= DENOMINATOR:
        return exact
    return Fraction(exact * DENOMINATOR // 1, DENOMINATOR)


def lower_bound(value: float) -> Fraction:
    """The decimal as written; a longer one is rounded up, which is stricter."""
    cut = upper_bound(value)
    exact = Fraction(repr(value))
    return cut if cut == exact else cut + Fraction(1, DENOMINATOR)
