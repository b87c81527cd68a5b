"""The grouping against hand-worked results and against the record-by-record oracle."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from anonymizer.engines.duckdb.connection import DuckDBEngine
from tests.duckdb.msb_build import STRATEGIES, build, engine, random_buckets
from tests.oracle import msb as oracle
from tests.oracle.msb import Bucket
from tests.selection import some

# Xiao and Li (2020), Table 1: physician, disease
PHYSICIANS = ["John", "John", "Mary", "Bob", "Bob", "Anne", "John", "Sam", "Mary"]
DISEASES = [
    *("Flu", "Pneumonia", "Cancer", "Flu", "Pneumonia", "Gastritis", "Gastritis", "HIV", "Flu"),
]
LEVELS = {"Flu": 0, "Cancer": 2, "HIV": 2}

HAND_WORKED: list[tuple[str, bool, list[set[int]]]] = [
    ("mbf", False, [{1, 3, 5}, {2, 4, 6}, {7, 8, 9}]),
    ("msdcf", False, [{1, 3, 5}, {2, 4, 6}, {7, 8, 9}]),
    ("mmdcf", False, [{1, 5, 3}, {7, 4, 8}, {2, 6, 9}]),
    ("mbf", True, [{3, 8, 1}, {2, 4}, {5, 6}, {7, 9}]),
    ("msdcf", True, [{3, 8, 1}, {2, 4}, {6, 5}, {7, 9}]),
    ("mmdcf", True, [{3, 8, 1}, {2, 4}, {6, 5}, {7, 9}]),
]


def table_1(level_first: bool) -> list[Bucket]:
    """Every record is a bucket of its own, numbered as the paper numbers records."""
    physicians, diseases = sorted(set(PHYSICIANS)), sorted(set(DISEASES))
    buckets = []
    for number, (physician, disease) in enumerate(zip(PHYSICIANS, DISEASES, strict=True), start=1):
        levels = (1, LEVELS.get(disease, 1)) if level_first else (2, 2)
        needs = (levels[0] + 1, levels[1] + 1)
        values = (physicians.index(physician) + 1, diseases.index(disease) + 1)
        buckets.append(Bucket(number, 1, values, needs, max(levels), max(needs)))
    return buckets


@pytest.fixture(scope="module")
def run() -> Iterator[DuckDBEngine]:
    with engine() as made:
        yield made


@pytest.mark.parametrize(("strategy", "level_first", "expected"), HAND_WORKED)
def test_table_1(
    run: DuckDBEngine, strategy: str, level_first: bool, expected: list[set[int]]
) -> None:
    buckets = table_1(level_first)
    formed, final, left = build(
        run, buckets, strategy=strategy, security_level_first=level_first, mode="exact"
    )
    assert [set(group) for group in formed] == expected
    assert oracle.grouping(buckets, strategy, level_first) == formed
    assert final == Counter(formed)
    assert not left
    assert oracle.additional_loss(final, {b.number: b for b in buckets}) == (0, 9)


def check(run: DuckDBEngine, seed: int, strategy: str, level_first: bool) -> None:
    draw = random.Random(f"{seed} {strategy} {level_first}")
    singletons = level_first and draw.random() < 0.5
    buckets = random_buckets(
        draw,
        plain=None if level_first else draw.randint(2, 4),
        singletons=singletons,
        nulls=draw.random() < 0.4,
    )
    options: dict[str, Any] = {
        "strategy": strategy,
        "security_level_first": level_first,
        "allow_singletons": singletons,
    }
    expected = oracle.grouping(buckets, strategy, level_first)
    formed, final, left = build(run, buckets, mode="exact", **options)
    assert formed == expected, seed
    assert (final, left) == oracle.residual(buckets, expected), seed
    consistent(buckets, final, left)
    consistent(buckets, *build(run, buckets, mode="batched", **options)[1:])


def consistent(buckets: list[Bucket], final: Counter[oracle.Group], left: Counter[int]) -> None:
    """Every record once, every group diverse, and no record left that a group would take."""
    by_number = {b.number: b for b in buckets}
    placed = Counter(left)
    for group, n in final.items():
        for number in group:
            placed[number] += n
        members = [by_number[number] for number in group]
        assert oracle.diverse(members)
        assert not any(oracle.may_join(by_number[number], members) for number in left)
    assert placed == Counter({b.number: b.size for b in buckets})


@some(2)
@pytest.mark.parametrize("level_first", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_exact_is_the_oracle(run: DuckDBEngine, strategy: str, level_first: bool) -> None:
    for seed in range(3):
        check(run, seed, strategy, level_first)


@pytest.mark.exhaustive
@pytest.mark.parametrize("level_first", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_exact_is_the_oracle_often(run: DuckDBEngine, strategy: str, level_first: bool) -> None:
    for seed in range(3, 205):
        check(run, seed, strategy, level_first)


def test_table_1_over_all_ties(run: DuckDBEngine) -> None:
    """The numbers of the buckets decide ties; every order gives groups within what is possible."""
    worst: dict[tuple[str, bool], set[int]] = {}
    for seed in range(2):
        draw = random.Random(seed)
        for strategy in STRATEGIES:
            for level_first in (False, True):
                numbers = draw.sample(range(1, 10), 9)
                buckets = [
                    Bucket(number, 1, b.values, b.needs, b.level, b.target)
                    for number, b in zip(numbers, table_1(level_first), strict=True)
                ]
                formed, final, left = build(
                    run, buckets, strategy=strategy, security_level_first=level_first, mode="exact"
                )
                assert formed == oracle.grouping(buckets, strategy, level_first)
                consistent(buckets, final, left)
                worst.setdefault((strategy, level_first), set()).add(len(formed))
    possible = {
        ("mbf", False): {1, 2, 3},
        ("msdcf", False): {2, 3},
        ("mmdcf", False): {3},
        ("mbf", True): {2, 3, 4},
        ("msdcf", True): {3, 4},
        ("mmdcf", True): {4},
    }
    assert all(found <= possible[key] for key, found in worst.items())
    assert worst["mmdcf", False] == {3}
    assert worst["mmdcf", True] == {4}
