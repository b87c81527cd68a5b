"""Figures by persons where a policy names them, whatever their number of rows."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.explore.outcome import outcome_of
from anonymizer.process.seed import Seed
from anonymizer.review.diff.trial import trial
from anonymizer.review.scratch import in_scratch
from anonymizer.review.sweep import sweep
from anonymizer.source.masking.keys import bound_values


@pytest.fixture
def policy(tmp_path: Path) -> anonymizer.Policy:
    """A hundred persons of ten rows each, twenty of every age."""
    with duckdb.connect(str(tmp_path / "q.duckdb")) as connection:
        connection.execute(
            "create table v as select i as id, 'p' || (i // 10) as patient,"
            " 20 + (i // 10) % 5 as age from range(1000) t(i)"
        )
    text = {
        "version": 1,
        "source": {"table": "v"},
        "key": "id",
        "person": "patient",
        "columns": {
            "id": {"role": "drop"},
            "patient": {"role": "identifier"},
            "age": {"role": "quasi"},
        },
        "privacy": {"k_anonymity": 5},
        "publish": {"name": "v_anonymous", "database": "q_release.duckdb"},
    }
    (tmp_path / "q.yml").write_text(json.dumps(text))
    return anonymizer.Policy.load(tmp_path / "q.yml")


def test_the_largest_risk_of_a_sweep_is_by_persons(
    policy: anonymizer.Policy, tmp_path: Path
) -> None:
    (point,) = sweep(policy, tmp_path / "q.duckdb", vary=["k=5"])
    assert (point.risk, point.largest_risk) == (0.05, 1 / 20)


def test_the_largest_risk_of_a_trial_is_by_persons(
    policy: anonymizer.Policy, tmp_path: Path
) -> None:
    figures = trial(policy, tmp_path / "q.duckdb", Seed.test(0)).figures
    assert figures["smallest class (persons)"] == 20
    assert (figures["mean risk"], figures["largest risk"]) == (0.05, 1 / 20)


def test_explore_shows_the_smallest_class_by_persons(
    policy: anonymizer.Policy, tmp_path: Path
) -> None:
    with open_session(policy, tmp_path / "q.duckdb") as session:
        session.engine.binds = bound_values(policy, Seed.test(0).secret)
        found = in_scratch(policy, session, Executor(session.engine))
        figures = outcome_of(policy, found, 1000, 0.0).figures
    assert (figures["unit"], figures["smallest"]) == ("persons", 20)
    assert (figures["risk"], figures["largest_risk"]) == (0.05, 1 / 20)
