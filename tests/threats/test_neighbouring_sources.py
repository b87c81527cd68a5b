"""What is told beside the rows by two sources of which the same rows are published.

The attacker knows everybody but one, the policy and the seed, and runs the tool with every value
that the hidden cell may have: whatever gives the published rows has to give the same manifest.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.contract.rounding import DIGITS, coarse_mean, finest, of_population, of_search
from anonymizer.review.report import rendered
from anonymizer.review.report.content import collect
from tests.runs import THRIFTY, fill
from tests.runs import policy as make_policy
from tests.selection import some
from tests.threats.neighbours import (
    ALGORITHMS,
    APART,
    TIMES,
    Told,
    differences,
    draw_case,
    neighbours,
    told_of,
)

TYPES = {"id": "INTEGER", "age": "INTEGER", "zip": "VARCHAR", "job": "VARCHAR", "ill": "VARCHAR"}
AGES = range(20, 60)
ZIPS = ("2110", "2111", "2120", "2131", "310", "3112")
JOBS = ("cook", "nurse", "clerk", "spy", "boss")
PREFIX = {"role": "quasi", "hierarchy": {"builder": "prefix"}}


def people(seed: int, n: int) -> list[list[Any]]:
    draw = random.Random(seed)
    return [
        [i, draw.choice(AGES), draw.choice(ZIPS), draw.choice(JOBS), draw.choice(("flu", "cold"))]
        for i in range(n)
    ]


def told(policy: Policy, rows: list[list[Any]]) -> tuple[list[Any], dict[str, Any]]:
    """The published rows, and the manifest without run id, times and its own digest."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        fill(connection, TYPES, rows)
        release = anonymizer.run(policy, connection, seed=7, limits=THRIFTY)
        published = sorted(connection.execute("from people_anonymous").fetchall(), key=str)
    text = json.dumps(release.manifest.data, default=str).replace(release.run_id, "-")
    data = {name: value for name, value in json.loads(text).items() if name not in APART}
    del data["seal"]["digest"]
    for name in TIMES:
        del data["measures"][name]
    return published, data


PARTS = 12


@some(0, 1)
@pytest.mark.parametrize("part", range(PARTS))
def test_equal_rows_come_with_equal_figures(tmp_path: Path, part: int) -> None:
    """For every algorithm; figures in steps may differ by one, as the documentation says."""
    alike = 0
    for number in range(part * len(ALGORITHMS), (part + 1) * len(ALGORITHMS)):
        case = draw_case(number, tmp_path)
        first: dict[str, Told] = {}
        for rows in (case.rows, *neighbours(case, 3)):
            found = told_of(case, rows)
            if found is None:
                continue
            alike += found.rows in first
            other = first.setdefault(found.rows, found)
            for path, one, another in differences(other.figures, found.figures):
                near = case.within_a_step(path, one, another, found.figures)
                assert near, (path, one, another, case.words, rows)
    assert alike >= len(ALGORITHMS) / 2


@pytest.mark.parametrize(
    ("algorithm", "columns"),
    [
        ("danonyir", {"age": "quasi", "zip": PREFIX, "job": "quasi"}),
        (
            "geneir",
            {
                "age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}},
                "zip": PREFIX,
                "job": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
            },
        ),
    ],
)
def test_how_many_were_placed_last_is_not_published(
    tmp_path: Path, algorithm: str, columns: dict[str, Any]
) -> None:
    policy = make_policy(
        tmp_path,
        {"id": "drop", **columns, "ill": "sensitive"},
        k=None,
        privacy={"ir_k": 3},
        person="id",
        algorithm={"name": algorithm},
        suppression_limit=0.5,
        publish={"database": None},
    )
    _, figures = told(policy, people(1, 31))
    assert "residual_persons" not in json.dumps(figures)


def test_only_figures_of_the_search_are_told() -> None:
    noted = {"level.age": 2, "lattice_nodes": 12, "ncp_bound_sample": 0, "residual_persons": 3}
    assert of_search(noted, 40) == {"level.age": 2, "lattice_nodes": 100, "ncp_bound_sample": 0}
    for nodes, judged, told in ((1, 10, 1), (2, 10, 10), (10, 100, 10), (11, 100, 100)):
        found = of_search({"lattice_nodes": nodes, "lattice_judged": judged}, 40)
        assert found == {"lattice_nodes": told, "lattice_judged": told}


