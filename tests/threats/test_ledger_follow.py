"""A table that is released night after night: nobody is told from the others by coming or going."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.errors import PolicyError
from tests.selection import rounds
from tests.threats.population import Population, Seen, observed, policy

K, L = 3, 3
COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "district": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": L}},
}
History = tuple[int | None, ...]
"""The class of a person in every release, or None."""


def nights(
    folder: Path,
    population: Population,
    number: int,
    leave: int,
    arrive: int,
    *,
    ill: int = 0,
    **more: Any,
) -> tuple[list[Seen], Mapping[int, str]]:
    """Releases of a table that some leave and others join every night, and what everybody has."""
    releases: list[Seen] = []
    diseases: dict[int, str] = {}
    chosen = policy(
        folder,
        columns=COLUMNS,
        republish={"follow": True, **more},
        suppression_limit=0.9,
    )
    for night in range(number):
        if night:
            population.leave(leave)
            population.arrive(arrive)
            population.fall_ill(ill)
        diseases |= {one: of[2] for one, of in population.people.items()}
        population.write(folder / "source.duckdb")
        release = anonymizer.run(chosen, folder / "source.duckdb")
        seen = observed(folder, population.people)
        assert release.measures["rows"] == len(seen)
        assert anonymizer.verify(chosen).passed
        releases.append(seen)
    return releases, diseases


def histories(releases: Sequence[Seen]) -> Mapping[History, list[int]]:
    """The persons with the same class, or absence, in every release."""
    found: dict[History, list[int]] = defaultdict(list)
    for one in {one for seen in releases for one in seen}:
        found[tuple(seen[one][0] if one in seen else None for seen in releases)].append(one)
    return found


@pytest.mark.slow
@rounds(2, 8, 40)
@pytest.mark.parametrize("wait", [1, 3])
def test_who_leaves_or_joins_is_among_k_with_l_values(
    tmp_path: Path, wait: int, rounds: int
) -> None:
    """Over the whole series: whoever shares a history with an absence could swap the values."""
    absent = came = 0
    for seed in range(rounds):
        folder = tmp_path / str(seed)
        folder.mkdir()
        population = Population(seed=seed, size=120)
        releases, disease = nights(folder, population, 4 + seed % 4, 1 + seed % 2, 12, wait=wait)
        for history, persons in histories(releases).items():
            if None in history:
                absent += 1
                assert len(persons) >= K, (seed, history)
                assert len({disease[one] for one in persons}) >= L, (seed, history)
            came += history[0] is None
        for one in {one for seen in releases for one in seen}:
            groups = [
                {other for other in seen if seen[other][0] == seen[one][0]}
                for seen in releases
                if one in seen
            ]
            assert len(set.intersection(*groups)) >= K
    assert absent > rounds
    assert came > 0


@pytest.mark.slow
def test_classes_whose_values_change_too_much_are_left_out(tmp_path: Path) -> None:
    """Whoever compares the releases still finds l values for everybody whose value stays."""
    left_out = 0
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        population = Population(seed=seed, size=120)
        releases, _ = nights(folder, population, 4, 0, 12, ill=12)
        for one in {one for seen in releases for one in seen} - population.changed:
            shown = [seen[one][1] for seen in releases if one in seen]
            assert len(set.intersection(*map(set, shown))) >= L
        left_out += len({*releases[0]} - {*releases[-1]})
    assert left_out > 0


def test_those_who_join_wait_to_be_placed_together(tmp_path: Path) -> None:
    population = Population(seed=3, size=90)
    releases, _ = nights(tmp_path, population, 5, 0, 10, wait=3)
    assert [len(seen) for seen in releases] == [90, 90, 90, 120, 120]


def test_who_waits_counts_the_releases_of_the_view(tmp_path: Path) -> None:
    """Another view in the same ledger begins with everybody, whenever that is."""
    given = {"columns": COLUMNS, "republish": {"follow": True, "wait": 2}, "suppression_limit": 0.9}
    Population(seed=3, size=90).write(tmp_path / "source.duckdb")
    anonymizer.run(policy(tmp_path, **given), tmp_path / "source.duckdb")
    others = Population(seed=4, size=90)
    others.people = {one + 1000: of for one, of in others.people.items()}
    others.write(tmp_path / "source.duckdb")
    publish = {"name": "others", "database": "others.duckdb"}
    release = anonymizer.run(policy(tmp_path, publish=publish, **given), tmp_path / "source.duckdb")
    assert release.measures["rows"] == 90


def test_a_class_of_which_one_leaves_goes_with_them(tmp_path: Path) -> None:
    population = Population(seed=3, size=90)
    (first, second), _ = nights(tmp_path, population, 2, 1, 0)
    (gone,) = {*first} - {*population.people}
    with_them = {one for one in first if first[one][0] == first[gone][0]}
    assert {*first} - {*second} == with_them


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"republish": {"follow": True, "append_only": True}}, "names more than one of"),
        ({"republish": {"append_only": True, "wait": 3}}, "is for follow"),
        ({"republish": {"follow": False}}, "can only be true"),
        (
            {
                "columns": {
                    **COLUMNS,
                    "disease": {"role": "sensitive", "protect": {"t_closeness": 0.3}},
                }
            },
            "cannot be kept for those who join or leave",
        ),
        ({"privacy": {"k_anonymity": 3, "ir_k": 3}}, "cannot be kept for those who join or leave"),
    ],
)
def test_what_cannot_follow(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    given = {"columns": COLUMNS, "republish": {"follow": True}, **changes}
    with pytest.raises(PolicyError, match=said):
        policy(tmp_path, **given)
