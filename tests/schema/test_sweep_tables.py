"""A policy of several tables over a grid: every point is what a run of its own gives."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonymizer
from anonymizer import SchemaPolicy
from anonymizer.errors import PolicyError
from anonymizer.review.grid import Point, check, combinations, sweep, varied
from tests.runs import THRIFTY
from tests.schema import hospital, oracle
from tests.schema.test_diff_tables import EVENTS, published

CHANGES = {"suppression_limit": 0.2}


def test_short_names_of_all_that_may_be_known(tmp_path: Path) -> None:
    policy = hospital.policy(tmp_path, CHANGES)
    vary = [f"knows.{name}=true" for name in ("rows", "sensitive")]
    check(policy, combinations(vary))
    (asked,) = combinations(vary)
    made = varied(policy, asked)
    assert isinstance(made, SchemaPolicy)
    knows = made.privacy.knows
    assert (knows.rows, knows.sensitive) == (True, True)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return hospital.write(tmp_path / "source.duckdb")


def swept(source: Path, *vary: str) -> list[Point]:
    policy = hospital.policy(source.parent, CHANGES)
    before = source.read_bytes()
    points = sweep(policy, source, vary=vary, seed=1, limits=THRIFTY)
    assert source.read_bytes() == before
    assert [path.name for path in source.parent.iterdir()] == ["source.duckdb"]
    return points


@pytest.mark.slow
@pytest.mark.usefixtures("fine_figures")
def test_every_point_is_a_run(source: Path) -> None:
    points = swept(source, "k=5", "knows.events=1,2", "weight.events=0.5")
    assert len(points) == 2
    for point in points:
        asked = {
            **CHANGES,
            "privacy.k_anonymity": int(point.options["k"]),
            "privacy.knows": {"events": int(point.options["knows.events"])},
            "weight": {"events": 0.5},
        }
        release = hospital.run(hospital.policy(source.parent, asked), source, seed=1)
        measures, parts = release.measures, point.parts
        assert parts is not None
        assert point.holds
        assert point.classes == measures["classes"]
        assert point.suppressed == measures["suppressed_share"]
        assert parts["loss_quasi"] == measures["ncp"]
        cells, lost = 0, 0.0
        rows_lost = rows = 0
        for one in measures["tables"].values():
            for loss in one["ncp"].values():
                cells += one["rows"] + one["suppressed"]
                lost += loss * one["rows"] + one["suppressed"]
            rows_lost += one["suppressed"]
            rows += one["rows"] + one["suppressed"]
        # (of codes, figures are told with three digits)
        assert parts["loss_events"] == pytest.approx(lost / cells, abs=0.002)
        assert parts["rows_left_out"] == rows_lost / rows
        assert point.loss == parts["loss_quasi"] + parts["loss_events"]
        # one observer for all points: two events, because some promise something of them
        assert parts["knows"] == "two events"
        left = oracle.left_by_events(published(source.parent / "release.duckdb", EVENTS), 2)
        chances = [1 / n for n in left.values()]
        assert point.risk == pytest.approx(sum(chances) / len(chances))
        assert point.largest_risk == max(chances)
        assert {"loss_quasi", "loss_events"} <= point.as_dict().keys()


@pytest.mark.slow
def test_the_observer_and_the_front(source: Path) -> None:
    points = swept(source, "knows.events=0,1")
    assert [point.parts and point.parts["knows"] for point in points] == ["one event"] * 2
    assert points[0].risk is not None
    assert points[1].risk is not None
    assert points[0].risk > points[1].risk
    assert points[1].largest_risk is not None
    assert points[1].largest_risk <= 1 / 3
    assert [point.best for point in points] == [True, True]


@pytest.mark.slow
def test_points_that_cannot_work_say_why(source: Path) -> None:
    good, bad = swept(source, "k=3,61")
    assert good.holds
    assert bad.problem is not None
    assert bad.problem.startswith("privacy.k_anonymity: asks for classes of 61")
    (point,) = swept(source, "l=40")
    assert point.problem is not None
    assert point.problem.startswith(
        "tables.visits.columns.diagnosis.protect.l_diversity: cannot hold"
    )
    assert swept(source, "tables.visits.columns.ward.role=drop")[0].holds
    for vary in ("algorithm=lgb", "privacy.knows.events=4", "knows.nothing=1", "source=x"):
        with pytest.raises(PolicyError) as raised:
            swept(source, vary)
        assert raised.value.problems[0].path == "--vary"


def test_without_events_the_risk_is_that_of_the_class(source: Path) -> None:
    changes = {"privacy.knows": {"events": 0}}
    policy = hospital.policy(source.parent, changes, "tables.labs", "tables.visits")
    (point,) = anonymizer.compare(policy, source, vary=["k=4"], limits=THRIFTY)
    assert point.parts == {
        "knows": None, "loss_quasi": point.loss, "loss_events": None, "rows_left_out": 0.0,
    }  # fmt: skip
    assert point.classes is not None
    assert point.risk == point.classes / hospital.PERSONS
