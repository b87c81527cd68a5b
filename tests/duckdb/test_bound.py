"""The bound of the loss is never above the least loss there is, nor above that of a release."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.algorithms import mondrian
from anonymizer.algorithms.core import lower_bound
from anonymizer.engines.base import Limits
from anonymizer.measure.loss import least_sentence
from tests.oracle.attributes import Attribute, categorical, numeric
from tests.oracle.least import least_loss, partitions
from tests.runs import policy, run, source
from tests.selection import rounds, some

pytestmark = pytest.mark.usefixtures("fine_figures")

TREE = {
    "ape": ("mammal", "*"),
    "bat": ("mammal", "*"),
    "cow": ("mammal", "*"),
    "eel": ("fish", "*"),
    "carp": ("fish", "*"),
    "worm": ("worms", "*"),
}
TYPES = {"age": "INTEGER", "code": "VARCHAR", "kind": "VARCHAR", "day": "DATE", "big": "DOUBLE"}
Rows = list[tuple[Any, ...]]


def drawn(draw: random.Random, names: list[str], rows: int) -> Rows:
    """Rows of these columns, of whose cells some are NULL."""
    share = draw.choice([0, 0, 0.2])

    def cell(name: str) -> Any:
        if draw.random() < share:
            return None
        match name:
            case "age":
                return draw.choice([1, 2, 3, 5, 8, 13, 40])
            case "code":
                return draw.choice("abcde")
            case "kind":
                return draw.choice(list(TREE))
            case "day":
                return f"2020-0{draw.randint(1, 9)}-0{draw.randint(1, 9)}"
            case _:
                return draw.choice([0.1, 0.7, 1e6, -3.5])

    return [tuple(cell(name) for name in names) for _ in range(rows)]


def given(folder: Path, names: list[str], k: int, **more: Any) -> anonymizer.Policy:
    tree = folder / "tree.csv"
    tree.write_text("".join(f"{leaf};{';'.join(path)}\n" for leaf, path in TREE.items()))
    columns: dict[str, Any] = dict.fromkeys(names, "quasi")
    if "kind" in columns:
        columns["kind"] = {"role": "quasi", "hierarchy": {"file": str(tree)}}
    return policy(folder, columns, k=k, **more)


def as_oracle(name: str, values: list[Any]) -> tuple[Attribute, list[Any]]:
    if name == "kind":
        return categorical(values, list(TREE), TREE)
    if name == "code":
        return categorical(values, sorted({v for v in values if v is not None}))
    if name == "day":
        values = [None if v is None else 100 * int(v[5:7]) + int(v[8:]) for v in values]
        # months of the year 2020, as days
        days = [0, 31, 60, 91, 121, 152, 182, 213, 244]
        values = [None if v is None else days[v // 100 - 1] + v % 100 for v in values]
    return numeric(values), values


def released(folder: Path, names: list[str], rows: Rows, k: int, **more: Any) -> Mapping[str, Any]:
    database = source(folder, {name: TYPES[name] for name in names}, rows)
    return run(given(folder, names, k, **more), database).measures


def least(names: list[str], rows: Rows, k: int) -> Fraction:
    found = [as_oracle(name, [row[j] for row in rows]) for j, name in enumerate(names)]
    return least_loss([column for _, column in found], [a for a, _ in found], k)


@rounds(4, 8, 300)
def test_no_grouping_loses_less(tmp_path: Path, rounds: int) -> None:
    draw = random.Random(7)
    tight = Fraction()
    for turn in range(rounds):
        names = draw.sample(list(TYPES), draw.choice([2, 3]))
        k = draw.choice([2, 3])
        rows = drawn(draw, names, draw.randint(5, 8))
        algorithm = {"name": ("mondrian", "lgb")[turn % 2]}
        told = released(tmp_path, names, rows, k, algorithm=algorithm)
        best = least(names, rows, k)
        assert told["ncp_bound"] <= float(best) + 1e-12, (names, k, rows)
        assert float(best) <= told["ncp"] + 1e-9
        assert told["ncp_bound_sample"] == 0
        tight += Fraction(told["ncp_bound"]) / best if best else 1
    # most of what is lost by the best grouping is proven
    assert tight / rounds > Fraction(1, 2), float(tight / rounds)


def test_the_search_finds_all_partitions() -> None:
    # with classes of one row and more these are the Bell numbers
    assert [len(list(partitions(range(n), 1))) for n in range(1, 7)] == [1, 2, 5, 15, 52, 203]
    assert len(list(partitions(range(6), 3))) == 11


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"algorithm": {"name": "mondrian", "split": "median", "strict": False}},
        {"algorithm": {"name": "mondrian", "refine": "full"}},
        {"publish": {"cells": "typed"}},
        {"algorithm": {"name": "lgb"}},
        {"algorithm": {"name": "lgb", "generalization": "ncp"}},
        {"algorithm": {"name": "lgb", "generalization": "loss"}, "publish": {"cells": "typed"}},
    ],
)
def test_never_above_the_loss_of_a_release(tmp_path: Path, more: dict[str, Any]) -> None:
    draw = random.Random(3)
    for rows, k in ((40, 2), (1500, 7)):
        told = released(tmp_path, list(TYPES), drawn(draw, list(TYPES), rows), k, **more)
        assert 0 < told["ncp_bound"] <= told["ncp"]


@pytest.mark.slow
def test_a_sample_claims_no_more_than_all_tuples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(7)  # no NULLs
    names = ["age", "code", "kind", "day"]
    rows = drawn(draw, names, 1200)
    monkeypatch.setattr(lower_bound, "EXACT", 5000)
    exact = released(tmp_path, names, rows, 4)
    assert exact["ncp_bound_sample"] == 0
    monkeypatch.setattr(lower_bound, "EXACT", 100)
    for drawn_tuples in (50, 200):
        effort = lower_bound.Effort(pairs=0, fewest=drawn_tuples, most=drawn_tuples)
        monkeypatch.setattr(mondrian, "USUAL", effort)
        told = released(tmp_path, names, rows, 4)
        assert told["ncp_bound_sample"] == drawn_tuples
        assert 0.5 * exact["ncp_bound"] < told["ncp_bound"] <= exact["ncp_bound"]


@pytest.mark.slow
def test_nothing_is_lost_by_a_look_at_some_tuples_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far the nearest are at most is told by a part of them, whatever the part."""
    rows = drawn(random.Random(4), list(TYPES), 400)
    told = set()
    for most in (1, 3, 16):
        monkeypatch.setattr(lower_bound, "MOST_SAMPLED", most)
        monkeypatch.setattr(lower_bound, "FEWEST_SAMPLED", Fraction(1, 8))
        found = released(tmp_path, list(TYPES), rows, 5)
        assert 0 < found["ncp_bound"] < found["ncp"]
        told.add((found["ncp_bound"], found["ncp_bound_sample"]))
    assert len(told) == 1


