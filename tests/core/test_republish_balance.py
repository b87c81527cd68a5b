"""Division, balancing and assignment of m-invariance on random counts."""

from __future__ import annotations

import random

import pytest

from anonymizer.republish.balance import Bucket, assign, assign_regions, balance


def test_worked_example() -> None:
    """By hand, m = 2, counts 4, 3, 1: beta = 2 with alpha = 3 leaves 1, 0, 1, which is eligible."""
    assert assign({1: 4, 2: 3, 3: 1}, 2) == [((1, 2), 3), ((1, 3), 1)]


@pytest.mark.parametrize("seed", range(20))
def test_every_assignment_is_unique(seed: int) -> None:
    """Every row is in one bucket, every signature has m values, and none is left (never stuck)."""
    draw = random.Random(seed)
    for _ in range(50):
        m = draw.randint(2, 5)
        counts = {value: draw.randint(0, 30) for value in range(draw.randint(m, 12))}
        if m * max(counts.values()) > sum(counts.values()):
            with pytest.raises(ValueError, match="eligible"):
                assign(counts, m)
            continue
        made = assign(counts, m)
        assert all(len(signature) >= m and n > 0 for signature, n in made)
        for value, n in counts.items():
            assert n == sum(groups for signature, groups in made if value in signature)


@pytest.mark.parametrize("seed", range(20))
def test_every_bucket_is_balanced(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(50):
        m = draw.randint(2, 5)
        values = list(range(draw.randint(m, 9)))
        staying = {}
        for _ in range(draw.randint(0, 4)):
            signature = tuple(sorted(draw.sample(values, draw.randint(m, len(values)))))
            counts = {value: draw.randint(0, 4) for value in signature}
            if sum(counts.values()):
                staying[signature] = counts
        arriving = {value: draw.choice([0, 0, 1, 2, draw.randint(0, 30)]) for value in values}
        buckets = {bucket.signature: bucket for bucket in balance(staying, arriving, values, m)}
        for signature, bucket in buckets.items():
            check(signature, bucket, staying, m)
        for signature, counts in staying.items():
            kept = buckets[signature].kept
            assert all(kept.get(value, 0) == n for value, n in counts.items()), "who stays, stays"
        for value, n in arriving.items():
            assert n == sum(bucket.taken.get(value, 0) for bucket in buckets.values())


def check(
    signature: tuple[int, ...],
    bucket: Bucket,
    staying: dict[tuple[int, ...], dict[int, int]],
    m: int,
) -> None:
    assert len(signature) >= m
    (copies,) = {bucket.count(value) for value in signature}
    real = max(bucket.kept.get(v, 0) + bucket.taken.get(v, 0) for v in signature)
    # every class has somebody who lives: one value is filled without counterfeits
    assert real == copies or signature in staying


def test_counterfeits_only_where_needed() -> None:
    """A balanced table needs none; one new row needs m - 1; a gap in a bucket needs one."""
    values = [1, 2, 3]
    assert sum(forged(balance({}, {1: 5, 2: 5, 3: 5}, values, 3))) == 0
    assert sum(forged(balance({}, {1: 1}, values, 3))) == 2
    assert sum(forged(balance({(1, 2, 3): {1: 2, 2: 2, 3: 1}}, {}, values, 3))) == 1
    assert sum(forged(balance({(1, 2, 3): {1: 2, 2: 2, 3: 1}}, {3: 1}, values, 3))) == 0
    with pytest.raises(ValueError, match="fewer than m"):
        balance({}, {1: 1}, [1, 2], 3)


def forged(buckets: list[Bucket]) -> list[int]:
    return [n for bucket in buckets for n in bucket.forged.values()]


@pytest.mark.parametrize("seed", range(20))
def test_regions_assign_every_row(seed: int) -> None:
    """Every row of all regions is assigned once; no region gives more rows than it has."""
    draw = random.Random(seed)
    for _ in range(30):
        m = draw.randint(2, 5)
        values = range(draw.randint(m, 9))
        regions = {
            region: {value: draw.choice([0, 1, draw.randint(0, 20)]) for value in values}
            for region in range(1, draw.randint(2, 6))
        }
        counts = {v: sum(region[v] for region in regions.values()) for v in values}
        if m * max(counts.values()) > sum(counts.values()):
            continue
        known = [tuple(sorted(draw.sample(values, m))) for _ in range(draw.randint(0, 3))]
        made = assign_regions(regions, known, m)
        assert all(len(set(signature)) >= m and n > 0 for _, signature, n in made)
        for value, n in counts.items():
            assert n == sum(groups for _, signature, groups in made if value in signature)
        for number, region in regions.items():
            for value, n in region.items():
                own = [g for r, signature, g in made if r == number and value in signature]
                assert sum(own) <= n
