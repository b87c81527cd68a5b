"""A ledger of releases of Postgres tables: what it remembers, what it refuses, what is settled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.postgres.workplace import RUNS
from anonymizer.errors import EngineError, GuaranteeError, Problem
from anonymizer.ledger.session import listed
from anonymizer.policy import Policy
from tests.backends.tables import PEOPLE, embedded, load, on_duckdb, on_postgres, people, query
from tests.backends.tables import policy as over_people
from tests.forging import seal_ledger_again
from tests.selection import some
from tests.threats.population import Population, digests, policy

pytestmark = pytest.mark.postgres

VISITS = {"id": "INTEGER", "age": "INTEGER", "district": "INTEGER", "disease": "VARCHAR"}
PROTECTED = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "district": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
}
LEDGER = "private.duckdb"
TABLES = {
    "members": "person, class_id, number, buckets, marks, since",
    "signatures": "facet, grp, list_sort(list_distinct(signature))",
    "dictionary": "facet, value, text",
}


def write(address: str, population: Population) -> None:
    load(address, VISITS, [(one, *person) for one, person in population.people.items()], "visits")


@pytest.fixture
def population(postgres: str) -> Population:
    for schema in ("main", "_anonymizer"):
        query(postgres, f"drop schema if exists {schema} cascade")
    made = Population(seed=2, size=60)
    write(postgres, made)
    return made


def made(folder: Path, **changes: Any) -> Policy:
    return policy(folder, **{"publish": {"name": "released"}, "engine": "postgres"} | changes)


def run(folder: Path, address: Any, seed: int | None = None, **changes: Any) -> Any:
    return anonymizer.run(made(folder, **changes), address, seed=seed)


def remembered(ledger: Path, table: str) -> list[Any]:
    with duckdb.connect(str(ledger), read_only=True) as connection:
        text = f"select {TABLES[table]} from anonymizer_ledger.{table} order by all"
        return connection.execute(text).fetchall()


OPEN = {"role": "keep", "acknowledge_unique": True}
L2 = {"role": "sensitive", "protect": {"l_diversity": 2}}
QUASI = {"age": "quasi", "zip": "quasi"}
PERSON = {"person": "person", "merge_person_rows": True}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "whole rows": ({**QUASI, "ill": L2}, {}),
    "nothing protected": ({**QUASI, "ill": "sensitive"}, {}),
    "only quasi": (QUASI, {}),
    "persons": ({**QUASI, "ill": L2}, {**PERSON}),
    "town as text": ({"age": "quasi", "town": L2}, {}),
    "numbers and dates": (
        {"age": L2, "born": L2, "wage": L2, "member": "quasi", "seen": L2},
        {"suppression_limit": 1.0},
    ),
    "marks": ({**QUASI, "ill": OPEN, "seen": OPEN, "town": OPEN}, {**PERSON}),
    "buckets": (
        {**QUASI, "ill": L2, "town": {"role": "sensitive", "protect": {"l_diversity": 3}}},
        {"algorithm": {"name": "lgb"}, "suppression_limit": 0.5},
    ),
}


@some(4)
@pytest.mark.parametrize("case", CASES)
def test_it_remembers_what_it_does_on_duckdb(case: str, postgres: str, tmp_path: Path) -> None:
    """The same persons, classes, buckets, pseudonyms and values, under the same key."""
    columns, rest = CASES[case]
    # which of two equal rows is in which bucket is not determined
    rows = people()[:240] if case == "buckets" else people()
    load(postgres, PEOPLE, rows, "people")
    ledgers = []
    for engine in ("duckdb", "postgres"):
        folder = tmp_path / engine
        folder.mkdir()
        key = folder / f"{LEDGER}.key"
        key.write_text("5" * 64 + "\n")
        given = over_people(columns, ledger=str(folder / LEDGER), **rest)
        if engine == "duckdb":
            on_duckdb(given, embedded(PEOPLE, rows, "people"))
        else:
            on_postgres(given, postgres)
        ledgers.append(folder / LEDGER)
    for table in TABLES:
        one, other = (remembered(ledger, table) for ledger in ledgers)
        assert one == other, table
        assert one or table != "members"


@pytest.mark.parametrize("later", ["double precision", "numeric(12, 2)"])
def test_a_number_is_the_same_person_in_every_type(
    postgres: str, population: Population, tmp_path: Path, later: str
) -> None:
    run(tmp_path, postgres, columns=PROTECTED)
    population.leave(10)
    population.arrive(10)
    write(postgres, population)
    query(postgres, f"alter table visits alter column id type {later}")
    with pytest.raises(GuaranteeError) as raised:
        run(tmp_path, postgres, columns=PROTECTED)
    assert any(" of 50 returning persons" in p.message for p in raised.value.problems)


def test_it_holds_no_person_and_no_order(
    postgres: str, population: Population, tmp_path: Path
) -> None:
    run(tmp_path, postgres, columns=PROTECTED)
    for file in (LEDGER, f"{LEDGER}.key"):
        assert (tmp_path / file).stat().st_mode & 0o777 == 0o600
    known = digests(tmp_path, population.people)
    with duckdb.connect(str(tmp_path / LEDGER), read_only=True) as connection:
        text = "select person from anonymizer_ledger.members order by rowid"
        found = [person for (person,) in connection.execute(text).fetchall()]
    assert sorted(known) == found, "all persons, in the order of digests"
    key = (tmp_path / f"{LEDGER}.key").read_text().strip()
    (manifest,) = query(postgres, "select manifest from main.released_manifest")[0]
    assert key not in manifest
    assert "ledger" not in manifest


def test_the_key_stands_in_no_statement(
    postgres: str, population: Population, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib

    import psycopg

    sent: list[str] = []
    execute = psycopg.Connection.execute

    def listening(self: Any, text: Any, *given: Any, **rest: Any) -> Any:
        sent.append(str(text))
        return execute(self, text, *given, **rest)

    monkeypatch.setattr(psycopg.Connection, "execute", listening)
    run(tmp_path, postgres, columns=PROTECTED)
    key = (tmp_path / f"{LEDGER}.key").read_text().strip()
    bound = hashlib.sha256(f"{key}:statements".encode()).hexdigest()[:32]
    assert len(sent) > 50
    assert not [text for text in sent if key in text or bound in text]


@pytest.mark.parametrize("given", ["schema", "temporary"])
@pytest.mark.parametrize("stands", [True, False])
def test_it_settles_a_killed_run(
    postgres: str, population: Population, tmp_path: Path, stands: bool, given: str
) -> None:
    """What was remembered but perhaps not published: the record of the database tells."""
    address = postgres
    if given == "temporary":
        address = _clerk(postgres)
    first = run(tmp_path, address)
    _pending(tmp_path, run_id=None if stands else "gone")
    second = run(tmp_path, address)
    expected = [first.run_id, second.run_id] if stands else [second.run_id]
    assert [e.run_id for e in listed(tmp_path / LEDGER)] == expected
    assert {e.state for e in listed(tmp_path / LEDGER)} == {"published"}


def _clerk(postgres: str) -> str:
    """The address of a role that owns the table, and may make no schema."""
    if not query(postgres, "select 1 from pg_roles where rolname = 'clerk'"):
        query(postgres, "create role clerk login")
    query(postgres, "alter table visits owner to clerk")
    query(postgres, "create schema main")
    query(postgres, "grant create, usage on schema main to clerk")
    return postgres.replace("postgres@", "clerk@")


def _pending(folder: Path, run_id: str | None = None) -> None:
    """The ledger as a run leaves it that is killed after it recorded its release."""
    with duckdb.connect(str(folder / LEDGER)) as connection:
        table = "anonymizer_ledger.releases"
        connection.execute(f"update {table} set state = 'pending'").fetchall()
        if run_id is not None:
            connection.execute(f"update {table} set run_id = '{run_id}'").fetchall()
    seal_ledger_again(folder / LEDGER)


def test_a_run_whose_server_goes_on_is_not_settled(
    postgres: str, population: Population, tmp_path: Path
) -> None:
    """The client is dead, and the server has not ended its session: it may publish still."""
    import psycopg

    run(tmp_path, postgres)
    _pending(tmp_path, "gone")
    with psycopg.connect(postgres, autocommit=True) as session:
        session.execute("select pg_advisory_lock(hashtextextended(%s, 0))", (f"{RUNS}gone",))
        run(tmp_path, postgres)
    assert ("gone", "pending") in [(e.run_id, e.state) for e in listed(tmp_path / LEDGER)]
    run(tmp_path, postgres)
    assert "gone" not in [e.run_id for e in listed(tmp_path / LEDGER)]


def test_a_release_of_another_database_counts_as_published(
    postgres: str, population: Population, tmp_path: Path
) -> None:
    run(tmp_path, postgres)
    _pending(tmp_path, "gone")
    with duckdb.connect(str(tmp_path / LEDGER)) as connection:
        text = "update anonymizer_ledger.releases set target = 'postgres:1/2'"
        connection.execute(text).fetchall()
    seal_ledger_again(tmp_path / LEDGER)
    run(tmp_path, postgres)
    assert "gone" in [e.run_id for e in listed(tmp_path / LEDGER)]


def test_a_record_that_the_role_may_not_read_settles_nothing(
    postgres: str, population: Population, tmp_path: Path
) -> None:
    run(tmp_path, postgres)
    query(postgres, "drop schema main cascade")
    _pending(tmp_path, "gone")
    run(tmp_path, _clerk(postgres))
    assert "gone" in [e.run_id for e in listed(tmp_path / LEDGER)]


def test_a_commit_of_which_nothing_is_heard_stays_remembered(
    postgres: str, population: Population, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server publishes, and the connection breaks before it can say so."""
    from anonymizer.engines.postgres.connection import PostgresEngine

    native = PostgresEngine.native

    def breaking(self: PostgresEngine, text: str, where: str, values: Any = None) -> Any:
        found = native(self, text, where, values)
        if text == "commit" and where == "publish":
            self.connection.close()
            raise EngineError(Problem("publish", "the connection broke"))
        return found

    monkeypatch.setattr(PostgresEngine, "native", breaking)
    with pytest.raises(EngineError):
        run(tmp_path, postgres)
    monkeypatch.undo()
    (entry,) = listed(tmp_path / LEDGER)
    assert entry.state == "pending"
    assert query(postgres, "select count(*) from main.released") == [(60,)]
    run(tmp_path, postgres)
    assert [e.state for e in listed(tmp_path / LEDGER)] == ["published", "published"]


@pytest.mark.parametrize("first", ["duckdb", "postgres"])
def test_releases_of_two_engines_are_not_compared(
    postgres: str, population: Population, tmp_path: Path, first: str
) -> None:
    population.write(tmp_path / "source.duckdb")

    def on(engine: str) -> Any:
        if engine == "postgres":
            return run(tmp_path, postgres)
        return anonymizer.run(policy(tmp_path), tmp_path / "source.duckdb")

    on(first)
    with pytest.raises(EngineError) as raised:
        on("postgres" if first == "duckdb" else "duckdb")
    (problem,) = raised.value.problems
    assert problem.path == "ledger"
    assert f"engine: {first}" in (problem.hint or "")
    assert len(listed(tmp_path / LEDGER)) == 1
