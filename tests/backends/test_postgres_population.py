"""k-map and delta-presence on Postgres: the release of DuckDB, whatever the cells."""

from __future__ import annotations

import pytest

import anonymizer
from anonymizer.errors import PolicyError, SourceError
from tests.backends.tables import (
    PEOPLE,
    load,
    on_postgres,
    people,
    policy,
    query,
)

pytestmark = pytest.mark.postgres

ROWS = people(120)
EVERYBODY = ROWS + people(180, seed=9)
K_MAP = {"k_map": {"k": 6, "population": {"table": "everybody"}}}


@pytest.fixture(scope="module")
def address(postgres: str) -> str:
    load(postgres, PEOPLE, ROWS, "people")
    load(postgres, PEOPLE, EVERYBODY, "everybody")
    return postgres


def test_a_release_is_not_certified_by_a_population_that_it_does_not_hold(address: str) -> None:
    given = policy({"age": "quasi"}, privacy={"k_anonymity": 3, **K_MAP})
    assert on_postgres(given, address).verification.passed
    again = anonymizer.verify(given, address)
    assert {c.name: c.passed for c in again.checks}["k_anonymity"]
    assert "k_map" not in {c.name for c in again.checks if c.passed}


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
