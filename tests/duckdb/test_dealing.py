"""Rows dealt to classes, where a rule compares classes with the whole table."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.algorithms import mondrian
from anonymizer.algorithms.core import proportional_assignment
from anonymizer.algorithms.core.refine import SCALE
from anonymizer.engines.base import Limits
from tests.runs import driven, policy, published, run, source
from tests.selection import few, some

TYPES = {"id": "INTEGER", "age": "INTEGER", "town": "VARCHAR", "ill": "VARCHAR"}
ILLNESSES = "aaaabbbccd"


def table(draw: random.Random, rows: int) -> list[tuple[Any, ...]]:
    """Ages and towns that tell much of the illness."""
    made = []
    for i in range(rows):
        ill = draw.choice(ILLNESSES)
        town = draw.choice("nesw" if draw.random() < 0.3 else "nnes" if ill in "ab" else "wwse")
        made.append((i, 20 + "abcd".index(ill) * 8 + draw.randrange(40), town, ill))
    return made


def given(folder: Path, refine: int | str, t: Any = 0.2, **more: Any) -> anonymizer.Policy:
    columns: dict[str, Any] = {
        "id": {"role": "keep", "acknowledge_unique": True},
        "age": "quasi",
        "town": "quasi",
        "ill": {"role": "sensitive", "protect": {"t_closeness": t}},
        **more.pop("columns", {}),
    }
    algorithm = {"name": "mondrian", "refine": refine} | more.pop("algorithm", {})
    return policy(folder, columns, k=more.pop("k", 4), algorithm=algorithm, **more)


def groups(release: anonymizer.Release) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in published(release):
        found[row["class_id"]].append(row)
    return found


@pytest.mark.slow
@some(1, 2)
@pytest.mark.parametrize("seed", few(range(8), 1))
@pytest.mark.parametrize("t", [0.15, 0.3])
def test_classes_are_smaller_and_as_close(tmp_path: Path, t: float, seed: int) -> None:
    """Counted here again, without the verifier."""
    database = source(tmp_path, TYPES, table(random.Random(seed), 600))
    cuts, dealt = (run(given(tmp_path, refine, t), database) for refine in (0, "auto"))
    assert dealt.measures["ncp"] < cuts.measures["ncp"]
    whole = Counter(row["ill"] for row in published(dealt))
    assert whole.total() == 600
    for rows in groups(dealt).values():
        counts = Counter(row["ill"] for row in rows)
        surplus = sum(max(0, n * 600 - whole[v] * len(rows)) for v, n in counts.items())
        assert surplus <= t * 600 * len(rows) + 1e-9
        assert len(rows) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(range(6), 1))
def test_rows_are_dealt_alike_in_one_statement_and_in_many(tmp_path: Path, seed: int) -> None:
    database = source(tmp_path, TYPES, table(random.Random(seed), 300))
    one = published(run(given(tmp_path, "auto"), database))
    with driven():
        many = published(run(given(tmp_path, "auto"), database))
    assert sorted(map(repr, one)) == sorted(map(repr, many))


@pytest.mark.slow
def test_threads_change_nothing(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, table(random.Random(4), 500))
    one, two = (
        sorted(
            map(repr, published(run(given(tmp_path, "auto"), database, limits=Limits(threads=n))))
        )
        for n in (1, 2)
    )
    assert one == two


@pytest.mark.slow
def test_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.algorithms.mondrian.BLOCK", 150)
    database = source(tmp_path, TYPES, table(random.Random(9), 700))
    cuts, dealt = (run(given(tmp_path, refine), database).measures["ncp"] for refine in (0, "auto"))
    assert dealt < cuts


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [0, 1])
def test_rows_that_no_class_takes_form_one_with_classes_that_do(
    tmp_path: Path, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without rounds of joining, whatever is left over needs classes to make up for it."""
    monkeypatch.setattr(proportional_assignment, "ROUNDS", rounds)
    database = source(tmp_path, TYPES, table(random.Random(2), 500))
    cuts, dealt = (run(given(tmp_path, refine), database) for refine in (0, "auto"))
    assert dealt.measures["ncp"] <= cuts.measures["ncp"]
    assert sum(map(len, groups(dealt).values())) == 500


