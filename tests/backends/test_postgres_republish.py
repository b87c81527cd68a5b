"""Releases of Postgres tables that continue earlier ones: as on DuckDB, and against an observer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.errors import AnonymizerError, EngineError
from anonymizer.ledger import history as digests_of_persons
from anonymizer.ledger import record
from anonymizer.policy import Policy
from anonymizer.review.preview import preview
from anonymizer.run.scripts import script
from tests.backends.tables import PEOPLE, embedded, load, people, query, same_release
from tests.backends.tables import policy as over_people
from tests.backends.test_postgres_ledger import LEDGER, VISITS, made, write
from tests.selection import some
from tests.threats.population import Population, Seen, digests
from tests.threats.test_ledger_follow import COLUMNS as FOLLOWED
from tests.threats.test_ledger_replay import (
    K,
    M,
    candidates_of_class,
    candidates_of_value,
    returning,
)

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
    "follow": {
        "republish": {"follow": True, "wait": 2},
        "columns": {**FOLLOWED, "disease": {"role": "sensitive", "protect": {"alpha": 0.8}}},
        "suppression_limit": 0.5,
    },
}


def memory(ledger: Path) -> list[Any]:
    with duckdb.connect(str(ledger), read_only=True) as connection:
        text = f"select {REMEMBERED} from anonymizer_ledger.members order by all"
        return connection.execute(text).fetchall()


def test_a_plan_counts_as_on_duckdb(server: str, tmp_path: Path) -> None:
    """Who is new, waits, has left and goes along, and what other choices would cost."""
    population = Population(seed=11, size=150)
    found: dict[str, list[Any]] = {"duckdb": [], "postgres": []}
    for engine in found:
        (tmp_path / engine).mkdir()
        (tmp_path / engine / f"{LEDGER}.key").write_text(KEY)
    for seed in range(3):
        write(server, population)
        population.write(tmp_path / "source.duckdb")
        places = {"duckdb": str(tmp_path / "source.duckdb"), "postgres": server}
        for engine, place in places.items():
            more = {"engine": engine} if engine == "duckdb" else {}
            asked = made(tmp_path / engine, **more, **CASES["follow"])
            series = preview(asked, place, engine, foresee=False).series
            found[engine].append(None if series is None else series.as_dict())
            anonymizer.run(asked, place, seed=seed, engine=engine)
        population.leave(2)
        population.arrive(9)
    assert [one is None for one in found["duckdb"]] == [True, False, False]
    for here, there in zip(found["duckdb"], found["postgres"], strict=True):
        assert (here is None) == (there is None)
        if here is not None:
            costs, others = (one.pop("frontier") for one in (here, there))
            for one in (here, there):  # (who goes along is drawn, and with them how many)
                assert one.pop("along") + one["leavers"] >= 3
                one.pop("withdrawal")
            assert here == there
            assert [one["choice"] for one in costs] == [one["choice"] for one in others]
            shares = ([one["withdrawal"] for one in of] for of in (costs, others))
            assert next(shares) == pytest.approx(next(shares))


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


def observed(folder: Path, address: str, population: Population) -> Seen:
    """In which class everybody is, and which values the class publishes."""
    values: dict[int, set[str]] = {}
    for class_id, disease in query(address, "select class_id, disease from main.released"):
        values.setdefault(class_id, set()).add(disease)
    with duckdb.connect(str(folder / LEDGER), read_only=True) as connection:
        text = (
            "select person, class_id from anonymizer_ledger.members where person is not null"
            " and release = (select max(release) from anonymizer_ledger.releases)"
        )
        members = dict(connection.execute(text).fetchall())
    return {
        one: (members[digest], frozenset(values[members[digest]]))
        for digest, one in digests(folder, population.people).items()
        if digest in members
    }


def replay(
    folder: Path, address: str, population: Population, continued: dict[str, Any], loss: int
) -> tuple[list[Seen], list[int]]:
    """Five releases of a table that grows, shrinks and changes."""
    releases, counterfeits = [], []
    for _ in range(5):
        write(address, population)
        chosen = made(folder, republish=continued, suppression_limit=0.5)
        release = anonymizer.run(chosen, address)
        counterfeits.append(release.measures.get("counterfeits", 0))
        releases.append(observed(folder, address, population))
        population.leave(loss)
        population.fall_ill(5)
        population.arrive(loss // 2)
    return releases, counterfeits


def test_m_values_stay_over_many_releases(server: str, tmp_path: Path) -> None:
    population = Population(seed=11, size=240)
    releases, counterfeits = replay(tmp_path, server, population, {"m": M}, 16)
    known = returning(releases) - population.changed
    assert len(known) > 150
    assert min(len(candidates_of_value(releases, one)) for one in known) >= M
    for number, seen in enumerate(releases[1:], start=1):
        for one in seen.keys() & releases[number - 1].keys() - population.changed:
            assert seen[one][1] == releases[number - 1][one][1], "the signature is kept"
    assert sum(counterfeits) > 0
    (count,) = query(server, "select count(*) from main.released")[0]
    assert count == len(releases[-1]) + counterfeits[-1]
    with duckdb.connect(str(tmp_path / LEDGER), read_only=True) as ledger:
        text = "select count(*) from anonymizer_ledger.members where person is null"
        assert ledger.execute(text).fetchall() == [(sum(counterfeits),)]


def test_k_candidates_stay_over_many_releases(server: str, tmp_path: Path) -> None:
    population = Population(seed=5, size=240)
    releases, _ = replay(tmp_path, server, population, {"append_only": True}, 8)
    known = returning(releases)
    assert len(known) > 200
    assert min(len(candidates_of_class(releases, one)) for one in known) >= K


def test_the_release_verifies(server: str, tmp_path: Path) -> None:
    write(server, Population(seed=3, size=90))
    chosen = made(tmp_path, republish={"m": M})
    anonymizer.run(chosen, server)
    assert anonymizer.verify(chosen, server).passed


@pytest.mark.parametrize("case", CASES)
def test_there_is_no_script(case: str, server: str, tmp_path: Path) -> None:
    """Its statements read what a ledger remembers."""
    write(server, Population(seed=3, size=90))
    with pytest.raises(EngineError, match="ledger"):
        script(made(tmp_path, **CASES[case]), server, "postgres")


def test_signatures_of_fewer_values_are_refused(server: str, tmp_path: Path) -> None:
    write(server, Population(seed=3, size=90))
    anonymizer.run(made(tmp_path, republish={"m": 2}, privacy={"k_anonymity": 2}), server)
    with pytest.raises(AnonymizerError, match=r"republish\.m: .* stood in classes of fewer"):
        anonymizer.run(made(tmp_path, republish={"m": 4}), server)
