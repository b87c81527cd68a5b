"""Parts under rules on persons, and against a population: every class of every part holds them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.duckdb.test_parts import TYPES, given, released, table
from tests.runs import fill, source
from tests.selection import some

PERSONS: tuple[dict[str, Any], ...] = (
    {"eir_l": 2},
    {"ir_k": 3},
    {"ir_kl": {"k": 3, "l": 2}},
    {"ir_alpha_beta": {"alpha": 0.5, "beta": 0.7}},
    {"eir_alpha_beta": {"alpha": 0.5, "beta": 0.8}},
    {"eir_l": 3, "ir_kl": {"k": 2, "l": 2}},
)
POPULATIONS: tuple[dict[str, Any], ...] = (
    {"k_map": {"k": 9, "population": "everybody"}},
    {"delta_presence": {"min": 0, "max": 0.7, "population": "everybody"}},
    {"delta_presence": {"min": 0.1, "max": 0.9, "population": "everybody"}},
)


def visits(draw: random.Random, persons: int, *, differ: bool = False) -> list[tuple[Any, ...]]:
    """One to three rows a person, with the same quasi-identifiers unless they `differ`."""
    made = []
    for who, age, *rest, _ in table(draw, persons, skewed=draw.random() < 0.5):
        for _ in range(draw.randrange(1, 4)):
            own = draw.randrange(90) if differ and draw.random() < 0.3 else age
            made.append((who, own, *rest, draw.randrange(6)))
    return made


def of_persons(folder: Path, privacy: dict[str, Any], **options: Any) -> anonymizer.Policy:
    merged = options.pop("merged", False)
    more: dict[str, Any] = {"person": "who", "columns": {"who": "drop"}, "privacy": privacy}
    if merged:
        more["merge_person_rows"] = True
    size = options.pop("size", 60)
    return given(folder, {}, size, **options, more=more)


def assert_whole(found: list[dict[str, Any]], persons: int) -> None:
    """All rows of a person are in one class."""
    classes: dict[int, set[int]] = {}
    for row in found:
        classes.setdefault(row["person_id"], set()).add(row["class"])
    assert len(classes) == persons
    assert all(len(of_one) == 1 for of_one in classes.values())
    numbers = {row["class"] for row in found}
    assert numbers == set(range(1, len(numbers) + 1))


@pytest.mark.slow
@some(1, 2)
@pytest.mark.parametrize("privacy", PERSONS, ids="-".join)
def test_rules_on_persons(tmp_path: Path, privacy: dict[str, Any]) -> None:
    rows = visits(random.Random(str(privacy)), 240)
    policy = of_persons(tmp_path, privacy)
    found, parts = released(policy, source(tmp_path, TYPES, rows))
    assert parts > 2
    assert_whole(found, 240)


@pytest.mark.slow
def test_a_part_without_enough_values_is_merged(tmp_path: Path) -> None:
    """The lowest quarter of the ages has one illness only: it cannot stand alone."""
    rows = [
        (i, i // 4, "a", "ape", "2020-01-01", 0 if i < 100 else 1 + (i + j) % 3)
        for i in range(400)
        for j in range(2)
    ]
    database = source(tmp_path, TYPES, rows)
    _, free = released(of_persons(tmp_path, {"ir_k": 2}, size=20), database)
    (tmp_path / "release.duckdb").unlink()
    found, parts = released(of_persons(tmp_path, {"eir_l": 2}, size=20), database)
    assert 1 < parts < free
    assert_whole(found, 400)


def database_of(folder: Path, seed: object, rows: int, *, alike: bool = False) -> Path:
    """A table, and a population with as many others, whose tuples are those of the table if they
    are `alike`: else most cuts leave some of them outside of both halves.
    """
    draw = random.Random(str(seed))
    sample = table(draw, rows, skewed=draw.random() < 0.5)
    others = [(rows + who, *rest) for who, *rest in (sample if alike else table(draw, rows))]
    path = source(folder, TYPES, sample)
    with duckdb.connect(str(path)) as connection:
        fill(connection, TYPES, sample + others, "everybody")
    return path


@pytest.mark.slow
@some(1, 2)
@pytest.mark.parametrize("privacy", POPULATIONS, ids=str)
def test_models_of_a_population(tmp_path: Path, privacy: dict[str, Any]) -> None:
    least = privacy.get("delta_presence", {}).get("min", 0)
    database = database_of(tmp_path, privacy, 240, alike=least > 0)
    policy = given(tmp_path, {"l_diversity": 2}, 60, more={"privacy": privacy})
    found, parts = released(policy, database)
    assert parts > 1
    assert len(found) == 240
