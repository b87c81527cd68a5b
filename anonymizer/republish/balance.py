"""Division, balancing and assignment of m-invariance, on counts (Xiao and Tao 2007, §5)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from anonymizer.steps import Row

# Division, balancing and assignment of m-invariance, on counts (Xiao and Tao 2007, §5).
#
# Persons who stay are put in the bucket of their earlier signature. New persons, then counterfeits,
# fill every bucket until each value of its signature is equally frequent. The other new persons are
# assigned to new buckets. This module works on counts per signature and value, not on rows.


RARE = 2
"""A value is rare if its count is below the values' mean count divided by this."""

Signature = tuple[int, ...]
Counts = Mapping[int, int]


@dataclass(slots=True)
class Bucket:
    """Rows with the values of one signature, the same number of each."""

    signature: Signature
    kept: dict[int, int] = field(default_factory=dict)
    """Persons who stay, by value."""
    taken: dict[int, int] = field(default_factory=dict)
    """New persons."""
    assigned: dict[int, int] = field(default_factory=dict)
    """The new persons who were not needed to balance a bucket; empty if some of those need
    counterfeits and therefore stay in their buckets."""
    forged: dict[int, int] = field(default_factory=dict)
    """Counterfeits."""

    def count(self, value: int) -> int:
        return self.kept.get(value, 0) + self.taken.get(value, 0) + self.forged.get(value, 0)

    def add(self, to: dict[int, int], value: int, n: int) -> None:
        if n:
            to[value] = to.get(value, 0) + n


class Pool:
    """New persons by value, with their total and the largest count readily available."""

    def __init__(self, counts: Counts) -> None:
        self.counts = {value: n for value, n in counts.items() if n > 0}
        self.size = sum(self.counts.values())
        self._heap = [(-n, value) for value, n in self.counts.items()]
        heapq.heapify(self._heap)

    def take(self, value: int, n: int) -> None:
        self.counts[value] -= n
        self.size -= n
        heapq.heappush(self._heap, (-self.counts[value], value))

    def most(self, apart_from: int | None = None) -> int:
        """The largest count of a value other than `apart_from`."""
        aside = []
        found = 0
        while self._heap:
            negative, value = self._heap[0]
            if self.counts[value] != -negative:
                heapq.heappop(self._heap)  # an outdated entry
            elif value == apart_from:
                aside.append(heapq.heappop(self._heap))
            else:
                found = -negative
                break
        for entry in aside:
            heapq.heappush(self._heap, entry)
        return found

    def lacking(self, m: int) -> int:
        """Number of further rows needed for m-unique buckets to exist (m-eligibility)."""
        return max(0, m * self.most() - self.size)


def balance(
    staying: Mapping[Signature, Counts], arriving: Counts, known: Iterable[int], m: int
) -> list[Bucket]:
    """The buckets of the next release, each with the same number of rows for each of its values.

    `staying`: persons who keep a signature, by signature and value. `arriving`: new persons by
    value. `known`: values a counterfeit may have; ValueError if there are fewer than m.
    """
    pool = Pool(arriving)
    buckets: dict[Signature, Bucket] = {}
    for signature in sorted(staying):
        counts = staying[signature]
        bucket = buckets[signature] = Bucket(signature)
        target = max(counts.get(value, 0) for value in signature)
        for value in signature:
            bucket.add(bucket.kept, value, counts.get(value, 0))
            missing = target - counts.get(value, 0)
            found = min(missing, _spare(pool, value, m))
            if found:
                pool.take(value, found)
            bucket.add(bucket.taken, value, found)
            bucket.add(bucket.forged, value, missing - found)
    forged = _complete(pool, sorted(set(known) | set(pool.counts)), m)
    for signature, n in assign(
        {v: pool.counts.get(v, 0) + forged.get(v, 0) for v in {*pool.counts, *forged}}, m
    ):
        bucket = buckets.setdefault(signature, Bucket(signature))
        for value in signature:
            real = min(n, pool.counts.get(value, 0))
            if real:
                pool.take(value, real)
            bucket.add(bucket.taken, value, real)
            if not forged:
                bucket.add(bucket.assigned, value, real)
            bucket.add(bucket.forged, value, n - real)
    return [buckets[signature] for signature in sorted(buckets)]


