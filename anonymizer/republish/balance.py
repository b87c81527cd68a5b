"""Division, balancing and assignment of m-invariance, on counts (Xiao and Tao 2007, §5).

Persons who stay go to the bucket of their earlier signature. New persons, then counterfeits, fill
every bucket until each value of its signature is equally frequent. The other new persons are
assigned to new buckets. This module sees no rows: the state is counts per signature and value.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Signature = tuple[int, ...]
Counts = Mapping[int, int]


@dataclass(slots=True)
class Bucket:
    """Rows with the values of one signature, equally many of each."""

    signature: Signature
    kept: dict[int, int] = field(default_factory=dict)
    """Persons who stay, by value."""
    taken: dict[int, int] = field(default_factory=dict)
    """New persons."""
    forged: dict[int, int] = field(default_factory=dict)
    """Counterfeits."""

    def count(self, value: int) -> int:
        return self.kept.get(value, 0) + self.taken.get(value, 0) + self.forged.get(value, 0)

    def add(self, to: dict[int, int], value: int, n: int) -> None:
        if n:
            to[value] = to.get(value, 0) + n


class Pool:
    """New persons by value, with their number and the largest count at hand."""

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
        """The largest count of a value, of others than `apart_from`."""
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
        """Further rows without which no m-unique buckets exist (m-eligibility)."""
        return max(0, m * self.most() - self.size)


def balance(
    staying: Mapping[Signature, Counts], arriving: Counts, known: Iterable[int], m: int
) -> list[Bucket]:
    """The buckets of the next release, every one with equally many rows of each of its values.

    `staying`: persons who keep a signature, by signature and value. `arriving`: new persons by
    value. `known`: values a counterfeit may have; at least m of them, or ValueError.
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
            bucket.add(bucket.forged, value, n - real)
    return [buckets[signature] for signature in sorted(buckets)]


def _spare(pool: Pool, value: int, m: int) -> int:
    """How many persons of a value may leave the pool without more counterfeits for the rest."""
    there = pool.counts.get(value, 0)
    if not there:
        return 0
    others = pool.most(apart_from=value)
    return max(0, min(there, pool.size - m * others + pool.lacking(m)))


def _complete(pool: Pool, known: Sequence[int], m: int) -> dict[int, int]:
    """Counterfeits that make the pool m-eligible, on the rarest values first."""
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

    Repeats: of the values by falling frequency n1 >= n2 >= ..., take the smallest beta >= m for
    which some alpha >= 1 leaves the rest m-eligible, and the largest such alpha; alpha rows of
    each of the beta most frequent values make a bucket.
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
    """The smallest beta, and the largest alpha for it, after which the rest is m-eligible."""
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