def test_classes_of_equal_rows_lose_nothing(tmp_path: Path) -> None:
    told = released(tmp_path, ["age", "code"], [(1, "a")] * 3 + [(2, "b")] * 4, 3)
    assert told["ncp"] == told["ncp_bound"] == 0


@pytest.mark.slow
def test_the_bound_is_the_same_on_one_thread_and_two(tmp_path: Path) -> None:
    rows = drawn(random.Random(2), list(TYPES), 3000)
    database = source(tmp_path, TYPES, rows)
    told = []
    for threads in (1, 2):
        limits = Limits(threads=threads)
        release = run(given(tmp_path, list(TYPES), 5), database, limits=limits)
        told.append((release.measures["ncp_bound"], release.measures["ncp_bound_sample"]))
    assert told[0] == told[1]


def test_the_bound_tells_nothing_of_rows_left_out(tmp_path: Path) -> None:
    rows = drawn(random.Random(7), ["age", "code"], 60)
    columns = {name: {"role": "quasi", "nulls": "suppress"} for name in ("age", "code")}
    told = []
    for hidden in ((None, "zz"), (10**6, None)):
        database = source(
            tmp_path, {name: TYPES[name] for name in columns}, [*rows, hidden, hidden]
        )
        asked = policy(tmp_path, columns, k=3, suppression_limit=0.1)
        told.append(run(asked, database).measures)
    assert told[0]["suppressed"] == told[1]["suppressed"] == 2
    assert told[0]["ncp_bound"] == told[1]["ncp_bound"] > 0


def test_the_loss_is_said_in_multiples_of_the_bound() -> None:
    exact = {"ncp": 0.0211, "ncp_bound": 0.01, "ncp_bound_sample": 0}
    said = "at most 2.2 times the smallest that classes of at least k rows could have"
    assert least_sentence(exact) == f"{said} (lower bound 0.01)"
    sampled = least_sentence({**exact, "ncp_bound_sample": 60})
    drawn = "the bound is estimated from a sample, less three standard errors"
    assert sampled == f"{said} (lower bound 0.01); {drawn}"
    assert least_sentence({"ncp": 0.2}) == least_sentence({"ncp": 0, "ncp_bound": 0}) == ""


def test_the_certificate_tells_how_far_from_the_least(tmp_path: Path) -> None:
    names = ["age", "code"]
    database = source(tmp_path, {n: TYPES[n] for n in names}, drawn(random.Random(1), names, 40))
    release = run(given(tmp_path, names, 2), database)
    said = release.manifest.data["certificate"]
    assert f" is {least_sentence(release.measures)}." in said
    assert "at most" in said
    assert anonymizer.verify(given(tmp_path, names, 2), tmp_path / "release.duckdb").passed


@pytest.mark.parametrize("odd", [None, "0.01", [], -1, 0])
def test_a_bound_that_is_none_is_not_told(odd: Any) -> None:
    assert least_sentence({"ncp": 0.2, "ncp_bound": odd}) == ""
    assert least_sentence({"ncp": "0.2", "ncp_bound": 0.1}) == ""


ODD: dict[str, tuple[str, str, dict[str, Any]]] = {
    "many": ("VARCHAR", "case when i % 7 > 0 then 'v' || (i * 7919 % 400) end", {}),
    "moment": ("TIMESTAMP", "timestamp '2020-01-01' + to_seconds(i * 104729 % 99991)", {}),
    "zip": ("VARCHAR", "lpad('' || (i * 31 % 1000), 5, '0')", {"hierarchy": {"builder": "prefix"}}),
    "pay": ("DECIMAL(9, 2)", "(i * 37 % 1000) / 7", {"top_code": 80}),
    "half": ("DOUBLE", "case when i % 2 = 0 then (i * 13 % 17) / 3 end", {"round": 0.5}),
    "one": ("INTEGER", "1", {}),
}


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("names", [list(ODD), ["many", "zip"], ["moment", "pay", "one"]])
def test_columns_of_every_kind(tmp_path: Path, names: list[str]) -> None:
    path = tmp_path / "odd.duckdb"
    with duckdb.connect(str(path)) as connection:
        cells = ", ".join(f"cast({ODD[n][1]} as {ODD[n][0]}) as {n}" for n in names)
        connection.execute(f"create table people as select {cells} from range(900) r(i)")
    columns = {name: {"role": "quasi", **ODD[name][2]} for name in names}
    for k in (2, 6):
        told = run(policy(tmp_path, columns, k=k), path).measures
        assert 0 <= told["ncp_bound"] <= told["ncp"]
