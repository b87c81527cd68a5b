"""The last pass over finished classes does what the naive one does, and never costs a guarantee."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.algorithms.encode import CODED, UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.partition.refine import NEIGHBOURS
from anonymizer.compile import ident
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.errors import PolicyError
from anonymizer.process.seed import Seed
from anonymizer.run.prepare import prepare
from tests.duckdb.partitions import attribute
from tests.oracle.refine import refined
from tests.runs import THRIFTY, policy, published, run, source
from tests.selection import few

TREE = {
    "ape": ("mammal", "*"),
    "bat": ("mammal", "*"),
    "cow": ("mammal", "*"),
    "eel": ("fish", "*"),
    "carp": ("fish", "*"),
}
TYPES = {"id": "INTEGER", "age": "INTEGER", "code": "VARCHAR", "kind": "VARCHAR"}


def table(draw: random.Random, rows: int) -> list[tuple[Any, ...]]:
    """Ages and codes, of which a tenth is NULL, and kinds with a tree."""

    def some(value: Any) -> Any:
        return None if draw.random() < 0.1 else value

    return [
        (
            some(draw.choice([1, 2, 3, 5, 8, 13, 40])),
            some(draw.choice("abcde")),
            # every leaf occurs: the oracle knows no others
            list(TREE)[i] if i < len(TREE) else draw.choice(list(TREE)),
        )
        for i in range(rows)
    ]


def given(folder: Path, rounds: int, **more: Any) -> anonymizer.Policy:
    tree = folder / "tree.csv"
    tree.write_text("".join(f"{leaf};{';'.join(path)}\n" for leaf, path in TREE.items()))
    columns: dict[str, Any] = {
        "id": {"role": "keep", "acknowledge_unique": True},
        "age": "quasi",
        "code": "quasi",
        "kind": {"role": "quasi", "hierarchy": {"file": str(tree)}},
    }
    columns |= more.pop("columns", {})
    algorithm = {"name": "mondrian", "refine": rounds}
    return policy(folder, columns, k=more.pop("k", 3), algorithm=algorithm, **more)


def classes(wanted: anonymizer.Policy, database: Path) -> dict[int, dict[int, set[int]]]:
    """Class number to unit to the kept numbers of its rows."""
    with open_session(wanted, database, limits=THRIFTY) as session:
        session.engine.binds = {"secret": Seed.test(1).secret}
        executor = Executor(session.engine)
        prepared = prepare(wanted, session, executor)
        executor.run(prepared.compiled.stages)
        kept = next(k.k for k in prepared.roles.kept if k.column == "id")
        assembly: Any = prepared.compiled.assembly
        keys = " and ".join(f"u.{key} = r.{key}" for key in assembly.keys)
        rows = session.engine.raw(
            f"select m.class_id, u.unit, r.{kept} from {ident(CODED)} r join {ident(UNITS)} u"
            f" on {keys} join {ident(MEMBERS)} m on m.unit = u.unit",
            "test",
        )
    found: dict[int, dict[int, set[int]]] = {}
    for class_id, unit, number in rows:
        found.setdefault(class_id, {}).setdefault(unit, set()).add(number)
    return found


@pytest.mark.parametrize("seed", few(range(12), 5))
def test_rounds_are_those_of_the_oracle(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    rows = table(draw, draw.choice([20, 60, 120]))
    rounds = draw.choice([1, 2, 3])
    database = source(tmp_path, TYPES, [(i, *row) for i, row in enumerate(rows)])
    before = classes(given(tmp_path, 0), database)
    after = classes(given(tmp_path, rounds), database)
    columns = [attribute([row[j] for row in rows], {2: TREE}.get(j)) for j in range(3)]
    members = {unit: ids for units in before.values() for unit, ids in units.items()}
    wanted = refined(
        {number: set(units) for number, units in before.items()},
        {unit: [column[min(ids)] for _, column in columns] for unit, ids in members.items()},
        {unit: len(ids) for unit, ids in members.items()},
        [found for found, _ in columns],
        3,
        rounds,
        NEIGHBOURS,
    )
    assert {number: set(units) for number, units in after.items()} == wanted


def test_some_units_move(tmp_path: Path) -> None:
    rows = table(random.Random(0), 120)
    database = source(tmp_path, TYPES, [(i, *row) for i, row in enumerate(rows)])
    assert classes(given(tmp_path, 0), database) != classes(given(tmp_path, 1), database)


@pytest.mark.parametrize("more", [{}, {"person": "who"}, {"publish": {"cells": "typed"}}])
def test_release_loses_less_and_holds(tmp_path: Path, more: dict[str, Any]) -> None:
    rows = table(random.Random(7), 400)
    types = {**TYPES, "who": "INTEGER"}
    database = source(tmp_path, types, [(i, *row, i) for i, row in enumerate(rows)])
    more = {"columns": {"who": "identifier"}, **more}
    lost = []
    for rounds in (0, 1, 4):
        release = run(given(tmp_path, rounds, **more), database)
        rows_by_class = Counter(row["class_id"] for row in published(release))
        assert min(rows_by_class.values()) >= 3
        assert rows_by_class.total() == len(rows)
        lost.append(release.measures["ncp"])
    assert lost[0] > lost[1] > lost[2]


@pytest.mark.parametrize(
    "more",
    [
        {"privacy": {"ir_k": 2}, "person": "who"},
        {"columns": {"who": {"role": "sensitive", "protect": {"l_diversity": 2}}}},
    ],
)
def test_other_rules_are_refused(tmp_path: Path, more: dict[str, Any]) -> None:
    more = {"columns": {"who": "identifier"}, **more}
    with pytest.raises(PolicyError) as refused:
        given(tmp_path, 2, **more)
    assert any(problem.path == "algorithm.refine" for problem in refused.value.problems)
