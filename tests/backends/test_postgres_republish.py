"""Releases of Postgres tables that continue earlier ones: as on DuckDB, and against an observer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.ledger import history as digests_of_persons
from anonymizer.ledger import record
from anonymizer.policy import Policy
from tests.backends.tables import PEOPLE, embedded, load, people, query, same_release
from tests.backends.tables import policy as over_people
from tests.backends.test_postgres_ledger import LEDGER, VISITS, made, write
from tests.selection import some
from tests.threats.population import Population

pytestmark = pytest.mark.postgres

KEY = "5" * 64 + "\n"
REMEMBERED = "release, person, class_id, buckets, lineage, since"


@pytest.fixture
def server(postgres: str) -> str:
    for schema in ("main", "_anonymizer"):
        query(postgres, f"drop schema if exists {schema} cascade")
    return postgres


CASES: dict[str, dict[str, Any]] = {
    "m": {"republish": {"m": 3}, "privacy": {"k_anonymity": 3}},
    "append": {"republish": {"append_only": True}, "suppression_limit": 0.5},
}


def memory(ledger: Path) -> list[Any]:
    with duckdb.connect(str(ledger), read_only=True) as connection:
        text = f"select {REMEMBERED} from anonymizer_ledger.members order by all"
        return connection.execute(text).fetchall()


@pytest.mark.parametrize("case", CASES)
def test_three_releases_are_those_of_duckdb(case: str, server: str, tmp_path: Path) -> None:
    """Rows, order, measures and what is remembered, release after release."""
    population = Population(seed=11, size=150)
    for engine in ("duckdb", "postgres"):
        (tmp_path / engine).mkdir()
        (tmp_path / engine / f"{LEDGER}.key").write_text(KEY)
    for seed in range(3):
        write(server, population)
        rows = [(one, *person) for one, person in population.people.items()]
        here = embedded(VISITS, rows, "visits")
        one = anonymizer.run(
            made(tmp_path / "postgres", **CASES[case]), server, seed=seed, engine="postgres"
        )
        other = anonymizer.run(
            made(tmp_path / "duckdb", engine="duckdb", **CASES[case]), here, seed=seed
        )
        same_release(one, server, other)
        assert memory(tmp_path / "postgres" / LEDGER) == memory(tmp_path / "duckdb" / LEDGER)
        population.leave(12)
        population.fall_ill(5)
        population.arrive(24)


def test_the_history_is_read_within_the_threads_of_the_run(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(server, Population(seed=11, size=60))
    policy = made(tmp_path, **CASES["append"])
    found: list[Limits] = []

    def opened(*given: Any, limits: Limits, **options: Any) -> Any:
        found.append(limits)
        return own_connection(*given, limits=limits, **options)

    for module in (record, digests_of_persons):
        monkeypatch.setattr(module, "own_connection", opened, raising=False)
    for seed in range(2):
        anonymizer.run(policy, server, seed=seed, engine="postgres", limits=Limits(threads=1))
    assert [limits.threads for limits in found] == [1] * 4  # the run's own, and the history


@some(1)
@pytest.mark.parametrize(("case", "name"), [("m", "key"), ("m", "person"), ("append", "person")])
def test_columns_of_all_types(case: str, name: str, server: str, tmp_path: Path) -> None:
    """NULLs, dates, decimals, doubles and texts beyond ASCII, of persons that are texts."""
    rows = [(*row[:8], row[8] or "flu", number, *row[10:]) for number, row in enumerate(people())]
    columns: dict[str, Any] = dict.fromkeys(
        ("age", "born", "seen", "town", "wage", "weight", "member"), "quasi"
    )
    for engine in ("duckdb", "postgres"):
        (tmp_path / engine).mkdir()
        (tmp_path / engine / f"{LEDGER}.key").write_text(KEY)

    def given(engine: str) -> Policy:
        ledger = str(tmp_path / engine / LEDGER)
        listed = {**columns, "ill": {"role": "sensitive"}}
        if case == "append":
            listed["zip"] = {"role": "keep"}
        rest: dict[str, Any] = {name: "person", **CASES[case]}
        return over_people(listed, ledger=ledger, **rest)

    for seed, taken in enumerate((slice(0, 200), slice(20, 243))):
        load(server, PEOPLE, rows[taken], "people")
        here = embedded(PEOPLE, rows[taken], "people")
        one = anonymizer.run(given("postgres"), server, seed=seed, engine="postgres")
        other = anonymizer.run(given("duckdb"), here, seed=seed, engine="duckdb")
        same_release(one, server, other)
