"""Tables of counts in which a person may be in several groups of a column."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anonymizer.errors import PolicyError, SourceError
from anonymizer.independent.judge import judge
from anonymizer.policy.aggregate import ALL
from tests.aggregate.releases import cells, copied, failed, policy, published
from tests.selection import rounds

COLUMNS = "place varchar, sex varchar, illness varchar, who integer"
BY: dict[str, Any] = {"place": None, "sex": None, "illness": {"multiple": True}}
Place = tuple[str, ...]
MARGINS: tuple[Any, ...] = (
    "all",
    [["place", "sex", "illness"], ["illness"], ["place", "illness"]],
    [["place", "sex", "illness"], ["place", "sex"], ["place"]],
)
"""With and without totals over illnesses."""
MOST = 5_000
"""Persons of a group, in the tables that are tried."""


def ill(seed: int) -> list[tuple[str, str, str, int]]:
    """Persons with one to three illnesses, some of them rare and some that nearly everybody has."""
    r = random.Random(seed)
    found = []
    weights = [r.choice([40, 30, 20, 8, 4, 2]) for _ in range(5)]
    for person in range(r.choice([60, 120, 200])):
        place, sex = r.choice("xyz"), r.choice("fm")
        for one in sorted({*r.choices("PQRST", weights, k=r.randint(1, 3))}):
            found.append((place, sex, one, person))
    return found


def true_counts(rows: Iterable[tuple[str, str, str, int]]) -> dict[Place, int]:
    """The persons of every cell, each once."""
    persons: dict[Place, set[int]] = {}
    for *labels, person in rows:
        for place in product(*((label, ALL) for label in labels)):
            persons.setdefault(place, set()).add(person)
    return {place: len(some) for place, some in persons.items()}


def attacked(found: Mapping[Place, int | None], goal: Mapping[Place, int]) -> float:
    """The largest value of a sum of cells, in whole numbers, in all tables that agree."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    finest = [place for place in found if ALL not in place[:2]]
    number = {place: i for i, place in enumerate(finest)}

    def over(place: Place) -> Any:
        row = np.zeros(len(finest))
        for one in finest:
            row[number[one]] = one[2] == place[2] and all(
                a in (ALL, b) for a, b in zip(place[:2], one[:2], strict=True)
            )
        return row

    rules, low, high = [], [], []
    for place, count in found.items():
        rules.append(over(place))
        low.append(1 if count is None else count)
        high.append(np.inf if count is None else count)
    for place in finest:
        if place[2] == ALL:
            groups = [one for one in finest if one[:2] == place[:2] and one[2] != ALL]
            for one in groups:  # nobody is in a group and not in the total
                rules.append(over(place) - over(one))
                low.append(0)
                high.append(np.inf)
            rules.append(np.add.reduce([over(one) for one in groups]) - over(place))
            low.append(0)
            high.append(np.inf)
    wanted = np.add.reduce([sign * over(place) for place, sign in goal.items()])
    solved = milp(
        -wanted,
        constraints=LinearConstraint(np.array(rules), low, high),
        integrality=np.ones(len(finest)),
        bounds=Bounds(1, MOST),  # unbounded columns may be solved wrongly
    )
    return float("inf") if solved.status in (3, 4) else float(-solved.fun)


@rounds(3, 30, 200)
def test_no_group_and_nobody_outside_a_group_is_shown_to_be_small(
    tmp_path: Path, rounds: int
) -> None:
    """By a program of its own, which reads the release alone."""
    hidden = small_others = 0
    for seed in range(rounds):
        rows = ill(seed)
        parts = {"aggregate": {"margins": MARGINS[seed % len(MARGINS)]}}
        release = published(tmp_path, rows, COLUMNS, BY, person="who", method="suppress", **parts)
        assert release.verification.passed
        assert judge(tmp_path / "release.duckdb").passed
        found, true = cells(release), true_counts(rows)
        assert found.keys() <= true.keys()
        assert all(count in (None, true[place]) for place, count in found.items())
        for place, count in true.items():
            if ALL in place[:2] or place[2] == ALL:
                continue
            total = (*place[:2], ALL)
            if count < 5:
                hidden += 1
                assert attacked(found, {place: 1}) >= 5, (seed, place)
            if total in found and 0 < true[total] - count < 5:
                small_others += 1
                assert attacked(found, {total: 1, place: -1}) >= 5, (seed, place)
    assert hidden > rounds
    assert small_others > 0


