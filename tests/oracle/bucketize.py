"""Algorithm 2 of local bucketization (Li and He 2022) over an explicit order of ties.

A set of (id, value) is cut at the lower median while both sides are non-empty and eligible; each
leaf of n values becomes B buckets by the closed form: sort by value, then tie, bucket = rank mod B.
The top-level set must be eligible as well. NULLs are dealt over the finished buckets.

Conventions: the lower median is the value at rank ceil(n/2); `<= median` goes left; buckets are
listed leaf by leaf from the lowest values, residue 0 first; the i-th NULL by tie goes to bucket
i mod (number of buckets).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from tests.models import frequencies, t_closeness

Item = tuple[Any, Any]  # id, value
Order = Callable[[Any], Any]


class Ineligible(ValueError):
    """No partition of the set satisfies the rule."""


class BucketRule(Protocol):
    def eligible(self, values: Sequence[Any]) -> bool: ...

    def buckets(self, values: Sequence[Any]) -> int: ...


@dataclass(frozen=True)
class Unique:
    """m-unique buckets: m or more rows, all values different. m = l for distinct l.

    For entropy l, m = ceil(l); for recursive (c, l), m = l + floor(1/c).
    """

    m: int

    def eligible(self, values: Sequence[Any]) -> bool:
        return eligible(values, self.m)

    def buckets(self, values: Sequence[Any]) -> int:
        return len(values) // self.m


@dataclass(frozen=True)
class Close:
    """Buckets within t of the reference values; a set is eligible if it is so as one bucket."""

    t: Fraction | float
    reference: Sequence[Any]
    distance: str = "equal"

    def _far(self, values: Sequence[Any]) -> bool:
        worst = t_closeness({0: values}, self.distance, reference=self.reference).worst
        return bool(worst > self.t)

    def eligible(self, values: Sequence[Any]) -> bool:
        return bool(values) and not self._far(values)

    def buckets(self, values: Sequence[Any]) -> int:
        """The largest B that works, tried downwards: the condition is not monotone in B."""
        return next(
            b
            for b in range(len(values), 0, -1)
            if not any(self._far(values[r::b]) for r in range(b))
        )


def eligible(values: Iterable[Any], l: int) -> bool:
    """Commonest value · l <= number of values (Xiao and Tao 2007); the empty set is not."""
    counts = frequencies(values)
    return bool(counts) and max(counts.values()) * l <= sum(counts.values())


def bucketize(
    items: Iterable[Item],
    rule: BucketRule,
    tie: Mapping[Any, Any],
    order: Order = lambda value: value,
) -> list[list[Item]]:
    """Buckets of (id, value); `order` maps a value to what it sorts by, `tie` an id likewise."""
    everything = sorted(items, key=lambda item: tie[item[0]])
    present = sorted((i for i in everything if i[1] is not None), key=lambda item: order(item[1]))
    if not rule.eligible([value for _, value in present]):
        raise Ineligible("the whole set is not eligible")
    buckets = _cut(present, rule, order)
    for at, item in enumerate(item for item in everything if item[1] is None):
        buckets[at % len(buckets)].append(item)
    return buckets


def _cut(items: list[Item], rule: BucketRule, order: Order) -> list[list[Item]]:
    """`items` sorted by value, then tie."""
    median = order(items[(len(items) - 1) // 2][1])
    small = [item for item in items if order(item[1]) <= median]
    big = items[len(small) :]
    if big and all(rule.eligible([value for _, value in side]) for side in (small, big)):
        return _cut(small, rule, order) + _cut(big, rule, order)
    count = rule.buckets([value for _, value in items])
    return [items[residue::count] for residue in range(count)]


def ranges(buckets: Iterable[Sequence[Item]], rank: Mapping[Any, int] | None = None) -> list[Any]:
    """Highest minus lowest value (or rank) of each bucket, NULLs left out."""
    spans = []
    for bucket in buckets:
        places = [v if rank is None else rank[v] for _, v in bucket if v is not None]
        spans.append(max(places) - min(places))
    return spans
