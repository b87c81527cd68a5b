"""Figures by persons where a policy names them, whatever their number of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonymizer
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.explore.trial import outcome_of
from anonymizer.process.secret import Seed
from anonymizer.review.inputs import in_scratch
from anonymizer.review.sweep import sweep
from anonymizer.source.masking.masks import bound_values
from tests import runs
from tests.runs import source

PERSONS = {"id": "drop", "patient": "identifier", "age": "quasi"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A hundred persons of ten rows each, twenty of every age."""
    types = {"id": "bigint", "patient": "varchar", "age": "integer"}
    rows = [(i, f"p{i // 10}", 20 + i // 10 % 5) for i in range(1000)]
    return source(tmp_path, types, rows)


@pytest.fixture
def policy(tmp_path: Path) -> anonymizer.Policy:
    return runs.policy(tmp_path, PERSONS, 5, key="id", person="patient")


def test_the_largest_risk_of_a_sweep_is_by_persons(
    policy: anonymizer.Policy, database: Path
) -> None:
    (point,) = sweep(policy, database, vary=["k=5"])
    assert (point.risk, point.largest_risk) == (0.05, 1 / 20)


def test_explore_shows_the_smallest_class_by_persons(
    policy: anonymizer.Policy, database: Path
) -> None:
    with open_session(policy, database) as session:
        session.engine.binds = bound_values(policy, Seed.test(0).secret)
        found = in_scratch(policy, session, Executor(session.engine))
        figures = outcome_of(policy, found, 1000, 0.0).figures
    assert (figures["unit"], figures["smallest"]) == ("persons", 20)
    assert (figures["risk"], figures["largest_risk"]) == (0.05, 1 / 20)
