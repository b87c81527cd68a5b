"""A policy of several tables over a grid: every point is what a run of its own gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.review.sweep import Point, sweep
from tests.runs import THRIFTY
from tests.schema import hospital, oracle
from tests.schema.test_diff_tables import EVENTS, published

CHANGES = {"suppression_limit": 0.2}


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
    points = swept(source, "k=3,5", "knows.events=1,2", "weight.events=0.5")
    assert len(points) == 4
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
