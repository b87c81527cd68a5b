"""Requirements on buckets that follow from the protection of a column.

A bucket assigned by `rank mod B` contains different values only, so its diversity follows from its
size: with m different values, each once, it is distinct m-diverse, entropy m-diverse, and, since 1
< c (m - l + 1) for m = l + ⌊1/c⌋, recursively (c,l)-diverse; no value has a share above 1/m. The
column must be eligible for m: no value in more than 1/m of the rows in buckets.

t-closeness, beta-likeness and delta-disclosure compare with a distribution, which does not follow
from different values. For these every bucket is judged, and B is tried downwards from the largest,
because the condition is not monotone in B.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.policy.protect import Protect
from anonymizer.privacy.guarantee import Given
from anonymizer.privacy.of_policy.registry import OF_COLUMNS, asked
from anonymizer.privacy.rule import Rule


@dataclass(frozen=True, slots=True)
class BucketRule:
    """The conditions on every bucket of a column."""

    m: int
    """Fewest rows of a bucket, all with different values; 1 if no rule requires more."""
    judged: tuple[Rule, ...]
    """Rules that every bucket must also satisfy, over its histogram."""

    @property
    def unique(self) -> bool:
        """Whether values must not repeat in a bucket."""
        return self.m > 1


def bucket_rule(column: str, protect: Protect, *, height: int = 0) -> BucketRule:
    """The rule of the column's buckets; `height` as in `rules_of`. `levels` is not supported."""
    sizes = [1]
    judged: list[Rule] = []
    for guarantee, value in asked(OF_COLUMNS, protect):
        if guarantee.bucket_size is not None:
            sizes.append(guarantee.bucket_size(value))
        else:
            judged += guarantee.rules(Given(value, column, height=height))
    return BucketRule(max(sizes), tuple(judged))
