"""Where the run's draws decide who goes where, the rules of sensitive columns hold all the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests import runs
from tests.selection import rounds, some

Way = Callable[[], AbstractContextManager[None]]
RULES: list[dict[str, Any]] = [
    {"l_diversity": 2},
    {"t_closeness": 0.4},
    {"t_closeness": {"t": 0.3, "distance": "ordered"}},
    {"alpha": 0.6},
    {"recursive_cl": {"c": 2, "l": 2}},
]


@some(2, 2)
@rounds(1, 3)
@pytest.mark.parametrize("way", [nullcontext, runs.driven])
@pytest.mark.parametrize("rule", RULES, ids="+".join)
def test_relaxed_cuts_through_ties_keep_the_rules(
    tmp_path: Path,
    rule: dict[str, Any],
    way: Callable[[], AbstractContextManager[None]],
    rounds: int,
) -> None:
    """Rows equal to the median go to either side: what a side holds hangs on who goes where."""
    draw = random.Random(f"{rule} {way.__name__}")
    ages = [draw.choice([20, 30, 30, 40]) for _ in range(90)]
    rows = [(age, draw.choice("MF"), draw.choice([1, 1, 2, 3, 4, None])) for age in ages]
    database = runs.source(tmp_path, {"age": "INTEGER", "sex": "VARCHAR", "ill": "INTEGER"}, rows)
    policy = runs.policy(
        tmp_path,
        {"age": "quasi", "sex": "quasi", "ill": {"role": "sensitive", "protect": rule}},
        k=3,
        algorithm={"name": "mondrian", "split": "median", "strict": False},
    )
    for seed in range(rounds):
        with way():
            made = runs.run(policy, database, seed=seed)
        assert made.verification.passed
        assert made.measures["classes"] > 4


@rounds(1, 3)
@pytest.mark.parametrize("rule", [{"l_diversity": 2}, {"entropy_l": 1.5}], ids=list)
def test_persons_are_parted_without_leaving_a_bucket_one_value(
    tmp_path: Path, rule: dict[str, Any], rounds: int
) -> None:
    """A cell without a value may take the place of one with a value only where enough are left."""
    draw = random.Random(308)
    rows = []
    for number in range(120):
        who = number % 38
        rows.append((who, who % 3, draw.choice(["flu", "flu", "hiv", "gout", "covid", None])))
    database = runs.source(tmp_path, {"who": "INTEGER", "age": "INTEGER", "ill": "VARCHAR"}, rows)
    policy = runs.policy(
        tmp_path,
        {"who": "drop", "age": "quasi", "ill": {"role": "sensitive", "protect": rule}},
        person="who",
        algorithm={"name": "lgb"},
    )
    for seed in range(rounds):
        assert runs.run(policy, database, seed=seed).verification.passed


@some(1, 2)
@rounds(2, 4, 20)
@pytest.mark.parametrize(
    "rule",
    [
        {"t_closeness": 0.2},
        {"t_closeness": {"t": 0.2, "distance": "ordered"}},
        {"beta_likeness": 1.5},
        {"delta_disclosure": 1.2},
    ],
    ids="+".join,
)
def test_buckets_that_hold_null_keep_rules_that_compare_distributions(
    tmp_path: Path, rule: dict[str, Any], rounds: int
) -> None:
    """A quarter of few cells is NULL: a bucket with one of them too many is too far away."""
    for seed in range(rounds):
        draw = random.Random(seed)
        rows = [
            (draw.randint(0, 9), draw.choice("abc"), draw.choice([1, 2, 3, None]))
            for _ in range(draw.randint(30, 80))
        ]
        folder = tmp_path / str(seed)
        folder.mkdir()
        database = runs.source(folder, {"age": "INTEGER", "sex": "VARCHAR", "ill": "INTEGER"}, rows)
        policy = runs.policy(
            folder,
            {"age": "quasi", "sex": "quasi", "ill": {"role": "sensitive", "protect": rule}},
            k=2,
            algorithm={"name": "lgb"},
        )
        assert runs.run(policy, database, seed=seed).verification.passed
