"""What the protection of a column asks of its buckets.

A bucket dealt by `rank mod B` holds different values only, so that diversity follows from its
size: with m different values, each once, it is distinct m-diverse, entropy m-diverse, and, since
1 < c (m - l + 1) for m = l + ⌊1/c⌋, recursively (c,l)-diverse; no value has a share above 1/m. The
column has to be eligible for m: no value in more than 1/m of the rows that are dealt.

t-closeness, beta-likeness and delta-disclosure compare with a distribution, which buckets of
different values cannot follow. There every bucket is judged, and B is tried downwards from the
largest, because the condition does not get easier with every step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.privacy.exact import at_most
from anonymizer.privacy.rule import Rule
from anonymizer.privacy.rules import rules_of

if TYPE_CHECKING:
    from anonymizer.policy.protect import Protect


@dataclass(frozen=True, slots=True)
class BucketRule:
    """What every bucket of a column has to be."""

    m: int
    """Fewest rows of a bucket, all with different values; 1 where no rule asks for that."""
    judged: tuple[Rule, ...]
    """Rules that every bucket has to hold besides, over its histogram."""

    @property
    def unique(self) -> bool:
        """Whether values must not repeat in a bucket."""
        return self.m > 1


def bucket_rule(column: str, protect: Protect, *, height: int = 0) -> BucketRule:
    """The rule of the column's buckets; `height` as in `rules_of`. `levels` is not for buckets."""
    sizes = [1]
    if protect.l_diversity is not None:
        sizes.append(protect.l_diversity)
    if protect.entropy_l is not None:
        sizes.append(math.ceil(protect.entropy_l))
    if protect.recursive_cl is not None:
        sizes.append(protect.recursive_cl.l + math.floor(1 / at_most(protect.recursive_cl.c)))
    if protect.alpha is not None:
        sizes.append(math.ceil(1 / at_most(protect.alpha)))
    judged = tuple(
        rule
        for rule in rules_of(column, protect, height=height)
        if rule.name in ("t_closeness", "beta_likeness", "delta_disclosure")
    )
    return BucketRule(max(sizes), judged)
