"""Tiny worlds that are followed for three releases, and all that an observer can think of them.

The observer knows who was in which class of every release, or in none, and reads the published
rows. Every assignment of values to persons that agrees with all of them is listed one by one.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.errors import GuaranteeError, InfeasibleError, SourceError
from tests.selection import rounds
from tests.threats.population import DISEASES, Person, digests, policy

K = L = 2
Classes = Mapping[int, int]
"""Person to class, of those who are in a release."""
Rows = Mapping[int, Counter[str]]
"""Class to its published values."""


@dataclass(frozen=True)
class World:
    """Persons, who of them is in the source of each release, and in every how many releases those
    who join are placed."""

    people: Mapping[int, Person]
    present: Sequence[frozenset[int]]
    quasi: Sequence[str]
    wait: int


def drawn(seed: int) -> World:
    """Persons who come and go alone, or with another one; values and ages repeat."""
    draw = random.Random(seed)
    size = draw.choice([6, 7, 8, 9, 10])
    values = DISEASES[: draw.choice([2, 2, 3])]
    people = {
        one: (draw.randint(1, 5), draw.randint(0, 1), draw.choice(values)) for one in range(size)
    }
    ways = [(1, 1, 1)] * 4 + [(1, 1, 0), (1, 0, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1), (0, 1, 0)]
    way: dict[int, Sequence[int]] = {}
    for one in range(size):
        together = one % 2 and draw.random() < 0.6
        way[one] = way[one - 1] if together else draw.choice(ways)
        if together:
            # as a rule with another value, and near enough to share a class
            other = draw.choice([v for v in values if v != people[one - 1][2]])
            people[one] = (*people[one - 1][:2], other)
    present = [frozenset(one for one in people if way[one][night]) for night in range(3)]
    quasi = ["age", "district"][: draw.choice([1, 2])]
    return World(people, present, quasi, draw.choice([1, 1, 2]))


def write(world: World, night: int, source: Path) -> None:
    with duckdb.connect(str(source), config={"threads": 1}) as connection:
        connection.execute(
            "create or replace table visits"
            " (id integer, age integer, district integer, disease varchar)"
        )
        here = [(one, *world.people[one]) for one in sorted(world.present[night])]
        connection.executemany("insert into visits values (?, ?, ?, ?)", here)


def followed(world: World, folder: Path) -> tuple[list[Classes], list[Rows]]:
    """The releases that were published. What is refused shows nothing."""
    columns: dict[str, Any] = {"id": {"role": "identifier"}}
    for name in ("age", "district"):
        columns[name] = {"role": "quasi" if name in world.quasi else "drop"}
    columns["disease"] = {"role": "sensitive", "protect": {"l_diversity": L}}
    follows = policy(
        folder,
        columns=columns,
        privacy={"k_anonymity": K},
        republish={"follow": True, "wait": world.wait},
        suppression_limit=0.95,
    )
    classes: list[Classes] = []
    rows: list[Rows] = []
    for night, here in enumerate(world.present):
        if not here:
            continue
        write(world, night, folder / "source.duckdb")
        try:
            anonymizer.run(follows, folder / "source.duckdb", limits=Limits(threads=1))
        except (GuaranteeError, InfeasibleError, SourceError):
            continue
        of = digests(folder, world.people)
        with duckdb.connect(str(folder / "private.duckdb"), read_only=True) as connection:
            members = connection.execute(
                "select person, class_id from anonymizer_ledger.members"
                " where release = (select max(release) from anonymizer_ledger.releases)"
            ).fetchall()
        with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as connection:
            rows_now = connection.execute("select class_id, disease from main.released").fetchall()
        found: dict[int, Counter[str]] = defaultdict(Counter)
        for number, value in rows_now:
            found[number][value] += 1
        classes.append({of[person]: number for person, number in members})
        rows.append(dict(found))
    return classes, rows


def agreeing(classes: Sequence[Classes], rows: Sequence[Rows]) -> Iterator[dict[int, str]]:
    """Every assignment of values to the persons of these releases that gives all their rows."""
    people = sorted({one for release in classes for one in release})
    left = [{number: Counter(values) for number, values in of.items()} for of in rows]
    domain = sorted({value for of in rows for values in of.values() for value in values})

    def assign(at: int, chosen: dict[int, str]) -> Iterator[dict[int, str]]:
        if at == len(people):
            yield dict(chosen)
            return
        one = people[at]
        theirs = [
            of[release[one]] for release, of in zip(classes, left, strict=True) if one in release
        ]
        for value in domain:
            if all(counts[value] for counts in theirs):
                for counts in theirs:
                    counts[value] -= 1
                yield from assign(at + 1, {**chosen, one: value})
                for counts in theirs:
                    counts[value] += 1

    yield from assign(0, {})


def wrong(
    classes: Sequence[Classes], rows: Sequence[Rows], values: Mapping[int, str]
) -> Iterator[str]:
    """What the releases tell of somebody, as groups with an absence and by enumeration."""
    people = sorted({one for release in classes for one in release})
    groups: dict[tuple[int | None, ...], list[int]] = defaultdict(list)
    for one in people:
        groups[tuple(release.get(one) for release in classes)].append(one)
    for history, group in groups.items():
        if None in history:
            if len(group) < K:
                yield f"{group} are alone with {history}"
            if len({values[one] for one in group}) < L:
                yield f"{group} with {history} have one value"
    worlds = list(agreeing(classes, rows))
    assert {one: values[one] for one in people} in worlds
    for one in people:
        if len({world[one] for world in worlds}) < L:
            yield f"the value of {one} is told"
    for release in classes:
        for one, number in release.items():
            bearers = {
                other
                for other, there in release.items()
                if there == number and any(world[other] == values[one] for world in worlds)
            }
            if len(bearers) < K:
                yield f"the row of {one} has no other bearer"


@rounds(5, 60, 1500)
def test_nobody_is_told_from_others_over_three_releases(tmp_path: Path, rounds: int) -> None:
    three = gone = came = back = 0
    for seed in range(rounds):
        world = drawn(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        classes, rows = followed(world, folder)
        values = {one: disease for one, (_, _, disease) in world.people.items()}
        assert list(wrong(classes, rows, values)) == [], (seed, world, classes, rows)
        three += len(classes) == 3
        for before, after in itertools.pairwise(classes):
            gone += bool(before.keys() - after.keys())
            came += bool(after.keys() - before.keys())
        back += len(classes) == 3 and bool((classes[0].keys() & classes[2]) - classes[1].keys())
    assert min(three, gone, came) > 0
    assert rounds < 60 or back > 0


@pytest.mark.parametrize(
    ("classes", "said"),
    [
        # one of a class leaves
        ([{0: 1, 1: 1, 2: 1, 3: 1}, {0: 1, 1: 1, 2: 1}], "[3] are alone with (1, None)"),
        # two leave who have the same value
        ([{0: 1, 1: 1, 2: 1, 3: 1}, {0: 1, 1: 1}], "[2, 3] with (1, None) have one value"),
        # every pair of releases holds, and all three tell one of them
        (
            [{2: 1, 4: 1, 6: 1, 7: 1}, {0: 1, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1}, {0: 1, 3: 1}],
            "the value of 5 is told",
        ),
    ],
)
def test_what_is_told_is_found(classes: list[Classes], said: str) -> None:
    values = {0: "a", 1: "b", 2: "a", 3: "a", 4: "b", 5: "a", 6: "a", 7: "b"}
    if len(classes) == 2 and 3 in classes[0] and 3 not in classes[1] and 2 in classes[1]:
        values[2] = "b"
    rows: list[Rows] = []
    for release in classes:
        found: dict[int, Counter[str]] = defaultdict(Counter)
        for one, number in release.items():
            found[number][values[one]] += 1
        rows.append(found)
    assert said in list(wrong(classes, rows, values))
