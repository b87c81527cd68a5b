"""`geneir` against a naive climb along the same ladder, and what it refuses."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import PolicyError
from tests import danonyir_tables as tables
from tests import runs
from tests.duckdb.test_persons_algorithms import TREES, check, policy_of
from tests.selection import some

MODELS: list[dict[str, Any]] = [
    {"ir_kl": {"k": 3, "l": 3}},
    {"eir_l": 3},
    {"eir_alpha_beta": {"alpha": 0.4, "beta": 0.75}},
]


def climb(
    persons: dict[int, tuple[tuple[int, ...], ...]],
    ladder: list[int],
    holds: Any,
    least: int,
) -> list[frozenset[int]]:
    """Classes of persons, who are given by their paths; `ladder` names the column that climbs."""
    left, found = set(persons), []
    levels = [0] * len(next(iter(persons.values())))
    for column in [*ladder, None]:
        if len(left) < least:
            break
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for who in left:
            key = tuple(path[level] for path, level in zip(persons[who], levels, strict=True))
            groups[key].append(who)
        for group in groups.values():
            if holds(group):
                found.append(frozenset(group))
                left -= set(group)
        if column is not None:
            levels[column - 1] += 1
    return found


@some(1)
@pytest.mark.parametrize("privacy", MODELS, ids="+".join)
def test_equals_a_naive_climb(tmp_path: Path, privacy: dict[str, Any]) -> None:
    draw = random.Random(repr(privacy))
    people = tables.people(draw, 50)
    rows = [row for person in people for row in person.rows()]
    database = runs.source(tmp_path, tables.TYPES, rows)
    policy = policy_of(tmp_path, "geneir", privacy, suppression_limit=1)
    with tables.executed(policy, database, 5) as (prepared, read):
        ladder = [
            int(column) for (column,) in read("select attribute from column_order order by step")
        ]
        members = read("select class_id, person from members join units using (unit)")
        persons: dict[int, tuple[tuple[int, ...], ...]] = {}
        quasi = prepared.roles.quasi
        columns = [
            [f"leaf{a.index}", *(f"node{j.number}_{a.index}" for j in a.levels)] for a in quasi
        ]
        flat = ", ".join(name for names in columns for name in names)
        for who, *nodes in read(f"select person, {flat} from units"):
            rest = iter(nodes)
            persons[int(who)] = tuple(tuple(next(rest) for _ in names) for names in columns)
    assert sorted(ladder) == sorted(a.index for a in quasi for _ in a.levels)
    by_who = {person.who: i for i, person in enumerate(people)}
    judge = tables.judge(people, privacy)
    expected = climb(persons, ladder, lambda group: judge([by_who[who] for who in group]), 3)
    classes: dict[int, set[int]] = defaultdict(set)
    for name, who in members:
        classes[name].add(int(who))
    # residual persons have joined some of the classes since
    assert len(classes) == len(expected) > 1
    for group in expected:
        assert sum(group <= found for found in classes.values()) == 1
    release = runs.run(policy, database, seed=5)
    assert release.verification.passed
    check(runs.published(release), privacy)


def test_levels_that_do_not_nest_are_refused(tmp_path: Path) -> None:
    rows = [(who, 20 + who, "fm"[who % 2], "150", f"ill {who % 4}") for who in range(30)]
    database = runs.source(tmp_path, tables.TYPES, rows)
    columns = {
        **TREES,
        "age": {
            "role": "quasi",
            "hierarchy": {"builder": "divisor", "mode": "independent", "divisors": [4, 6]},
        },
    }
    policy = runs.policy(
        tmp_path,
        columns,
        k=None,
        person="who",
        privacy={"ir_k": 3},
        algorithm={"name": "geneir"},
    )
    with pytest.raises(PolicyError, match="has levels that do not nest"):
        runs.run(policy, database)
