"""The mean of a few seeds with its 95 % interval (Student's t)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

# 97.5 % quantiles of Student's t for 1, 2, ... degrees of freedom; the last for all beyond
QUANTILES = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179),
    *(2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060),
    *(2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True)
class Interval:
    """A mean, and how far the true one may be from it."""

    mean: float
    half: float
    values: int
    """How many values it is the mean of; of a single one nothing is known about the spread."""

    @property
    def low(self) -> float:
        return self.mean - self.half

    @property
    def high(self) -> float:
        return self.mean + self.half

    def __str__(self) -> str:
        if abs(self.mean) >= 10_000:
            return f"{self.mean:,.0f}" + (f" ± {self.half:,.0f}" if self.half else "")
        if self.half == 0:
            return f"{self.mean:.4g}"
        return f"{self.mean:.4g} ± {self.half:.2g}"


def interval(values: Sequence[float]) -> Interval:
    """The interval of one value per seed; equal values, and a single one, have no width."""
    if not values:
        raise ValueError("no values")
    if len(values) == 1 or len(set(values)) == 1:
        return Interval(values[0], 0.0, len(values))
    quantile = QUANTILES[min(len(values) - 2, len(QUANTILES) - 1)]
    return Interval(fmean(values), quantile * stdev(values) / math.sqrt(len(values)), len(values))
