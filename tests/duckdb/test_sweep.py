"""A grid of options: every point is the run that it stands for, and shares what does not differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import PolicyError
from anonymizer.review.sweep import Point, sweep, varied

COLUMNS: dict[str, Any] = {
    "a": {"role": "quasi"},
    "b": {"role": "quasi"},
    "s": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "s.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table t as select range * 7919 % 53 as a, 'v' || range * 31 % 7 as b,"
            " 'x' || range % 5 as s from range(300)"
        )
    policy = {
        "version": 1,
        "source": {"table": "t"},
        "columns": COLUMNS,
        "privacy": {"k_anonymity": 5},
        "publish": {"database": "r.duckdb"},
    }
    (tmp_path / "p.yml").write_text(json.dumps(policy))
    return path


@pytest.mark.slow
def test_points_are_the_runs_they_stand_for(source: Path, tmp_path: Path) -> None:
    policy = anonymizer.Policy.load(tmp_path / "p.yml")
    points = sweep(policy, source, vary=["k=3,9", "algorithm.split=loss,median"], seed=4)
    assert [p.options["k"] for p in points] == ["3", "3", "9", "9"]
    for point in points:
        assert point.holds
        alone = varied(policy, point.options)
        release = anonymizer.run(alone, source, seed=4)
        assert point.loss == pytest.approx(release.measures["ncp"])
        assert point.classes == release.measures["classes"]
        assert point.risk == pytest.approx((point.classes or 0) / 300)
    assert points[0].shared == 0
    assert all(p.shared >= 4 for p in points[1:])
    again = sweep(policy, source, vary=["k=3,9", "algorithm.split=loss,median"], seed=4)
    assert [p.loss for p in again] == [p.loss for p in points]
    check_front(points)


def check_front(points: list[Point]) -> None:
    figures = [(p.risk or 0, p.loss or 0) for p in points if p.holds]
    for p in points:
        mine = (p.risk or 0, p.loss or 0)
        beaten = any(o != mine and o[0] <= mine[0] and o[1] <= mine[1] for o in figures)
        assert p.best == (p.holds and not beaten)


@pytest.mark.slow
def test_what_cannot_work_says_why(source: Path, tmp_path: Path) -> None:
    policy = anonymizer.Policy.load(tmp_path / "p.yml")
    points = sweep(policy, source, vary=["algorithm=mondrian,full_domain", "l=2,4,6"])
    assert [p.problem is None for p in points] == [True, True, False, False, False, False]
    assert not points[2].holds
    for bad in (["k"], ["k="], [], ["k=1,2,3", "l=" + ",".join(map(str, range(2, 60)))]):
        with pytest.raises(PolicyError):
            sweep(policy, source, vary=bad)


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        (["q=5"], "--vary: q is not an option (allowed: k, l, t, algorithm, or a path"),
        (["algorithm.splitt=loss"], "algorithm.splitt is not an option (allowed: name, split"),
        (["k=5,abc"], "--vary: k=abc: privacy.k_anonymity must be a whole number"),
        (["k=0"], "privacy.k_anonymity must be at least"),
        (["l=x"], "l=x: columns.s.protect.l_diversity"),
        (["algorithm=mondriann"], "algorithm=mondriann: algorithm"),
        (["suppression_limit=2"], "suppression_limit must be at most 1"),
        (["algorithm=mondrian,full_domain", "algorithm.slicer=1"], "algorithm.slicer is not"),
    ],
)
def test_names_and_values_that_no_policy_has_are_errors(
    source: Path, tmp_path: Path, vary: list[str], said: str
) -> None:
    policy = anonymizer.Policy.load(tmp_path / "p.yml")
    with pytest.raises(PolicyError) as raised:
        sweep(policy, source, vary=vary)
    assert said in str(raised.value)
    assert len(raised.value.problems) == 1
