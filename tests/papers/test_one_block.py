"""The paper's DAnonyIR as the benchmark runs it makes the clusters of the naive algorithm."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from benchmarks.reproduce import one_block
from benchmarks.reproduce.one_block import OneBlock, Person, rule_of
from tests.oracle.danonyir import Clustering, Members, Ordered, place

MODELS: tuple[dict[str, Any], ...] = (
    {"ir_kl": {"k": 3, "l": 3}},
    {"eir_l": 3},
    {"ir_alpha_beta": {"alpha": 0.5, "beta": 0.4}},
    {"eir_alpha_beta": {"alpha": 0.5, "beta": 0.5}},
)


def holds(privacy: dict[str, Any], persons: list[Person]) -> Callable[[list[int]], bool]:
    """The definitions, from all members of a cluster."""
    ((name, given),) = privacy.items()

    def of(group: list[int]) -> bool:
        members = [persons[i] for i in group]
        values = set().union(*(person.values for person in members))
        if name == "ir_kl":
            return min(len(group), len(values)) >= int(given["l"])
        if name == "eir_l":
            chosen = product(*(sorted(person.values) for person in members))
            return all(len(set(reasoning)) >= given for reasoning in chosen)
        alpha, beta = Fraction(str(given["alpha"])), Fraction(str(given["beta"]))
        counts = [[Counter(person.values) for person in members], [p.records for p in members]]
        for of_persons in counts:
            total = sum(count.total() for count in of_persons)
            if any(count.total() > alpha * total for count in of_persons):
                return False
        if name == "eir_alpha_beta":
            shares = [sum(value in person.values for person in members) for value in values]
            return max(shares) <= beta * len(members)
        return all(
            sum(count[value] for count in of_persons)
            <= beta * sum(count.total() for count in of_persons)
            for of_persons in counts
            for value in values
        )

    return of


def table(
    draw: random.Random, persons: int
) -> tuple[list[Ordered | Members], list[Person], list[int]]:
    ages = [draw.choice([None, *range(20, 60)]) for _ in range(persons)]
    known = [age for age in ages if age is not None]
    years = [draw.randrange(1_950, 2_000) for _ in range(persons)]
    attributes: list[Ordered | Members] = [
        Ordered([None if age is None else place(age, known) for age in ages], len(set(ages))),
        Ordered([place(year, years) for year in years], len(set(years))),
        Members([draw.randrange(2) for _ in range(persons)], 2),
        Members([draw.randrange(6) for _ in range(persons)], 6),
    ]
    made = []
    for _ in range(persons):
        records = Counter(draw.choices("abcdefgh", [8, 4, 2, 2, 1, 1, 1, 1], k=draw.choice([1, 3])))
        made.append(Person(frozenset(records), records))
    return attributes, made, [person.records.total() for person in made]


@pytest.mark.parametrize("privacy", MODELS, ids=lambda given: next(iter(given)))
@pytest.mark.parametrize("widest", [1, 200, 2_048])
def test_clusters_are_those_of_the_naive_algorithm(
    privacy: dict[str, Any], widest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # attributes are looked up one by one, in pairs, and all together
    monkeypatch.setattr(one_block, "WIDEST", widest)
    draw = random.Random(widest)
    for persons in (5, 17, 40, 60):
        attributes, made, records = table(draw, persons)
        naive = Clustering(copy.deepcopy(attributes), records, holds(privacy, made))
        expected = naive.keep_originals(copy.deepcopy(attributes)).run()
        run = OneBlock(attributes, records, made, rule_of(privacy))
        found = run.run()
        assert sorted(sorted(cluster.members) for cluster in found) == sorted(map(sorted, expected))
        assert run.suppressed == naive.suppressed
        assert run.residual == naive.residual
        losses = {tuple(sorted(naive.members[i])): int(naive.loss[i]) for i in naive.members}
        for cluster in found:
            assert cluster.loss == losses[tuple(sorted(cluster.members))]
