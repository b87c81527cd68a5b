"""EIR l-diversity on Postgres: the classes of DuckDB, and a verifier that is exact."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from anonymizer.compile import Table
from anonymizer.contract.layout import Requirement
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.session import postgres_engine
from anonymizer.verification.release import verify_release
from tests.backends.tables import (
    PEOPLE,
    load,
)
from tests.duckdb import random_classes as rules

pytestmark = pytest.mark.postgres

HELD = {"class_id": "INTEGER", "person_id": "INTEGER", "zone": "VARCHAR", "value": "VARCHAR"}


def persons(seed: int, n: int = 200) -> list[tuple[Any, ...]]:
    """Persons with one to four illnesses of nine, some of them unknown."""
    draw = random.Random(seed)
    names = list(PEOPLE)
    made = []
    for person in range(n):
        for _ in range(draw.randint(1, 4)):
            row: dict[str, Any] = dict.fromkeys(names)
            ill = None if draw.random() < 0.03 else f"v{draw.randrange(9)}"
            row |= {"age": draw.randrange(60), "zip": str(draw.randrange(10, 30))}
            made.append(tuple((row | {"ill": ill, "person": person}).values()))
    return made


def held(draw: random.Random) -> list[tuple[int, int, str | None]]:
    """Small classes of persons with few values: many of them are on the edge."""
    made: list[tuple[int, int, str | None]] = []
    for class_id in range(1, 120):
        values = "abcdefg"[: draw.randint(2, 7)]
        for person in range(draw.randint(1, 9)):
            number = class_id * 100 + person
            size = draw.randint(1, min(3, len(values)))
            chosen = draw.sample(values, size) if draw.random() > 0.1 else [None]
            made += [(class_id, number, value) for value in chosen]
    return made


def smallest(rows: Sequence[tuple[int, int, str | None]], class_id: int) -> int:
    """The size of a smallest set of values that meets every person's, by trying all of them."""
    from itertools import combinations

    sets: dict[int, set[str]] = {}
    for number, person, value in rows:
        if number == class_id and value is not None:
            sets.setdefault(person, set()).add(value)
    values = sorted(set().union(*sets.values())) if sets else []
    for size in range(len(values) + 1):
        for chosen in combinations(values, size):
            if all(one & set(chosen) for one in sets.values()):
                return size
    raise AssertionError("all values meet everybody")


@pytest.mark.parametrize("l", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_verifier_finds_every_class_that_fails(postgres: str, l: int, seed: int) -> None:
    rows = held(random.Random(seed))
    listed = [(number, person, f"zone {number}", value) for number, person, value in rows]
    load(postgres, HELD, listed, "held")
    layout = rules.layout("VARCHAR", person=True)
    required = Requirement("eir_l", "value", {"l": l})
    with postgres_engine(postgres, Limits()) as engine:
        found = verify_release(engine.asking("test"), Table("held", "public"), layout, (required,))
    (check,) = [check for check in found.checks if check.name == "eir_l"]
    sizes = [smallest(rows, one) for one in sorted({row[0] for row in rows})]
    assert check.failing == sum(size < l for size in sizes) > 0
    assert check.achieved == min(*sizes, l)
