"""`anonymizer plan` for a table that is followed: what it says is what the run then does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.republish.outlook import Outlook, outlook
from anonymizer.review.preview import Preview, preview
from tests.selection import rounds
from tests.threats.population import Population, observed, policy
from tests.threats.test_ledger_follow import COLUMNS, K


def looked(folder: Path, **more: Any) -> Preview:
    return preview(policy(folder, **more), str(folder / "source.duckdb"), foresee=False)


@rounds(1, 10)
@pytest.mark.parametrize("wait", [1, 3])
def test_a_plan_says_what_the_run_does(tmp_path: Path, wait: int, rounds: int) -> None:
    """Who has left, goes along, waits or is left out, beside two releases."""
    waited = joined = 0
    for seed in range(rounds):
        folder = tmp_path / str(seed)
        folder.mkdir()
        population, out, before = Population(seed=seed, size=150), set[int](), set[int]()
        republish = {"follow": True, "wait": wait}
        given = {"columns": COLUMNS, "republish": republish, "suppression_limit": 0.9}
        for night in range(4):
            if night:
                population.leave(1 + seed % 2)
                population.arrive(1 if night == 2 else 12)
            population.write(folder / "source.duckdb")
            seen = looked(folder, **given).series
            anonymizer.run(policy(folder, **given), folder / "source.duckdb")
            here, after = {*population.people}, {*observed(folder, population.people)}
            if not night:
                assert seen is None
            else:
                assert seen is not None
                assert (seen.unit, seen.releases, seen.last_release) == ("rows", night, len(before))
                assert seen.leavers == len(before - here)
                # (drawn anew by the run: how many it takes depends on the values of who is drawn)
                for along in (seen.along, len((before & here) - after)):
                    assert along + seen.leavers >= K if seen.leavers else along == 0
                assert seen.withdrawal == (seen.leavers + seen.along) / len(before)
                assert (seen.for_values, seen.back + seen.still_out) == (0, len(out & here))
                new = here - before - out
                assert (seen.joiners, seen.joiners_now) == (len(new), len(new & after))
                assert seen.joiners_later == len(new - after)
                assert (seen.joiners_later > 0) == bool(seen.reason)
                assert seen.longest_wait <= night
                waited, joined = waited + seen.joiners_later, joined + seen.joiners_now
            out = (out | ((before & here) - after)) - after
            before = after
    assert waited
    assert joined


@pytest.mark.slow
def test_a_plan_says_when_those_who_wait_are_placed(tmp_path: Path) -> None:
    population = Population(seed=3, size=90)
    given = {"columns": COLUMNS, "republish": {"follow": True, "wait": 3}, "suppression_limit": 0.9}
    lines: list[tuple[int, str, int, int]] = []
    for night in range(7):
        # nobody can be placed with the third release: two are no class
        population.arrive(0 if not night else 1 if night in (2, 3) else 0 if night < 6 else 20)
        population.write(tmp_path / "source.duckdb")
        seen = looked(tmp_path, **given).series
        if seen is not None:
            lines.append((seen.joiners_later, seen.reason, seen.next_chance, seen.longest_wait))
        anonymizer.run(policy(tmp_path, **given), tmp_path / "source.duckdb")
    assert lines == [
        (0, "", 0, 0),
        (1, "wait", 1, 1),
        (2, "too few", 3, 2),
        (2, "wait", 2, 3),
        (2, "wait", 1, 4),
        (0, "", 0, 0),
    ]


@pytest.mark.slow
def test_values_that_change_and_who_comes_back(tmp_path: Path) -> None:
    population = Population(seed=3, size=90)
    given = {"columns": COLUMNS, "republish": {"follow": True}, "suppression_limit": 0.9}
    population.write(tmp_path / "source.duckdb")
    anonymizer.run(policy(tmp_path, **given), tmp_path / "source.duckdb")
    first = observed(tmp_path, population.people)
    ill = {one for one in first if first[one][0] == first[0][0]}
    everybody = dict(population.people)
    for one in ill:
        population.people[one] = (*population.people[one][:2], "flu")
    population.write(tmp_path / "source.duckdb")
    seen = looked(tmp_path, **given).series
    assert seen is not None
    assert (seen.for_values, seen.leavers, seen.along) == (len(ill), 0, 0)
    anonymizer.run(policy(tmp_path, **given), tmp_path / "source.duckdb")
    population.people = everybody
    population.write(tmp_path / "source.duckdb")
    seen = looked(tmp_path, **given).series
    assert seen is not None
    assert (seen.back, seen.for_values, seen.still_out, seen.frontier) == (len(ill), 0, 0, ())


def after_one_leaves(folder: Path, size: int, **more: Any) -> Outlook:
    population = Population(seed=3, size=size)
    given = {"columns": COLUMNS, "republish": {"follow": True}, "suppression_limit": 0.9, **more}
    population.write(folder / "source.duckdb")
    anonymizer.run(policy(folder, **given), folder / "source.duckdb")
    population.leave(1)
    population.write(folder / "source.duckdb")
    seen = looked(folder, **given).series
    assert seen is not None
    return seen


def test_what_leaving_costs_is_shown_if_it_is_frequent(tmp_path: Path) -> None:
    seen = after_one_leaves(tmp_path, 500)
    costs = {one.choice: (one.withdrawal, one.of_thirty) for one in seen.frontier}
    now, weekly, monthly, least, double, m = costs.values()
    # a class of k goes unless all of it stay
    assert least[0] == 1 - (1 - 1 / 500) ** 3
    assert double[0] == 1 - (1 - 1 / 500) ** 6
    assert least[0] <= now[0] < weekly[0] < monthly[0]
    assert now[1] > weekly[1] > monthly[1]
    assert m == (0, 0)
    assert "republish: {m: 3}" in costs


@pytest.mark.slow
def test_what_a_policy_cannot_have_is_no_choice(tmp_path: Path) -> None:
    columns = {**COLUMNS, "district": {"role": "keep"}}
    seen = after_one_leaves(tmp_path, 300, columns=columns)
    assert seen.frontier
    assert not [one for one in seen.frontier if "m:" in one.choice]


@pytest.mark.slow
def test_little_leaving_is_not_frequent(tmp_path: Path) -> None:
    seen = after_one_leaves(tmp_path, 6000)
    assert (seen.leavers, seen.frontier) == (1, ())


@pytest.mark.slow
def test_one_statement_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[str] = []
    whole = DuckDBEngine.execute

    def counted(engine: DuckDBEngine, statement: Any, where: str, *rest: Any) -> Any:
        places.append(where)
        return whole(engine, statement, where, *rest)

    monkeypatch.setattr(DuckDBEngine, "execute", counted)
    after_one_leaves(tmp_path, 90)
    assert places.count(outlook.__name__) == 1
