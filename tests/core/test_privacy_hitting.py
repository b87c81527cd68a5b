"""Exact hitting sets against enumeration, and against the oracle's."""

from __future__ import annotations

import random
from itertools import combinations

from pysat.examples.hitman import Hitman

from anonymizer.guarantees.screening import has_hitting_set, hitting_set


def brute(sets: list[set[int]]) -> int:
    universe = sorted(set().union(*sets))
    for size in range(len(universe) + 1):
        for chosen in combinations(universe, size):
            if all(one.intersection(chosen) for one in sets):
                return size
    raise AssertionError("an empty set")


def families(count: int, seed: int) -> list[list[set[int]]]:
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        values, most = draw.randint(1, 9), draw.randint(1, 4)
        made.append(
            [
                set(draw.choices(range(values), k=draw.randint(1, most)))
                for _ in range(draw.randint(1, 9))
            ]
        )
    return made


def test_equals_enumeration_on_thousands_of_families() -> None:
    found: set[int] = set()
    for sets in families(3000, 1):
        truth = brute(sets)
        found.add(truth)
        for size in range(truth + 2):
            assert has_hitting_set(sets, size) == (size >= truth)
            chosen = hitting_set(sets, size)
            assert (chosen is not None) == (size >= truth)
            if chosen is not None:
                assert len(chosen) <= size
                assert all(chosen & one for one in sets)
    assert found >= {1, 2, 3, 4, 5}


def test_equals_a_solver_on_thousands_of_families() -> None:
    """Hitman of PySAT finds minimum hitting sets by MaxSAT: a second opinion."""
    for sets in families(1500, 2):
        with Hitman(bootstrap_with=[sorted(one) for one in sets], htype="sorted") as solver:
            smallest = solver.get()
        assert smallest is not None
        assert has_hitting_set(sets, len(smallest))
        assert not has_hitting_set(sets, len(smallest) - 1)


def test_family_on_which_the_published_reduction_fails() -> None:
    # a common value must not hide the other minimal sets
    assert hitting_set([{2, 3}, {2, 4}, {1, 2}], 1) == frozenset({2})
    four = [{2, 3}, {3, 4}, {4, 5}, {5, 2}]
    assert not has_hitting_set(four, 1)
    assert has_hitting_set(four, 2)


def test_edges() -> None:
    assert has_hitting_set([], 0)
    assert not has_hitting_set([], -1)
    assert not has_hitting_set([set()], 3)
    assert not has_hitting_set([{1}, set()], 3)


def test_large_family_is_searched_quickly() -> None:
    draw = random.Random(7)
    sets = [set(draw.sample(range(200), 4)) for _ in range(400)]
    assert not has_hitting_set(sets, 5)
    planted = [one | {draw.randint(500, 504)} for one in sets]
    assert has_hitting_set(planted, 5)