def test_no_bound_is_told_above_the_loss_of_the_release() -> None:
    """An estimate from a sample can be too high; the release is a grouping, too."""
    noted = {"ncp_bound": 0.5, "ncp_weighted_bound": 0.25}
    told = of_search(noted, 10**6, {"ncp": 0.375, "ncp_weighted": 0.75})
    assert told == {"ncp_bound": 0.375, "ncp_weighted_bound": 0.25}


@pytest.mark.parametrize(
    ("units", "step"),
    [(0, 1), (1, 1), (10, 1), (30, 0.5), (100, 0.1), (400, 0.05), (10_000, 0.001), (10**6, 1e-5)],
)
def test_steps_are_the_share_of_ten_or_more(units: int, step: float) -> None:
    assert float(finest(units)) == step
    assert of_search({"ncp_bound": 0.98765}, units)["ncp_bound"] <= 0.98765
    for mean in (0.98765, 0.5, 0.00123):
        # 0 and 1 are told of what is exactly that, and the ends of the steps are further in
        told = coarse_mean(mean, units)
        assert 0 < told < 1
        assert told == pytest.approx(mean, abs=max(step, 10**-DIGITS / 2))
    assert [coarse_mean(mean, units) for mean in (0.0, 1.0)] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("loss", "bound", "units", "told"),
    [
        (0.4567, 0.4567, 10**6, (0.45671, 0.45671, 0)),  # rounded up: no node is said to lose less
        (0.4567, 0.4321, 100, (0.5, 0.4, 0.2)),
        (0.4567, 0.4321, 20, (0.5, 0.0, 1)),
        (1234.0, 987.0, 20, (1240.0, 987.0, 0.205)),  # a sum
    ],
)
def test_the_gap_of_a_budget_follows_from_rounded_figures(
    loss: float, bound: float, units: int, told: tuple[float, ...]
) -> None:
    noted = {"lattice_loss": loss, "lattice_bound": bound, "lattice_gap": 1 - bound / loss}
    found = of_search(noted, units)
    assert found["lattice_loss"] == pytest.approx(told[0], rel=1e-4)
    assert found["lattice_bound"] == pytest.approx(told[1], rel=1e-4)
    assert found["lattice_gap"] == told[2]


def test_scores_are_not_told_and_their_gap_is_in_steps() -> None:
    noted = {"lattice_score": 62.0, "lattice_bound": 149.0, "lattice_gap": 0.584}
    assert of_search(noted, 10**6) == {"lattice_gap": 0.6}
    assert of_search(noted | {"lattice_gap": 0.0}, 100) == {"lattice_gap": 0.0}
    assert of_search(noted | {"lattice_gap": 0.98}, 5) == {"lattice_gap": 1.0}


@pytest.mark.parametrize(
    ("required", "achieved", "told"),
    [
        (5, 5, 5),
        (5, 19, 10),
        (5, 1289, 1200),
        (7, None, None),
        ({"min": 0, "max": 0.5}, {"min": 3 / 7, "max": 3 / 7}, {"min": 0.4, "max": 0.5}),
        ({"min": 0.42, "max": 0.43}, {"min": 3 / 7, "max": 3 / 7}, {"min": 0.42, "max": 0.43}),
        ({"min": 0, "max": 1}, {"min": None, "max": None}, {"min": None, "max": None}),
    ],
)
def test_figures_over_a_population_are_in_steps(required: Any, achieved: Any, told: Any) -> None:
    assert of_population(required, achieved) == told


IDENTIFIED = {
    "version": 1,
    "source": {"table": "people"},
    "columns": {
        "patient_id": {"role": "identifier"},
        "age": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    },
    "privacy": {"k_anonymity": 5},
    "publish": {"database": "release.duckdb"},
}


def reported(folder: Path, change: str, given: dict[str, Any]) -> dict[str, Any]:
    """The report, with the source beside it, of people whose table was changed beforehand."""
    folder.mkdir()
    source = folder / "source.duckdb"
    with duckdb.connect(str(source), config={"threads": 1}) as connection:
        connection.execute(
            "create table people as select i // 4 as patient_id, 20 + i % 25 as age,"
            " ['flu', 'cold'][1 + i % 2] as ill from range(240) r(i)"
        )
        connection.execute(change)
    policy = Policy.model_validate(given, context={"base": folder})
    anonymizer.run(policy, source, seed=7, limits=THRIFTY)
    report = collect(policy, folder / "release.duckdb", source)
    found: dict[str, Any] = json.loads(rendered(report, "json"))
    return found


