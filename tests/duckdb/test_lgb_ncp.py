"""Groups that grow from seeds: no worse than Algorithm 4 to the letter, sound, deterministic."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.engines.duckdb.source import open_session
from anonymizer.errors import InfeasibleError, PolicyError
from anonymizer.process.secret import Seed
from anonymizer.review.trial import Bench
from tests.oracle.attributes import Attribute, categorical, numeric
from tests.oracle.cells import covers, domain_of, parse
from tests.oracle.ncp import LocalGeneralization
from tests.oracle.partition import partition_loss
from tests.runs import classes, policy, published, run, source
from tests.selection import some

TABLES = {
    "adult_complete": ("age", "workclass", "education", "marital_status", "race", "sex"),
    "census_income_train": ("age", "class_of_worker", "education", "marital_status", "race", "sex"),
    "acs2018_persons": ("age", "relationship", "marital_status", "race", "sex", "citizenship"),
}
SEEDS = (1, 2)


def sample(data: Path, name: str, rows: int) -> list[tuple[Any, ...]]:
    """Adults of a table, and whether they hide their age, as one of five does."""
    columns = ", ".join(TABLES[name])
    query = f"""
        select {columns}, hash(place, 'hide') % 5 = 0
        from (select *, row_number() over () as place from '{data / name}.parquet')
        where age > 16 order by hash(place), place limit {rows}
    """
    with duckdb.connect(config={"threads": 1}) as connection:
        return connection.execute(query).fetchall()


def literal(rows: list[tuple[Any, ...]], k: int, hidden: bool, seed: int) -> float:
    """Mean NCP per generalized cell of Algorithm 4; ages that are hidden are not generalized."""
    columns = list(zip(*(row[:-1] for row in rows), strict=True))
    domains: list[Attribute] = [numeric(columns[0])]
    domains += [categorical(column, sorted(set(column)))[0] for column in columns[1:]]
    draw, lost, cells = random.Random(seed), 0.0, 0
    for pattern in (False, True):
        first = 1 if pattern else 0
        part = [row[first:-1] for row in rows if (hidden and row[-1]) == pattern]
        found = LocalGeneralization(part, domains[first:], k, draw).partition()
        lost += float(partition_loss(part, domains[first:], found))
        cells += len(part) * len(domains[first:])
    return lost / cells


@some(0, 3)
@pytest.mark.slow
@pytest.mark.parametrize("hidden", [False, True], ids=["all ages", "hidden ages"])
@pytest.mark.parametrize("k", [5, 10])
@pytest.mark.parametrize("name", TABLES)
def test_loses_no_more_than_the_literal_algorithm(
    tmp_path: Path, data_folder: Path, name: str, k: int, hidden: bool
) -> None:
    rows = sample(data_folder, name, 1_500)
    types = dict.fromkeys(TABLES[name], "VARCHAR") | {"age": "INTEGER", "hide": "BOOLEAN"}
    columns: dict[str, Any] = dict.fromkeys(TABLES[name], "quasi") | {"hide": "drop"}
    if hidden:
        rule = {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
        columns["age"] = {"role": "quasi", **rule}
    database = source(tmp_path, types, rows)
    given = policy(tmp_path, columns, k=k, algorithm={"name": "lgb", "generalization": "ncp"})
    for seed in SEEDS:
        found = run(given, database, seed=seed).measures["ncp"]
        assert found <= literal(rows, k, hidden, seed), seed


TREE = {
    "ape": ("mammal", "*"),
    "bat": ("mammal", "*"),
    "eel": ("fish", "*"),
    "carp": ("fish", "*"),
}
TYPES = {
    "id": "INTEGER",
    "age": "INTEGER",
    "code": "VARCHAR",
    "kind": "VARCHAR",
    "hide": "BOOLEAN",
}


def tiny(draw: random.Random, rows: int) -> list[tuple[Any, ...]]:
    """Ages and codes with NULL, kinds with a tree, and a flag on the age."""

    def some(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    return [
        (
            i,
            some(draw.choice([1, 2, 3, 5, 8, 13, 99])),
            some(draw.choice("abcde")),
            draw.choice(list(TREE)) if i >= len(TREE) else list(TREE)[i],
            draw.random() < 0.3,
        )
        for i in range(rows)
    ]


def columns_of(folder: Path, *, hidden: bool) -> dict[str, Any]:
    tree = folder / "tree.csv"
    tree.write_text("".join(f"{leaf};{';'.join(path)}\n" for leaf, path in TREE.items()))
    rule = {"sensitive_when": "hide", "protect": {"l_diversity": 2}} if hidden else {}
    return {
        "id": {"role": "keep", "acknowledge_unique": True},
        "age": {"role": "quasi", **rule},
        "code": "quasi",
        "kind": {"role": "quasi", "hierarchy": {"file": str(tree)}},
        "hide": "drop",
    }


@some(1)
@pytest.mark.parametrize("seed", range(6))
def test_classes_are_large_enough_and_their_boxes_right(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    k, rebalance = draw.choice([2, 3, 5]), seed % 2 == 0
    rows = tiny(draw, draw.choice([30, 40, 90]))
    domains = {
        "age": domain_of([row[1] for row in rows], "numeric"),
        "code": domain_of([row[2] for row in rows], "categorical"),
        "kind": domain_of(list(TREE), "categorical", TREE),
    }
    database = source(tmp_path, TYPES, rows)
    how = {"name": "lgb", "generalization": "ncp", "rebalance": rebalance}
    given = policy(tmp_path, columns_of(tmp_path, hidden=seed % 3 > 0), k=k, algorithm=how)
    found = published(run(given, database, seed=seed))
    assert sorted(row["id"] for row in found) == list(range(len(rows)))
    members: dict[int, list[Any]] = defaultdict(list)
    for row in found:
        members[row["class_id"]].append(row)
    for group in members.values():
        assert len(group) >= k
        assert len({row.get("age_bucket") is None for row in group}) == 1
        generalized = ["code", "kind"]
        if group[0].get("age_bucket") is None:
            generalized.append("age")
        for column in generalized:
            cell = {row[column] for row in group}
            assert len(cell) == 1
            at = list(TYPES).index(column)
            values = [rows[row["id"]][at] for row in group]
            domain = domains[column]
            for value in values:
                assert covers(parse(group[0][column], domain.kind), value, domain)
            if len(set(values)) == 1 and values[0] is not None:
                assert group[0][column] == str(values[0])


def aged(folder: Path, *ages: int) -> Path:
    rows = list(enumerate(ages))
    return source(folder, {"id": "INTEGER", "age": "INTEGER"}, rows)


ID_AND_AGE = {"id": {"role": "keep", "acknowledge_unique": True}, "age": "quasi"}


@some(1)
@pytest.mark.parametrize(
    ("ages", "without", "with_it"),
    [
        # one far value is no seed, so it freezes nothing
        ((0, 1, 2, 3, 100), {(0, 1, 2), (3, 4)}, {(0, 1, 2), (3, 4)}),
        # no pair of seeds splits off two rows: the class stays whole, or the cut moves
        ((0, 60, 70, 100), {(0, 1, 2, 3)}, {(0, 1), (2, 3)}),
        # equal values stay together
        ((7, 7, 7, 9), {(0, 1, 2, 3)}, {(0, 1, 2, 3)}),
        # fewer than 2k rows
        ((1, 2, 9), {(0, 1, 2)}, {(0, 1, 2)}),
    ],
)
def test_stop_rule_and_rebalance(
    tmp_path: Path, ages: tuple[int, ...], without: Any, with_it: Any
) -> None:
    database = aged(tmp_path, *ages)
    for rebalance, wanted in ((False, without), (True, with_it)):
        how = {"name": "lgb", "generalization": "ncp", "rebalance": rebalance}
        found = published(run(policy(tmp_path, ID_AND_AGE, algorithm=how), database))
        assert {tuple(sorted(group)) for group in classes(found)} == wanted, rebalance


class InOrder(LocalGeneralization):
    """The literal algorithm with given draws: rows are numbered in their order."""

    def find_seeds(self, rows: list[int]) -> tuple[int, int] | None:
        return super().find_seeds(sorted(rows))

    def divide(self, rows: list[int], u: int, v: int) -> tuple[list[int], list[int]]:
        return super().divide(sorted(rows), u, v)


class Drawn(random.Random):
    """The first of what is in order, and the order itself."""

    def choice(self, seq: Any) -> Any:
        return seq[0]

    def shuffle(self, x: Any) -> None:
        del x


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_to_the_letter_it_is_the_algorithm_of_the_paper(tmp_path: Path, seed: int) -> None:
    """The same classes as the oracle, given the run's draws; every tuple is another one."""
    draw = random.Random(seed)
    rows = [(i * 7 % 211, draw.choice("abcdefgh"), draw.randrange(90)) for i in range(150)]
    names = ("age", "town", "wage")
    database = source(
        tmp_path, dict(zip(names, ("INTEGER", "VARCHAR", "INTEGER"), strict=True)), rows
    )
    letter = {"name": "lgb", "generalization": {"ncp": "literal"}}
    given = policy(tmp_path, dict.fromkeys(names, "quasi"), k=4, algorithm=letter)
    with open_session(given, database) as session:
        bench = Bench(session, Seed.test(seed))
        assert bench.figures(given).holds
        found = session.engine.raw(
            "select m.class_id, u.c1, u.c2, u.c3 from anon_scratch.main.units u"
            " join anon_scratch.main.members m using (unit) order by draw, unit",
            "test",
        )
        values: list[dict[int, Any]] = [
            dict(
                session.engine.raw(f"select code, value from anon_scratch.main.domain_{i}", "test")
            )
            for i in (1, 2, 3)
        ]
    table = [tuple(v[c] for v, c in zip(values, codes, strict=True)) for _, *codes in found]
    columns = list(zip(*table, strict=True))
    domains = [
        numeric(columns[0]),
        categorical(columns[1], sorted(set(columns[1])))[0],
        numeric(columns[2]),
    ]
    expected = InOrder(table, domains, 4, Drawn()).partition()
    members: defaultdict[int, set[int]] = defaultdict(set)
    for row, (class_id, *_) in enumerate(found):
        members[class_id].add(row)
    assert frozenset(map(frozenset, members.values())) == expected


def test_to_the_letter_is_for_small_tables(tmp_path: Path) -> None:
    rows = [(i, i % 7) for i in range(1_001)]
    database = source(tmp_path, {"age": "INTEGER", "wage": "INTEGER"}, rows)
    letter = {"name": "lgb", "generalization": {"ncp": "literal"}}
    given = policy(tmp_path, {"age": "quasi", "wage": "quasi"}, k=4, algorithm=letter)
    with pytest.raises(InfeasibleError, match=r"algorithm\.generalization: adds tuples one by one"):
        run(given, database)
    with pytest.raises(PolicyError, match=r"does not apply to the generalization \{ncp: literal\}"):
        policy(tmp_path, {"age": "quasi"}, k=4, algorithm={**letter, "rebalance": True})