def _spare(pool: Pool, value: int, m: int) -> int:
    """Number of persons with a value who can leave the pool without adding counterfeits."""
    there = pool.counts.get(value, 0)
    if not there:
        return 0
    others = pool.most(apart_from=value)
    return max(0, min(there, pool.size - m * others + pool.lacking(m)))


def _complete(pool: Pool, known: Sequence[int], m: int) -> dict[int, int]:
    """Counterfeits that make the pool m-eligible, for the rarest values first."""
    lacking = pool.lacking(m)
    most = pool.most()
    forged: dict[int, int] = {}
    heap = [(pool.counts.get(value, 0), value) for value in known]
    heapq.heapify(heap)
    while lacking:
        if not heap or heap[0][0] >= most:
            raise ValueError("fewer than m values are known")
        n, value = heapq.heappop(heap)
        forged[value] = forged.get(value, 0) + 1
        heapq.heappush(heap, (n + 1, value))
        lacking -= 1
    return forged


def assign(counts: Counts, m: int) -> list[tuple[Signature, int]]:
    """Signatures and the number of groups of each, for rows that are m-eligible.

    Repeats: for the values by falling frequency n1 >= n2 >= ..., take the smallest beta >= m for
    which some alpha >= 1 leaves the rest m-eligible, and the largest such alpha; alpha rows of each
    of the beta most frequent values form a bucket.
    """
    left = {value: n for value, n in counts.items() if n > 0}
    made: dict[Signature, int] = {}
    while left:
        order = sorted(left, key=lambda value: (-left[value], value))
        total = sum(left.values())
        beta, alpha = _choose([left[value] for value in order], total, m)
        signature = tuple(sorted(order[:beta]))
        made[signature] = made.get(signature, 0) + alpha
        for value in order[:beta]:
            left[value] -= alpha
            if not left[value]:
                del left[value]
    return sorted(made.items())