def test_a_report_counts_no_values_of_an_identifier(tmp_path: Path) -> None:
    found = [
        reported(tmp_path / str(i), change, IDENTIFIED)["warnings"]
        for i, change in enumerate(
            ("select 1", "update people set patient_id = 7 where patient_id = 8 and age < 31")
        )
    ]
    assert found[0] == found[1]
    assert any("patient_id" in warning for warning in found[0])


INTERVALS = {"builder": "intervals", "cuts": [20, 30, 40, 50]}
COARSENED = {
    "version": 1,
    "source": {"table": "people"},
    "columns": {
        "patient_id": {"role": "drop"},
        "age": {"role": "quasi", "hierarchy": INTERVALS},
        "ill": {"role": "keep"},
    },
    "key": "patient_id",
    "privacy": {"k_anonymity": 5},
    "algorithm": {"name": "full_domain"},
    "publish": {"database": "release.duckdb"},
}
SMALL = (
    "create or replace table people as select i as patient_id, 20 + i % 40 as age,"
    " ['flu', 'cold'][1 + i % 2] as ill from range(60) r(i)"
)
SHOWN = ("class_sizes", "risk", "distributions", "query_error", "warnings", "little_left")


@pytest.mark.slow
def test_a_report_of_few_rows_leaves_every_age_of_the_published_interval(tmp_path: Path) -> None:
    """Counts and shares of fewer than a hundred rows are no exact ones."""
    found = []
    for age in (25, 27, 29):
        change = f"{SMALL}; update people set age = {age} where patient_id = 5"
        report = reported(tmp_path / str(age), change, COARSENED)
        found.append({name: report.get(name) for name in SHOWN})
    assert found[0]["distributions"]
    assert found[0]["risk"]
    assert found[0] == found[1] == found[2]


LEFT_OUT = {
    "version": 1,
    "source": {"table": "people"},
    "columns": {
        "patient_id": {"role": "drop"},
        "age": {"role": "quasi", "hierarchy": INTERVALS},
        "ill": {"role": "drop"},
        "pay": {"role": "keep", "acknowledge_unique": True},
    },
    "key": "patient_id",
    "privacy": {"k_anonymity": 5},
    "suppression_limit": 0.1,
    "algorithm": {"name": "full_domain"},
    "publish": {"database": "release.duckdb"},
}


@pytest.mark.slow
def test_bins_of_a_report_do_not_tell_how_far_a_row_left_out_is_from_the_others(
    tmp_path: Path,
) -> None:
    found = []
    for pay in (40, 31337):
        change = (
            "create or replace table people as select i as patient_id,"
            " case when i < 36 then 20 + i // 12 * 10 else 50 end as age, 'flu' as ill,"
            f" case when i = 36 then {pay} else 10 + i % 9 end as pay from range(37) r(i)"
        )
        report = reported(tmp_path / str(pay), change, LEFT_OUT)
        assert report["measures"]["suppressed"] == 1
        found.append({name: report.get(name) for name in SHOWN})
    assert found[0]["distributions"] == found[1]["distributions"]


@pytest.mark.slow
def test_the_order_of_bars_tells_nothing_of_equal_shares(tmp_path: Path) -> None:
    """One row more or less changes no rounded share of a small table, nor the order."""
    given = {
        "version": 1,
        "source": {"table": "people"},
        "columns": {
            "patient_id": {"role": "drop"},
            "job": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
            "age": {"role": "quasi", "hierarchy": INTERVALS},
            # (illnesses follow the jobs, so that these have to be hidden)
            "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
        },
        "key": "patient_id",
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": "full_domain"},
        "publish": {"database": "release.duckdb"},
    }
    found = []
    for cooks in (20, 21):
        change = (
            "create or replace table people as select i as patient_id, 20 + i % 40 as age,"
            " case when i < 20 then 'flu' else 'cold' end as ill,"
            f" case when i < {cooks} then 'cook' else 'nurse' end as job"
            " from range(41) r(i)"
        )
        report = reported(tmp_path / str(cooks), change, given)
        jobs = next(one for one in report["distributions"] if one["column"] == "job")
        found.append([(bar["label"], bar["before"], bar["after"]) for bar in jobs["bars"]])
    assert len(found[0]) > 1
    assert found[0] == found[1]
