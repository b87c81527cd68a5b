"""Ten releases of a table that grows, shrinks and changes, and the attack that intersects them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import GuaranteeError
from anonymizer.review.attack import attack
from tests.selection import rounds, some
from tests.threats.population import Population, Seen, observed, policy

M, K = 3, 3
KEPT = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "district": {"role": "quasi"},
    "disease": {"role": "keep"},
}
ROUNDS = 10


def replay(
    folder: Path,
    population: Population,
    *,
    continued: dict[str, object] | None,
    loss: int,
    rounds: int,
) -> tuple[list[Seen], list[int]]:
    """Releases one after the other. Without `continued` each has a ledger of its own, so that
    none is refused."""
    releases, counterfeits = [], []
    for number in range(rounds):
        ledger = "private.duckdb" if continued else f"private{number}.duckdb"
        population.write(folder / "source.duckdb")
        chosen = policy(folder, ledger=ledger, republish=continued, suppression_limit=0.5)
        release = anonymizer.run(chosen, folder / "source.duckdb")
        counterfeits.append(release.measures.get("counterfeits", 0))
        releases.append(observed(folder, population.people, ledger))
        population.leave(loss)
        population.fall_ill(5 if loss else 0)
        population.arrive(2 * loss if number < 5 else loss // 2)
    return releases, counterfeits


def candidates_of_value(releases: list[Seen], number: int) -> set[str]:
    """The values that all releases admit for a person."""
    shown = [seen[number][1] for seen in releases if number in seen]
    return set.intersection(*map(set, shown)) if shown else set()


def candidates_of_class(releases: list[Seen], number: int) -> set[int]:
    """Who stood with a person in every release in which the person stood."""
    together: list[set[int]] = []
    for seen in releases:
        if number in seen:
            members: dict[int, set[int]] = defaultdict(set)
            for one, (class_id, _) in seen.items():
                members[class_id].add(one)
            together.append(members[seen[number][0]])
    return set.intersection(*together)


def returning(releases: list[Seen]) -> set[int]:
    """Who stood in at least two releases."""
    times: dict[int, int] = defaultdict(int)
    for seen in releases:
        for one in seen:
            times[one] += 1
    return {one for one, n in times.items() if n > 1}


@pytest.mark.slow
@rounds(4, ROUNDS)
def test_ledger_m_invariance_over_many_releases(tmp_path: Path, rounds: int) -> None:
    population = Population(seed=11, size=240)
    releases, counterfeits = replay(
        tmp_path, population, continued={"m": M}, loss=12, rounds=rounds
    )
    known = returning(releases) - population.changed
    assert len(known) > 200
    # nobody whose value stayed can be narrowed down to fewer than m values: at most 1/m
    assert min(len(candidates_of_value(releases, one)) for one in known) >= M
    for number, seen in enumerate(releases[1:], start=1):
        for one in seen.keys() & releases[number - 1].keys() - population.changed:
            assert seen[one][1] == releases[number - 1][one][1], "the signature is kept"
    # the growing and shrinking needed counterfeits, marked in the ledger and nowhere else
    assert sum(counterfeits) > 0
    with duckdb.connect(str(tmp_path / "private.duckdb"), read_only=True) as ledger:
        marked = ledger.execute(
            "select count(*) from anonymizer_ledger.members where person is null group by release"
            " order by release"
        ).fetchall()
        assert [n for (n,) in marked] == [n for n in counterfeits if n]
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as release:
        (published,) = release.execute("select count(*) from released").fetchone() or (0,)
        names = [row[0] for row in release.execute("describe released").fetchall()]
    assert published == len(releases[-1]) + counterfeits[-1]
    assert names == ["class_id", "age", "district", "disease"]


@pytest.mark.slow
@rounds(6, ROUNDS)
def test_ledger_attack_succeeds_without_republish(tmp_path: Path, rounds: int) -> None:
    """The same releases, each 3-diverse and 3-anonymous by itself: the attack works."""
    population = Population(seed=11, size=240)
    releases = []
    for number in range(rounds):
        population.write(tmp_path / "source.duckdb")
        columns = {
            "id": {"role": "identifier"},
            "age": {"role": "quasi"},
            "district": {"role": "quasi"},
            "disease": {"role": "sensitive", "protect": {"l_diversity": M}},
        }
        ledger = f"private{number}.duckdb"
        chosen = policy(tmp_path, columns=columns, ledger=ledger)
        anonymizer.run(chosen, tmp_path / "source.duckdb")
        releases.append(observed(tmp_path, population.people, ledger))
        population.leave(12)
        population.fall_ill(5)
        population.arrive(24 if number < 5 else 6)
    known = returning(releases) - population.changed
    exposed = [one for one in known if len(candidates_of_value(releases, one)) == 1]
    assert len(exposed) > len(known) / 10
    for one in exposed:
        if one in population.people:
            assert candidates_of_value(releases, one) == {population.people[one][2]}


@pytest.mark.slow
@rounds(3, ROUNDS)
def test_ledger_append_only_keeps_k_candidates(tmp_path: Path, rounds: int) -> None:
    population = Population(seed=5, size=240)
    continued: dict[str, object] = {"append_only": True}
    releases, _ = replay(tmp_path, population, continued=continued, loss=8, rounds=rounds)
    known = returning(releases)
    assert len(known) > 200
    assert min(len(candidates_of_class(releases, one)) for one in known) >= K


@some(0)
@pytest.mark.parametrize(("arrivals", "placed"), [(1, 0), (2, 0), (40, 40)])
def test_ledger_append_only_places_new_persons(tmp_path: Path, arrivals: int, placed: int) -> None:
    """Many make classes of their own; a few, whom the difference would show, wait."""
    population = Population(seed=3, size=90)
    population.write(tmp_path / "source.duckdb")
    chosen = policy(tmp_path, republish={"append_only": True}, suppression_limit=0.1)
    first = anonymizer.run(chosen, tmp_path / "source.duckdb")
    before = observed(tmp_path, population.people)
    population.arrive(arrivals)
    population.write(tmp_path / "source.duckdb")
    second = anonymizer.run(chosen, tmp_path / "source.duckdb")
    after = observed(tmp_path, population.people)
    assert second.measures["rows"] == 90 + placed
    assert second.measures["suppressed"] == arrivals - placed
    assert second.measures["classes"] >= first.measures["classes"]
    together = {frozenset(o for o in before if before[o][0] == c) for c, _ in before.values()}
    for people in together:
        assert len({after[one][0] for one in people}) == 1, "a class was torn apart"


@pytest.mark.slow
@pytest.mark.parametrize("event", ["joins", "leaves"])
def test_ledger_append_only_does_not_show_one_person(tmp_path: Path, event: str) -> None:
    """One who joins waits, and the class of one who leaves is withdrawn, if so many may be left
    out; otherwise nothing is published."""
    population = Population(seed=3, size=90)
    population.write(tmp_path / "source.duckdb")
    given = {"columns": KEPT}
    growing = policy(tmp_path, republish={"append_only": True}, **given)
    first = anonymizer.run(growing, tmp_path / "source.duckdb")
    (tmp_path / "earlier.duckdb").write_bytes((tmp_path / "release.duckdb").read_bytes())
    if event == "joins":
        population.arrive(1)
    else:
        population.leave(1)
    population.write(tmp_path / "source.duckdb")
    with pytest.raises(GuaranteeError, match="would be suppressed") as raised:
        anonymizer.run(growing, tmp_path / "source.duckdb")
    assert "new rows wait" in str(raised.value)
    waiting = policy(tmp_path, republish={"append_only": True}, suppression_limit=0.1, **given)
    second = anonymizer.run(waiting, tmp_path / "source.duckdb")
    assert second.measures["rows"] <= first.measures["rows"]
    assert attack(waiting, tmp_path / "source.duckdb", earlier=tmp_path / "earlier.duckdb").holds