def test_a_person_in_two_groups_counts_once_in_their_total(tmp_path: Path) -> None:
    rows = [("x", "f", one, person) for person in range(8) for one in "PQ"]
    release = published(tmp_path, rows, COLUMNS, BY, person="who", method="suppress")
    found = cells(release)
    said = release.manifest.data["certificate"]
    assert "A person may be in several groups of illness" in said
    assert found["x", "f", "P"] == found["x", "f", "Q"] == found["x", "f", ALL] == 8
    assert None not in found.values()


def test_two_who_lack_what_all_others_have_are_hidden(tmp_path: Path) -> None:
    """20 of 22 have P, and everybody has Q: 22 - 20 would show that two do not have P."""
    rows = [("x", "f", "Q", person) for person in range(22)]
    rows += [("x", "f", "P", person) for person in range(20)]
    rows += [("x", "m", one, person) for person in range(30, 60) for one in "PQ"]
    release = published(tmp_path, rows, COLUMNS, BY, person="who", method="suppress")
    found = cells(release)
    assert None in (found["x", "f", "P"], found["x", "f", ALL])
    con = copied(release)
    for place in (place for place, count in found.items() if count is None):
        count = true_counts(rows)[place]
        where = " and ".join(
            f"{name} = '{label}'"
            for name, label in zip(("place", "sex", "illness"), place, strict=True)
        )
        con.execute("create or replace table kept as from t")
        con.execute(f"update t set patients = {count}, status = 'shown' where {where}")
        con.execute("create or replace table kept_w as from w")
        con.execute(f"delete from w where {where}")
        assert failed(release, con), place
        con.execute("create or replace table t as from kept")
        con.execute("create or replace table w as from kept_w")
    assert not failed(release, con)


def test_a_witness_cannot_have_more_in_a_group_than_in_total(tmp_path: Path) -> None:
    rows = ill(1)
    release = published(tmp_path, rows, COLUMNS, BY, person="who", method="suppress")
    con = copied(release)
    assert not failed(release, con)
    con.execute("update w set patients = patients + 1000 where illness <> '(all)' and witness = 1")
    assert "witness_agrees" in failed(release, con)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"method": "rest"}, "is not available with rest"),
        ({"person": None}, "is about persons, and none is named"),
        ({"by": {"place": {"multiple": True}, "illness": {"multiple": True}}}, "is a second such"),
        ({"by": {"illness": {"multiple": True, "bands": [[0, 5, 10], [0, 10]]}}}, "has one level"),
        (
            {"aggregate": {"measures": {"n": {"count": "persons"}, "rows": {"count": "rows"}}}},
            "where groups share persons",
        ),
        (
            {"aggregate": {"margins": [["place", "sex", "illness"], ["place"]]}},
            "has totals over illness, and lacks those of all other columns",
        ),
        ({"ledger": "ledger.duckdb"}, "does not compare tables in which groups share"),
    ],
)
def test_what_does_not_go_with_it(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"person": "who", "method": "suppress", "by": BY, **changes}
    if given["person"] is None:
        del given["person"]
    with pytest.raises(PolicyError, match=said):
        policy(tmp_path, given.pop("by"), **given)


def test_the_other_columns_have_one_group_for_everybody(tmp_path: Path) -> None:
    rows = [*ill(2), ("x", "f", "P", 1), ("y", "f", "Q", 1)]
    with pytest.raises(SourceError, match="in several groups"):
        published(tmp_path, rows, COLUMNS, BY, person="who", method="suppress")


def test_rows_without_a_value_are_a_group(tmp_path: Path) -> None:
    rows: list[Any] = [("x", "f", None, person) for person in range(9)]
    rows += [("x", "f", "P", person) for person in range(4, 12)]
    release = published(tmp_path, rows, COLUMNS, BY, person="who", method="suppress")
    found = cells(release)
    assert found["x", "f", "(null)"] == 9
    assert len(found) == 12