def _choose(falling: Sequence[int], total: int, m: int) -> tuple[int, int]:
    """The smallest beta, and its largest alpha, that leave the rest m-eligible."""
    for beta in range(m, len(falling) + 1):
        alpha = falling[beta - 1]
        # n1 - alpha <= (total - alpha beta) / m
        spare = total - m * falling[0]
        if beta > m:
            alpha = min(alpha, spare // (beta - m))
        elif spare < 0:
            continue
        after = falling[beta] if beta < len(falling) else 0
        alpha = min(alpha, (total - m * after) // beta)
        if alpha >= 1:
            return beta, alpha
    raise ValueError("the rows are not m-eligible")


def assign_regions(
    regions: Mapping[int, Counts], known: Iterable[Signature], m: int
) -> list[tuple[int, Signature, int]]:
    """Signatures and numbers of groups in every region; all rows together are m-eligible.

    A region uses known signatures: of staying persons, of other regions, or of all rows together.
    Fewer buckets need fewer counterfeits when persons leave, so a new signature contains no rare
    value. The rows that regions cannot assign are assigned together as region 0. Regions are
    numbered from 1.
    """
    counts = _together(regions.values())
    standing = sorted(set(known))
    used = [*standing] or [signature for signature, _ in assign(counts, m)]
    rare = {v for v, n in counts.items() if n * len(counts) * RARE < sum(counts.values())}
    avoided = {*counts} if standing else rare
    left: list[dict[int, int]] = []
    made: list[tuple[int, Signature, int]] = []
    for region in sorted(regions, key=lambda region: (-sum(regions[region].values()), region)):
        groups, rest = _assign_known(regions[region], used, avoided, m)
        left.append(rest)
        made += [(region, signature, n) for signature, n in groups]
    if not _eligible(left, m):
        # regions that are not m-eligible alone need the rows of the others
        made, left = [], [dict(counts)]
    groups, _ = _assign_known(_together(left), used, set(), m)
    return made + [(0, signature, n) for signature, n in groups]


def _assign_known(
    counts: Counts, used: list[Signature], avoided: set[int], m: int
) -> tuple[list[tuple[Signature, int]], dict[int, int]]:
    """Form groups from the signatures in `used`, to which new ones are added; return the rest too.

    The rest would need a new signature with one of the values in `avoided`.
    """
    rest = {value: n for value, n in counts.items() if n > 0}
    groups: dict[Signature, int] = {}
    while rest and m * max(rest.values()) <= sum(rest.values()):
        alpha, signature = max(
            ((_alpha(rest, s, m), s) for s in used), key=lambda found: found[0], default=(0, ())
        )
        if alpha < 1:
            alpha, signature = _new(rest, m)
            if avoided.intersection(signature):
                break
            used.append(signature)
        groups[signature] = groups.get(signature, 0) + alpha
        for value in signature:
            rest[value] -= alpha
            if not rest[value]:
                del rest[value]
    return sorted(groups.items()), rest


def _alpha(counts: Counts, signature: Signature, m: int) -> int:
    """Largest number of groups of a signature that leaves the rest m-eligible; 0 if none does."""
    least = min(counts.get(value, 0) for value in signature)
    if not least:
        return 0
    total, beta = sum(counts.values()), len(signature)
    outside = max((n for value, n in counts.items() if value not in signature), default=0)
    alpha = min(least, (total - m * outside) // beta)
    if beta > m:
        inside = max(counts[value] for value in signature)
        alpha = min(alpha, (total - m * inside) // (beta - m))
    return max(alpha, 0)


def _new(counts: Counts, m: int) -> tuple[int, Signature]:
    """The first bucket of `assign`."""
    order = sorted(counts, key=lambda value: (-counts[value], value))
    beta, alpha = _choose([counts[value] for value in order], sum(counts.values()), m)
    return alpha, tuple(sorted(order[:beta]))


def _together(parts: Iterable[Counts]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for part in parts:
        for value, n in part.items():
            counts[value] = counts.get(value, 0) + n
    return counts


def _eligible(parts: Sequence[Counts], m: int) -> bool:
    counts = _together(parts)
    return not counts or m * max(counts.values()) <= sum(counts.values())


# Numbers of rows and counterfeits of every value in a bucket, computed from counts.


def quotas(m: int) -> Callable[[Sequence[Row]], list[Row]]:
    """The computation from counts to rows and counterfeits per bucket and value."""

    def places(rows: Sequence[Row]) -> list[Row]:
        """Divide, balance and assign (m-invariance, Xiao and Tao 2007 §5)."""
        arriving: dict[int, int] = {}
        known: set[int] = set()
        counted: dict[int, dict[int, int]] = {}
        for signature, value, n in rows:
            if signature == -1:
                arriving[value] = n
            elif signature == -2:
                known.add(value)
            else:
                counted.setdefault(signature, {})[value] = n
        ids = {tuple(sorted(counts)): signature for signature, counts in counted.items()}
        staying = {tuple(sorted(counts)): counts for counts in counted.values()}
        buckets = balance(staying, arriving, known, m)
        # if the assigned rows include no counterfeits, regions place them later
        in_regions = any(bucket.assigned for bucket in buckets)
        made: list[Row] = []
        for number, bucket in enumerate(buckets, start=1):
            signature = ids.get(bucket.signature, 0)
            if signature or not in_regions:
                made += [
                    (
                        number,
                        signature,
                        v,
                        bucket.taken.get(v, 0) - in_regions * bucket.assigned.get(v, 0),
                        bucket.forged.get(v, 0),
                    )
                    for v in bucket.signature
                ]
        return made

    return places


def regional(m: int) -> Callable[[Sequence[Row]], list[Row]]:
    """The computation that assigns the new persons of every region to new buckets."""

    def places(rows: Sequence[Row]) -> list[Row]:
        """Assign region by region, signatures of standing buckets first."""
        regions: dict[int, dict[int, int]] = {}
        standing: dict[int, list[int]] = {}
        for region, value, n in rows:
            if region < 0:
                standing.setdefault(-region, []).append(value)
            else:
                regions.setdefault(region, {})[value] = n
        number = max(standing, default=0)
        known = [tuple(sorted(values)) for values in standing.values()]
        assigned = assign_regions(regions, known, m)
        return [
            (number + i, region, value, n)
            for i, (region, signature, n) in enumerate(assigned, start=1)
            for value in signature
        ]

    return places
