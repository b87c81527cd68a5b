"""Exact comparisons: parameters as fractions, counts as whole numbers.

`n/N <= alpha` is computed as `n * denominator <= numerator * N`, so that ties are
exact on every engine, with any number of threads. Products of two counts fit a BIGINT as long as
group and reference hold fewer than 3·10^9 units (beyond that engines raise an overflow error);
larger products are DECIMAL(38, 0).
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from anonymizer.compile import Sql, lit

DIGITS = 18
"""Decimal places of a parameter below 1, significant digits of a larger one. The verifier and the
second verifier state the same number; docs/models.md gives it to the reader."""

SHARE_DIGITS = 12
"""Decimal places of a share that a statement multiplies by a count of rows."""

LARGEST = 10**12
"""Upper limit of a parameter: more than any ratio of two supported counts."""


def at_most(parameter: float) -> Fraction:
    """An upper bound as an exact fraction: 0.2 is 1/5.

    Taken to 18 digits and rounded down, the strict direction for an upper bound.
    """
    return _fraction(Decimal(repr(float(parameter))), ROUND_FLOOR)


def at_least(parameter: float) -> Fraction:
    """A lower bound as an exact fraction, to 18 digits, rounded up, the strict direction."""
    return _fraction(Decimal(repr(float(parameter))), ROUND_CEILING)


def share_at_most(share: float) -> Sql:
    """A share as a decimal, rounded down: floor(it * n) is the largest count out of n."""
    exact = Decimal(repr(float(share)))
    decimal = exact.quantize(Decimal(1).scaleb(-SHARE_DIGITS), rounding=ROUND_FLOOR)
    return Sql(f"cast('{decimal:f}' as decimal(18, {SHARE_DIGITS}))")


def fewest(share: float) -> int:
    """The fewest units of which none has more than `share` of all."""
    bound = at_most(share)
    return math.ceil(1 / bound) if bound else 10**DIGITS


def exp_at_most(parameter: float) -> Fraction:
    """The exponential of a parameter as an upper bound, to 18 digits, rounded down."""
    with localcontext() as context:
        context.prec = 60
        return _fraction(min(Decimal(repr(float(parameter))), Decimal(28)).exp(), ROUND_FLOOR)


def _fraction(number: Decimal, rounding: str) -> Fraction:
    if not number.is_finite() or number >= LARGEST:
        return Fraction(LARGEST)
    decimals = DIGITS - max(0, number.adjusted() + 1)
    with localcontext() as context:
        context.prec = 60
        return Fraction(number.quantize(Decimal(1).scaleb(-decimals), rounding=rounding))


def big(expression: str) -> str:
    """The expression as a 38-digit whole number, large enough for products of three counts."""
    return f"cast({expression} as decimal(38, 0))"


def share_of_known(numerator: str, denominator: str) -> Sql:
    """A quotient for reports; infinite if the denominator is 0, where no bound holds."""
    return Sql(
        f"coalesce(cast({numerator} as double) / nullif(cast({denominator} as double), 0),"
        f" {lit(math.inf)})"
    )


def share(numerator: str, denominator: str) -> Sql:
    """A quotient for reports (double precision); 0 if the denominator is 0."""
    return Sql(
        f"coalesce(cast({numerator} as double) / nullif(cast({denominator} as double), 0),"
        " cast(0 as double))"
    )