@pytest.mark.slow
@pytest.mark.parametrize(
    "protect", [{"l_diversity": 2}, {"entropy_l": 1.5}, {"t_closeness": 0.4}, {"alpha": 0.4}]
)
def test_rules_of_another_column_are_judged_too(tmp_path: Path, protect: dict[str, Any]) -> None:
    """Where they fail in what was dealt, the cuts stay; `run` verifies either."""
    columns = {"town": {"role": "sensitive", "protect": protect}}
    database = source(tmp_path, TYPES, table(random.Random(3), 400))
    cuts, dealt = (
        run(given(tmp_path, refine, columns=dict(columns)), database) for refine in (0, "auto")
    )
    assert dealt.measures["ncp"] <= cuts.measures["ncp"] + 0.001


@pytest.mark.slow
def test_a_rule_that_no_small_class_holds_leaves_the_cuts(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, table(random.Random(2), 60))
    cuts, dealt = (run(given(tmp_path, refine, 0.01), database) for refine in (0, "auto"))
    assert dealt.measures["ncp"] == cuts.measures["ncp"]


@pytest.mark.slow
def test_salaries_by_their_order(tmp_path: Path) -> None:
    """Hundreds of values under an ordered distance are dealt by parts of them."""
    draw = random.Random(5)
    rows = [(i, draw.randrange(60), draw.choice("nesw"), draw.randrange(900)) for i in range(800)]
    database = source(tmp_path, {**TYPES, "ill": "INTEGER"}, rows)
    t = {"t": 0.15, "distance": "ordered"}
    cuts, dealt = (run(given(tmp_path, refine, t), database) for refine in (0, "auto"))
    assert dealt.measures["ncp"] <= cuts.measures["ncp"]


@pytest.mark.slow
def test_adult_loses_about_half_of_what_cuts_lose(tmp_path: Path, data_folder: Path) -> None:
    quasi = "age workclass education marital_status race sex native_country income"
    dropped = "fnlwgt education_num relationship capital_gain capital_loss hours_per_week"
    columns: dict[str, Any] = {name: {"role": "quasi"} for name in quasi.split()}
    columns |= {name: {"role": "drop"} for name in dropped.split()}
    columns["occupation"] = {"role": "sensitive", "protect": {"t_closeness": 0.2}}
    told = {
        "version": 1,
        "source": {"file": str(data_folder / "adult_complete.parquet")},
        "columns": columns,
        "privacy": {"k_anonymity": 5},
        "suppression_limit": 0.0,
        "algorithm": {"name": "mondrian"},
        "publish": {"name": "release", "database": str(tmp_path / "r.duckdb")},
    }
    release = anonymizer.run(anonymizer.Policy.model_validate(told))
    assert release.measures["ncp"] < 0.24


def test_every_unit_of_the_largest_table_that_is_dealt_has_its_own_turn() -> None:
    """All rare values may lie in one block, whose turns break ties below the loss."""
    assert mondrian.DEALT <= mondrian.DEALT_IN_FULL < proportional_assignment.UNITS_AT_MOST
    # losses in units of SCALE, over a thousand attributes
    assert (
        1_000 * SCALE * proportional_assignment.UNITS_AT_MOST * proportional_assignment.SLOTS
        < 1 << 63
    )


def test_more_values_than_are_dealt_leave_the_cuts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proportional_assignment, "MOST_PARTS", 3)
    database = source(tmp_path, TYPES, table(random.Random(2), 300))
    cuts, left = (run(given(tmp_path, refine, 0.3), database) for refine in (0, "auto"))
    assert left.measures["classes"] == cuts.measures["classes"]
