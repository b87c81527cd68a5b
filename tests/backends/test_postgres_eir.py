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
from anonymizer.guarantees import screening
from anonymizer.verification.release import verify_release
from tests.backends.tables import (
    PEOPLE,
    embedded,
    load,
    on_duckdb,
    on_postgres,
    policy,
    same_release,
)
from tests.duckdb import test_verify_rules as rules
from tests.selection import some

pytestmark = pytest.mark.postgres

PERSON: dict[str, Any] = {"person": "person", "merge_person_rows": True}
COLUMNS: dict[str, Any] = {"age": "quasi", "zip": "quasi", "ill": "sensitive"}
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


CASES: dict[str, dict[str, Any]] = {
    "2": {"eir_l": 2},
    "3": {"eir_l": 3},
    "4": {"eir_l": 4},
    "with k": {"eir_l": 3, "k_anonymity": 4},
    "with shares": {"eir_l": 3, "ir_alpha_beta": {"alpha": 0.5, "beta": 0.7}},
    "with eir shares": {"eir_l": 2, "eir_alpha_beta": {"alpha": 0.6, "beta": 0.6}},
}


@some(3)
@pytest.mark.parametrize("case", CASES)
def test_the_release_is_that_of_duckdb(
    case: str, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = persons(len(case))
    load(postgres, PEOPLE, rows, "people")
    given = policy(COLUMNS, **PERSON, privacy=CASES[case])
    searched: list[int] = []
    search = screening.has_hitting_set

    def counted(sets: Any, size: int) -> bool:
        searched.append(size)
        return search(sets, size)

    for place in ("algorithms.partition.judged", "algorithms.persons.judging"):
        monkeypatch.setattr(f"anonymizer.{place}.has_hitting_set", counted)
    one = on_postgres(given, postgres)
    there = len(searched)
    same_release(one, postgres, on_duckdb(given, embedded(PEOPLE, rows, "people")))
    assert len(searched) == 2 * there, "the same groups are left to the search"
    assert there or case in ("2", "with shares", "with eir shares")


def test_two_columns_and_unknown_values(postgres: str) -> None:
    rows = [(*row[:4], f"t{n % 5}", *row[5:]) for n, row in enumerate(persons(9))]
    load(postgres, PEOPLE, rows, "people")
    given = policy(
        {"age": "quasi", "town": "sensitive", "ill": {"role": "sensitive", "null_as_value": True}},
        **PERSON,
        privacy={"eir_l": 3},
    )
    one = on_postgres(given, postgres)
    same_release(one, postgres, on_duckdb(given, embedded(PEOPLE, rows, "people")))


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
