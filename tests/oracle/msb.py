"""Multi-sensitive bucketization record by record: the papers' greedy, and rounds for the rest.

Buckets are numbered from 1; a value is a code from 1, 0 stands for a NULL. Written from Xiao and Li
(2020) alone; shares nothing with the package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

Group = tuple[int, ...]
"""The bucket of each record, sorted."""


@dataclass(frozen=True)
class Bucket:
    """Records with one vector of values."""

    number: int
    size: int
    values: tuple[int, ...]
    needs: tuple[int, ...]
    """The l of each value's level; 0 for a NULL."""
    level: int
    target: int
    """Records of a group that a record of this bucket begins."""

    @property
    def complete(self) -> bool:
        return 0 not in self.values


def grouping(buckets: Sequence[Bucket], strategy: str, level_first: bool) -> list[Group]:
    """Algorithms 1-3, in the order in which the groups are formed. Ties: the lower number."""
    left = {b: b.size for b in buckets if b.complete}
    groups: list[Group] = []
    while True:
        taken: list[Bucket] = []
        target = 1
        while len(taken) < target:
            open_buckets = [b for b, n in left.items() if n and not _shielded(b, taken, target)]
            if not taken:
                open_buckets = [b for b, n in left.items() if n]
            if not open_buckets:
                return groups
            best = max(
                open_buckets,
                key=lambda b: (
                    b.level if level_first else 0,
                    _selectivity(b, left, strategy),
                    -b.number,
                ),
            )
            if not taken:
                target = best.target
            taken.append(best)
            left[best] -= 1
        groups.append(tuple(sorted(b.number for b in taken)))


def _shielded(bucket: Bucket, taken: Sequence[Bucket], target: int) -> bool:
    for j, (value, need) in enumerate(zip(bucket.values, bucket.needs, strict=True)):
        count = sum(b.values[j] == value for b in taken)
        if (count + 1) * need > target:
            return True
    return False


def _selectivity(bucket: Bucket, left: dict[Bucket, int], strategy: str) -> int:
    capacities = [
        sum(n for b, n in left.items() if b.values[j] == value)
        for j, value in enumerate(bucket.values)
    ]
    extra = {"mbf": 0, "msdcf": max(capacities), "mmdcf": sum(capacities)}[strategy]
    return left[bucket] + extra


def residual(
    buckets: Sequence[Bucket], groups: Sequence[Group]
) -> tuple[Counter[Group], Counter[int]]:
    """The final groups, and what is suppressed, by rounds.

    Equal groups are a type; types are numbered as they first come. In a round a bucket asks the
    smallest groups that may take one of its records, among types of one size from its own place on;
    a group takes one record, of the bucket that needs most.
    """
    by_number = {b.number: b for b in buckets}
    used = Counter(number for group in groups for number in group)
    left = Counter({b.number: b.size - used[b.number] for b in buckets})
    left = +left
    types: dict[int, Group] = {}
    counts: dict[int, int] = {}
    numbers: dict[Group, int] = {}
    for group in groups:
        number = numbers.setdefault(group, len(numbers) + 1)
        types[number] = group
        counts[number] = counts.get(number, 0) + 1
    latest = len(numbers)
    while left and counts:
        offers = _offers(left, types, counts, by_number)
        if not offers:
            break
        for (number, joined), n in sorted(offers.items()):
            latest += 1
            types[latest] = tuple(sorted((*types[number], joined)))
            counts[latest] = n
            counts[number] -= n
            left[joined] -= n
        counts = {number: n for number, n in counts.items() if n}
        left = +left
    final: Counter[Group] = Counter()
    for number, n in counts.items():
        final[types[number]] += n
    return final, left


def _offers(
    left: Counter[int],
    types: dict[int, Group],
    counts: dict[int, int],
    by_number: dict[int, Bucket],
) -> dict[tuple[int, int], int]:
    places = sorted(counts)
    stride = max(1, len(places) // max(1, len(left)))
    asked: dict[int, list[tuple[int, int]]] = {}
    for place, number in enumerate(sorted(left)):
        start = place * stride % len(places)
        possible = [
            (len(types[t]), (i - start) % len(places), t)
            for i, t in enumerate(places)
            if may_join(by_number[number], [by_number[x] for x in types[t]])
        ]
        wanted = left[number]
        for _, _, t in sorted(possible):
            if wanted <= 0:
                break
            asked.setdefault(t, []).append((number, min(wanted, counts[t])))
            wanted -= counts[t]
    offers: dict[tuple[int, int], int] = {}
    for t, asking in asked.items():
        free = counts[t]
        for number, n in sorted(asking, key=lambda x: (-by_number[x[0]].target, x[0])):
            if free > 0:
                offers[t, number] = min(n, free)
                free -= n
    return offers


def may_join(bucket: Bucket, group: Sequence[Bucket]) -> bool:
    """Whether a group stays diverse with another record: (c(v)+1) l_v <= |G|+1 for its values."""
    for j, (value, need) in enumerate(zip(bucket.values, bucket.needs, strict=True)):
        if value == 0:
            continue
        filled = sum(b.values[j] != 0 for b in group)
        count = sum(b.values[j] == value for b in group)
        if (count + 1) * need > filled + 1:
            return False
    return True


def diverse(group: Sequence[Bucket]) -> bool:
    """Definition 11: c(v) l_v <= records with a value, for every value of every attribute."""
    for j in range(len(group[0].values)):
        held = Counter((b.values[j], b.needs[j]) for b in group if b.values[j] != 0)
        if any(n * need > sum(held.values()) for (_, need), n in held.items()):
            return False
    return True


def additional_loss(groups: Counter[Group], by_number: dict[int, Bucket]) -> tuple[int, int]:
    """Definition 14 as numerator and denominator."""
    surplus = needed = 0
    for group, n in groups.items():
        largest = max(need for number in group for need in by_number[number].needs)
        surplus += n * (len(group) - largest)
        needed += n * largest
    return surplus, needed
