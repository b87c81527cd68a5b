"""The differences of releases: the ledger against every assignment of values that agrees."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.compile import Sql, ident, lit, render
from anonymizer.engines.duckdb.connection import DuckDBEngine, scratch
from anonymizer.errors import GuaranteeError, Problem
from anonymizer.guarantees.diversity import DistinctL
from anonymizer.ledger.compare import Comparison
from anonymizer.ledger.entries import Entry
from anonymizer.ledger.matches import WAIT, apart, ways_out
from anonymizer.ledger.protected_columns import Facet, Recognition
from anonymizer.ledger.recognition import strangers
from anonymizer.ledger.store import CREATE, MEMBERS, NEW_MEMBERS, NEW_SIGNATURES, SIGNATURES
from tests.selection import few
from tests.threats.population import Population, policy

K = L = 2
Classes = dict[int, int]
"""Person to class, of those who are in a release."""


@dataclass(frozen=True)
class Series:
    """Releases, oldest first, and the values of the persons; None is NULL."""

    releases: tuple[Classes, ...]
    values: Mapping[int, int | None]

    def shown(self, release: int) -> dict[int, Counter[int | None]]:
        """What a release publishes of every class."""
        found: dict[int, Counter[int | None]] = {}
        for person, number in self.releases[release].items():
            found.setdefault(number, Counter())[self.values[person]] += 1
        return found

    def agreeing(self) -> Iterator[Mapping[int, int | None]]:
        """Every assignment of values to persons that agrees with all releases."""
        people, domain = sorted(self.values), {*self.values.values()}
        published = [self.shown(release) for release in range(len(self.releases))]
        for values in itertools.product(domain, repeat=len(people)):
            other = Series(self.releases, dict(zip(people, values, strict=True)))
            if all(other.shown(r) == shown for r, shown in enumerate(published)):
                yield other.values

    def below(self) -> set[int]:
        """Persons with fewer than l possible values, and bearers of a row with fewer than k."""
        worlds = list(self.agreeing())
        present = set().union(*self.releases)
        found = {p for p in present if len({world[p] for world in worlds}) < L}
        for classes in self.releases:
            for person, number in classes.items():
                there = [p for p, c in classes.items() if c == number]
                bearers = {p for p in there for w in worlds if w[p] == self.values[person]}
                found |= {person} if len(bearers) < K else set()
        return found


def drawn(seed: int) -> Series:
    """A tiny world: groups that come and go together, with some who do not."""
    draw = random.Random(seed)
    people = list(range(draw.choice([6, 7, 8])))
    values = {p: draw.randrange(draw.choice([2, 3])) for p in people}
    draw.shuffle(people)
    groups = [people[at : at + 2] for at in range(0, len(people), 2)]
    for first, second in (group for group in groups if len(group) == 2 and draw.random() < 0.8):
        values[second] = (values[first] + 1) % 2
    releases: list[Classes] = []
    while len(releases) < draw.choice([2, 3]) or len(releases) < 2:
        here = [group for group in groups if draw.random() < 0.75]
        classes = draw.choice([1, 2, 2, 3])
        found = {p: number for g in here for number in [draw.randrange(classes)] for p in g}
        if draw.random() < 0.3:
            found.pop(draw.choice(people), None)
        series = Series((found,), values)
        if found and all(n.total() >= K and len(n) >= L for n in series.shown(0).values()):
            releases.append(found)
    return Series(tuple(releases), values)


@contextmanager
def ledger() -> Iterator[DuckDBEngine]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute("attach ':memory:' as anon_ledger").fetchall()
        with scratch(connection):
            engine = DuckDBEngine(connection, owns_connection=True)
            for text in CREATE:
                engine.raw(text, "test")
            yield engine


def insert(engine: DuckDBEngine, table: Any, rows: Iterable[str]) -> None:
    listed = ", ".join(f"({row})" for row in rows)
    if listed:
        engine.raw(f"insert into {ident(table)} values {listed}", "test")


def refused(series: Series) -> list[Problem]:
    """What the ledger says of the last release after the others, which it has recorded."""
    rules = (DistinctL("v", L),)
    facet = Facet("v", "class", 1, Sql("l.class_id"), Sql("o.s1"), L, path="columns.v", rules=rules)
    found: list[Problem] = []
    with ledger() as engine:
        for number, classes in enumerate(series.releases, start=1):
            engine.raw(
                f"create or replace table {ident(NEW_MEMBERS)} (person uhugeint, class_id bigint,"
                " number bigint, marks uhugeint[], since integer, t1 bigint)",
                "test",
            )
            engine.raw(
                f"create or replace table {ident(NEW_SIGNATURES)}"
                " (facet varchar, grp bigint, signature bigint[])",
                "test",
            )
            every = series.shown(number - 1)
            shown = [(c, sorted(v for v in n if v is not None)) for c, n in every.items()]
            of = {person: lit(value) for person, value in series.values.items()}
            rows = (f"{p}, {c}, null, [], null, {of[p]}" for p, c in classes.items())
            insert(engine, NEW_MEMBERS, rows)
            insert(engine, NEW_SIGNATURES, (f"'v', {c}, {n}" for c, n in shown))
            comparison = Comparison(
                engine, policy(Path()), (facet,), (), False, K, True, number=number
            )
            # class numbers of a world are no numbers of a release: they coincide by chance
            problems = comparison.run([entry(one) for one in range(1, number)]).problems
            found = [problem for problem in problems if problem.path != "publish"]
            comparison.record_groups()
            rows = (f"{number}, {p}, {c}, null, null, [], 0, 0" for p, c in classes.items())
            insert(engine, MEMBERS, rows)
            insert(
                engine,
                SIGNATURES,
                (f"{number}, 'v', {c}, {n}" for c, n in shown),
            )
    return found


def entry(number: int) -> Entry:
    return Entry(
        release=number,
        run_id=f"run{number}",
        view="v",
        target="",
        policy_digest="",
        created="",
        state="published",
        owner="{}",
        key_check="",
        secret_digest="",
        several=False,
        facets=("v",),
        scopes=("class",),
        marks=(),
        persons=0,
        counterfeits=0,
    )


def accepted(series: Series) -> bool:
    """Whether the ledger accepts every release of a series after those before it."""
    return not any(
        refused(Series(series.releases[:upto], series.values))
        for upto in range(2, len(series.releases) + 1)
    )


@pytest.mark.parametrize("part", few(range(30), 1))
def test_nobody_is_below_k_or_l_in_what_the_ledger_accepts(part: int) -> None:
    told = taken = 0
    for seed in range(10 * part, 10 * part + 10):
        series = drawn(seed)
        below = series.below()
        told += bool(below)
        if accepted(series):
            taken += 1
            assert not below, (seed, series, below)
    assert told
    assert taken


def test_pairs_of_releases_do_not_suffice() -> None:
    """Each pair of three releases holds, and b is read from all three."""
    a, b, c, d, e, *staying = range(7)
    values = {a: 0, d: 1, c: 2, e: 3, b: 4, **dict(zip(staying, (0, 1), strict=True))}
    present = [{c, e}, {a, d, c, e, b}, {a, d}]
    releases = tuple(dict.fromkeys(sorted({*there, *staying}), 1) for there in present)
    for pair in itertools.combinations(releases, 2):
        assert refused(Series(pair, values)) == []
    assert Series(releases, values).below() >= {b}
    problems = refused(Series(releases, values))
    assert all(WAIT in str(problem.hint) for problem in problems)
    told = {problem.path: problem.message for problem in problems}
    assert "1 of 5 persons" in told["privacy.k_anonymity"]
    assert set(told) == {"privacy.k_anonymity", "columns.v"}


def test_a_group_of_stayers_is_told_by_differences_as_well() -> None:
    """Two persons of one value, in every release, are what two classes leave of a third."""
    values = {0: 0, 3: 0, 1: 1, 2: 1, 4: 2, 5: 0}
    together, first, second = [0] * 6, [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]
    releases = tuple(dict(enumerate(classes)) for classes in (together, first, second))
    assert Series(releases, values).below() >= {0, 3}
    (problem,) = refused(Series(releases, values))
    assert problem.path == "columns.v"
    assert WAIT not in str(problem.hint)  # nobody has come or gone
    # NULL is no value beside the other one
    (problem,) = refused(Series(releases, {**values, 3: None}))
    assert problem.path == "columns.v"


def test_a_group_that_goes_is_told_whichever_release_made_it() -> None:
    """Two persons of one value leave together: a weaker rule took the release that parted them."""
    values = {0: 0, 1: 0, 2: 0, 3: 1, 4: 0, 5: 1}
    first, second = [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 0, 0]
    rest = {person: first[person] for person in (2, 3, 4, 5)}
    series = Series((dict(enumerate(first)), dict(enumerate(second)), rest), values)
    assert series.below() == {0, 1}
    (problem,) = refused(series)
    assert problem.path == "columns.v"
    assert "2 of 2 persons" in problem.message


PROTECTED: dict[str, Any] = {
    "id": {"role": "identifier"},
    "age": {"role": "quasi"},
    "district": {"role": "quasi"},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


def test_a_hint_names_only_what_the_policy_can_have() -> None:
    growing, invariant = "{append_only: true}", "{m: 3}"
    plain, protected = policy(Path()), policy(Path(), columns=PROTECTED)
    assert f"republish: {invariant} or {growing}" in ways_out(plain, 1, m=3)
    assert invariant not in ways_out(plain, 1)
    assert growing not in ways_out(protected, 1, m=3)
    assert "{follow: true}" in ways_out(protected, 1)
    assert "republish" not in ways_out(protected, 1, holds=False)
    # a policy of Spark has no ledger
    assert "republish" not in ways_out(policy(Path(), ledger=None, engine="spark"), 1)
    assert f"republish: {invariant}" in ways_out(protected, 1, m=3)
    dealt = policy(Path(), columns=PROTECTED, algorithm={"name": "lgb"})
    assert "republish" not in ways_out(dealt, 1, m=3)
    assert "republish" not in ways_out(plain, 2, m=3)
    assert "republish" not in ways_out(plain, 1, m=3, several=True)
    assert "coarser classes" in ways_out(plain, 1)
    again = policy(Path(), republish={"append_only": True})
    assert "coarser classes" not in ways_out(again, 2)  # its classes are those of before
    assert "forget" in ways_out(plain, 1)
    assert "forget" not in ways_out(policy(Path(), ledger=None), 1)
    # releases of several tables are made by DuckDB alone
    assert "release the tables together (tables:)" in apart(plain)
    assert "tables:" not in apart(plain, several=True)
    server = plain.model_copy(update={"engine": "postgres"})
    assert "tables:" not in apart(server)


@pytest.mark.slow
@pytest.mark.parametrize("event", ["nobody", "leaves", "joins"])
def test_one_who_comes_or_goes_between_stable_classes(tmp_path: Path, event: str) -> None:
    """Nobody: the same classes pass. One: refused, with values that only the ledger has."""
    people = Population(seed=2, size=60)
    people.people = {
        n: (30 + 10 * (n % 3), n % 2, ("flu", "cold", "hiv")[n // 6 % 3]) for n in range(60)
    }
    people.write(tmp_path / "source.duckdb")
    given = policy(tmp_path, columns=PROTECTED)
    anonymizer.run(given, tmp_path / "source.duckdb")
    if event == "leaves":
        del people.people[7]
    elif event == "joins":
        people.people[99] = (30, 0, "ulcer")
    people.write(tmp_path / "source.duckdb")
    if event == "nobody":
        anonymizer.run(given, tmp_path / "source.duckdb")
        return
    with pytest.raises(GuaranteeError, match="tell 1 of 1 persons") as raised:
        anonymizer.run(given, tmp_path / "source.duckdb")
    assert [p.path for p in raised.value.problems] == ["privacy.k_anonymity", "columns.disease"]
    if event == "leaves":
        for one in (1, 13, 19):  # with others of the class, whose values differ
            del people.people[one]
        people.write(tmp_path / "source.duckdb")
        anonymizer.run(given, tmp_path / "source.duckdb")


@pytest.mark.parametrize(("again", "refused"), [(3, False), (2, False), (1, True)])
def test_half_of_the_last_persons_have_to_be_recognized(again: int, refused: bool) -> None:
    recognized = Recognition("id", "INTEGER")
    with ledger() as engine:
        engine.raw(f"create table {ident(NEW_MEMBERS)} (person uhugeint)", "test")
        insert(engine, MEMBERS, (f"1, {p}, 1, null, null, [], 0, 0" for p in range(4)))
        insert(engine, NEW_MEMBERS, (f"{4 - again + p}" for p in range(4)))
        found = list(strangers(recognized, engine, "v", [replace(entry(1), persons=4)]))
    assert [str(problem.path) for problem in found] == ["ledger"] * refused


def joined(new: Iterable[str], old: Iterable[str], *, named: bool, k: int = 2) -> Any:
    """What a join of a new release with release 1 discloses: values, those narrowed, the fewest."""
    with ledger() as engine:
        columns = "person uhugeint, class_id bigint, marks uhugeint[]"
        engine.raw(f"create table {ident(NEW_MEMBERS)} ({columns})", "test")
        insert(engine, NEW_MEMBERS, new)
        insert(engine, MEMBERS, old)
        tables = {"members": NEW_MEMBERS, "old_members": MEMBERS, "here": 1, "there": 1}
        asked = {**tables, "release": 1, "named": named, "k": k}
        return engine.execute(render("ledger/joined", asked), "test")[0]


@pytest.mark.parametrize("named", [False, True])
def test_a_join_reads_the_rows_of_its_release_alone(named: bool) -> None:
    """A third release is compared by itself, whatever values it has in common with both."""
    new = (f"{p}, 1, [{p}]" for p in range(4))
    first = (f"1, {p}, 1, null, null, [{p}], 0, 0" for p in range(4))
    second = (f"2, {p}, 2, null, null, [{p}], 0, 0" for p in (0, 9))
    assert joined(new, (*first, *second), named=named) == (4, 0, 4)


def test_a_value_may_be_rare_in_the_earlier_release_only() -> None:
    """However many have it in a third one."""
    new = (f"{p}, 1, [5]" for p in range(4))
    others = (f"2, {p}, 2, null, null, [5], 0, 0" for p in range(4))
    assert joined(new, ("1, 0, 1, null, null, [5], 0, 0", *others), named=False) == (1, 0, 1)


@pytest.mark.parametrize(("k", "narrowed"), [(2, 0), (3, 2)])
def test_a_join_may_leave_k_candidates(k: int, narrowed: int) -> None:
    """Two persons are in the same class of both releases, each with others who are not."""
    new = (f"{p}, 1, [{p}]" for p in (0, 1, 2))
    old = (f"1, {p}, 1, null, null, [{p}], 0, 0" for p in (0, 1, 9))
    assert joined(new, old, named=True, k=k) == (2, narrowed, 2)
