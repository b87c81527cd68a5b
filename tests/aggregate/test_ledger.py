"""Several tables of counts of the same persons, and tables of counts beside rows: the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.errors import AnonymizerError, GuaranteeError
from anonymizer.release.published import Release
from tests.aggregate.enumeration import covers
from tests.aggregate.releases import WORKED, cells, grid, published
from tests.selection import rounds

PERSONS = "id integer, r varchar, c varchar"
METHODS: dict[str, dict[str, Any]] = {
    "rest": {},
    "suppress": {"method": "suppress", "suppress": {"cost": "persons"}},
}
Person = tuple[int, str, str]


def people(counts: Iterable[Iterable[int]] = WORKED, first: int = 0) -> list[Person]:
    return [(number, *row) for number, row in enumerate(grid(counts), first)]


def release(folder: Path, rows: Iterable[Person], by: Any = ("r", "c"), **options: Any) -> Release:
    options = {"person": "id", "ledger": "ledger.duckdb", **options}
    return published(folder, rows, PERSONS, list(by), **options)


def refused(folder: Path, rows: Iterable[Person], by: Any = ("r", "c"), **options: Any) -> str:
    with pytest.raises(AnonymizerError) as raised:
        release(folder, rows, by, **options)
    return " ".join(problem.message for problem in raised.value.problems)


# Releases of a few persons against all tables over their joint groups.


def seen(found: Release, rows: Iterable[Person], places: tuple[int, ...]) -> dict[str, Any]:
    """What a release says: figures of sets of finest groups, and the groups that have a row."""
    atoms = {row[0]: tuple(str(row[i]) for i in places) for row in rows}
    figures = cells(found)
    listed = {atom for atom in atoms.values() if atom in figures}
    true = found.manifest.layout.algorithm == "suppress"
    shown = {atom for atom in listed if true or figures[atom] is not None}
    given = []
    for cell, figure in figures.items():
        left_out = {atom for atom in atoms.values() if atom not in shown}
        inside = {atom for atom in shown if covers(cell, atom)}
        inside = left_out if cell[0] == "(other)" else inside
        if figure is not None:
            assert sum(atom in inside for atom in atoms.values()) == figure
            given.append((inside, figure))
    return {"atoms": atoms, "figures": given, "listed": listed}


def tables(lows: list[int], figures: list[tuple[set[int], int]]) -> Iterator[list[int]]:
    """All tables of whole numbers over the joint groups that agree with the figures."""

    def fill(begun: list[int]) -> Iterator[list[int]]:
        at = len(begun)
        for places, figure in figures:
            value = sum(begun[i] for i in places if i < at)
            value += sum(lows[i] for i in places if i >= at)
            if value > figure or (value < figure and max(places) < at):
                return
        if at == len(lows):
            yield begun
            return
        # (what is in no figure may be anything)
        most = min((figure for places, figure in figures if at in places), default=lows[at] + 3)
        for value in range(lows[at], most + 1):
            yield from fill([*begun, value])

    return fill([])


def is_safe(releases: list[dict[str, Any]], n: int) -> bool:
    """Whether every joint group below n may have n persons, by enumeration."""
    persons = {person for one in releases for person in one["atoms"]}
    counts = Counter(tuple(one["atoms"].get(p) for one in releases) for p in sorted(persons))
    joint = list(counts)
    lows = [
        int(any(a in one["listed"] for a, one in zip(atoms, releases, strict=True)))
        for atoms in joint
    ]
    figures = {
        (frozenset(i for i, atoms in enumerate(joint) if atoms[at] in inside), figure)
        for at, one in enumerate(releases)
        for inside, figure in one["figures"]
    }
    open_ = {i for i, atoms in enumerate(joint) if counts[atoms] < n}
    for table in tables(lows, [(set(places), figure) for places, figure in figures]):
        open_ -= {i for i in open_ if table[i] >= n}
        if not open_:
            return True
    return not open_


def changed(random: Random, rows: list[Person]) -> list[Person]:
    """The persons some time later: some have gone, some have come, some have moved."""
    kept = list(rows)
    for _ in range(random.choice([0, 0, 1, 2])):
        kept.pop(random.randrange(len(kept)))
    for number in range(random.choice([0, 0, 0, 1, 3])):
        kept.append((100 + number, *random.choice([("r1", "c1"), ("r1", "c2"), ("r3", "c1")])))
    if random.random() < 0.3:
        at = random.randrange(len(kept))
        kept[at] = (kept[at][0], "r2", "c2")
    return kept


@rounds(12, 60, 400)
def test_against_enumeration(tmp_path: Path, rounds: int) -> None:
    """Published exactly if every joint group below the minimum may have as many."""
    verdicts: Counter[bool] = Counter()
    for number in range(rounds):
        random = Random(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        rows = people([[random.choice([0, 1, 1, 2, 3, 4]) for _ in "ab"] for _ in "ab"])
        rows += people([[3], [0], [0]], 50)[: random.choice([0, 3])]
        if len(rows) < 4:
            continue
        found: list[dict[str, Any]] = []
        for step in range(random.choice([2, 2, 3])):
            by = random.choice([("r", "c"), ("r", "c"), ("r",), ("c",)]) if step else ("r", "c")
            places = tuple(["id", "r", "c"].index(name) for name in by)
            rows = changed(random, rows) if step else rows
            n = random.choice([3, 3, 3, 4])
            options = dict(random.choice([*METHODS.values()]), minimum=n)
            if "method" not in options and random.random() < 0.2:
                options["rest"] = {"list_hidden": True}
            alone = folder / "alone"
            alone.mkdir(exist_ok=True)
            try:
                new = release(alone, rows, by, **options, ledger=None)
            except GuaranteeError:
                continue
            says = seen(new, rows, places)
            try:
                release(folder, rows, by, **options)
                published_ = True
            except GuaranteeError as error:
                if "recognizes" in str(error):
                    continue
                published_ = False
            n = max([n, *(one["n"] for one in found)])
            assert published_ == is_safe([*found, says], n), (number, step, by, options)
            verdicts[published_] += bool(found)
            if published_:
                found.append({**says, "n": n})
    assert min(verdicts[True], verdicts[False]) > 0
