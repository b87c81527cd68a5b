"""Numbers of rows and counterfeits of every value in a bucket, computed from counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anonymizer.republish.balance import assign_regions, balance
from anonymizer.steps import Row


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
