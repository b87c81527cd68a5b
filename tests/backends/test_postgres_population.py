"""k-map and delta-presence on Postgres: the release of DuckDB, whatever the cells."""

from __future__ import annotations

from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import InfeasibleError, PolicyError, SourceError
from tests.backends.tables import (
    PEOPLE,
    embedded,
    load,
    on_duckdb,
    on_postgres,
    people,
    policy,
    query,
    same_release,
)
from tests.runs import fill
from tests.selection import some

pytestmark = pytest.mark.postgres

ROWS = people(120)
EVERYBODY = ROWS + people(180, seed=9)
K_MAP = {"k_map": {"k": 6, "population": {"table": "everybody"}}}
PRESENCE = {"delta_presence": {"min": 0.05, "max": 0.8, "population": {"table": "everybody"}}}
AT_MOST = {"delta_presence": {"min": 0, "max": 0.8, "population": {"table": "everybody"}}}


@pytest.fixture(scope="module")
def address(postgres: str) -> str:
    load(postgres, PEOPLE, ROWS, "people")
    load(postgres, PEOPLE, EVERYBODY, "everybody")
    return postgres


def compare(address: str, given: Policy) -> None:
    with embedded(PEOPLE, ROWS, "people") as connection:
        fill(connection, PEOPLE, EVERYBODY, "everybody")
        made = on_postgres(given, address)
        assert made.verification.passed
        assert made.measures["classes"] > 1
        same_release(made, address, on_duckdb(given, connection))


def prefixed(column: str, builder: str) -> dict[str, Any]:
    return {column: {"role": "quasi", "hierarchy": {"builder": builder}}}


COLUMNS: dict[str, dict[str, Any]] = {
    "numbers and texts": {"age": "quasi", "town": "quasi"},
    "dates": {"born": "quasi", "seen": "quasi"},
    "decimals and doubles": {"wage": "quasi", "weight": "quasi"},
    "doubles as categories": {"wage": "quasi", "weight": {"role": "quasi", "kind": "categorical"}},
    "nodes": {**prefixed("zip", "prefix"), "member": "quasi"},
}


@some(3)
@pytest.mark.parametrize(
    ("model", "columns", "cells"),
    [
        (K_MAP, "numbers and texts", "text"),
        (PRESENCE, "numbers and texts", "typed"),
        (K_MAP, "dates", "typed"),
        (AT_MOST, "decimals and doubles", "text"),
        (K_MAP, "nodes", "text"),
        (PRESENCE, "nodes", "text"),
        (K_MAP, "doubles as categories", "text"),
    ],
)
def test_the_release_is_that_of_duckdb(
    address: str, model: dict[str, Any], columns: str, cells: str
) -> None:
    compare(address, policy(COLUMNS[columns], privacy=model, publish={"cells": cells}))


def test_persons_are_counted_in_both(address: str) -> None:
    given = policy({"age": "quasi", "town": "quasi"}, privacy=K_MAP, person="person",
                   merge_person_rows=True)  # fmt: skip
    compare(address, given)


def test_a_release_is_not_certified_by_a_population_that_it_does_not_hold(address: str) -> None:
    given = policy({"age": "quasi"}, privacy={"k_anonymity": 3, **K_MAP})
    assert on_postgres(given, address).verification.passed
    again = anonymizer.verify(given, address)
    assert {c.name: c.passed for c in again.checks}["k_anonymity"]
    assert "k_map" not in {c.name for c in again.checks if c.passed}


def test_what_no_class_can_hold_is_refused(address: str) -> None:
    given = policy({"age": "quasi"}, privacy={"k_map": {"k": 10_000, "population": "everybody"}})
    with pytest.raises(InfeasibleError, match="does not hold even for the whole table"):
        on_postgres(given, address)


def test_populations_that_cannot_be_read(address: str) -> None:
    given = policy({"age": "quasi"}, privacy={"k_map": {"k": 3, "population": "nobody"}})
    with pytest.raises(SourceError, match=r"privacy\.k_map\.population\.table"):
        on_postgres(given, address)
    given = policy({"age": "quasi"}, privacy={"k_map": {"k": 3, "population": {"file": "p.csv"}}})
    with pytest.raises(PolicyError, match="a server reads its own tables"):
        on_postgres(given, address)
    query(address, "create or replace view aged as select age::text as age from everybody")
    given = policy({"age": "quasi"}, privacy={"k_map": {"k": 3, "population": "aged"}})
    with pytest.raises(SourceError, match="has age as VARCHAR, the table as INTEGER"):
        on_postgres(given, address)
