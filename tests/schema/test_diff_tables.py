"""Policies of several tables compared: the figures are those of two runs, and of plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import PolicyError
from anonymizer.policy import Policy
from anonymizer.process.secret import Seed
from anonymizer.release.published import Release
from anonymizer.review.diff import Comparison, Trial, compare
from tests.runs import THRIFTY
from tests.schema import hospital, oracle
from tests.schema.oracle import Child, Published

STRICTER = {
    "privacy.k_anonymity": 5,
    "privacy.knows": {"events": 1, "rows": True},
    "tables.patients.columns.died.protect": {"t_closeness": 0.5},
    "tables.visits.columns.ward": {"role": "drop"},
    "suppression_limit": 0.2,
}
EVENTS = {"visits": ("day", "ward"), "labs": ("test",)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return hospital.write(tmp_path / "source.duckdb")


def compared(
    source: Path, old: Mapping[str, Any], new: Mapping[str, Any], *drop: str
) -> Comparison:
    """Two policies with these changes; `drop`: what the new one lacks."""
    first = hospital.policy(source.parent, old)
    second = hospital.policy(source.parent, new, *drop)
    return compare(first, second, source, seed=Seed.test(1), limits=THRIFTY)


def changed(changes: Iterable[Any]) -> dict[str, tuple[Any, Any]]:
    return {c.what: (c.old, c.new) for c in changes if c.changed}


def published(database: Path, events: Mapping[str, tuple[str, ...]]) -> Published:
    rows = hospital.released(database, "patients", "visits", "labs")
    children = {
        "visits": Child("patient_id", "patients", "visit_id", events["visits"]),
        "labs": Child("visit_id", "visits", None, events["labs"]),
    }
    return Published("patients", "patient_id", rows, children)


def same_as_run(trial: Trial, release: Release) -> None:
    measures = release.measures
    figures = trial.figures
    assert figures["persons published"] == measures["rows"]
    assert figures["persons suppressed"] == measures["suppressed"]
    assert figures["suppressed (share)"] == measures["suppressed_share"]
    assert figures["classes"] == measures["classes"]
    assert figures["smallest class (persons)"] == measures["class_min"]
    assert figures["loss per cell (NCP)"] == measures["ncp"]
    for name, one in measures["tables"].items():
        rows, lost = one["rows"], one["suppressed"]
        assert figures[f"{name}: rows published"] == rows
        assert figures[f"{name}: rows left out"] == lost
        for column, loss in one["ncp"].items():
            mean = (loss * rows + lost) / (rows + lost)
            assert trial.losses[f"{name}.{column}"] == pytest.approx(mean, abs=0.002)
    judged = {
        (c.name, f"patients.{c.column}" if c.column == "died" else c.column): c.achieved
        for c in release.verification.checks
    }
    assert {name: reached for name, (reached, _) in trial.achieved.items()} == {
        name: judged[name] for name in trial.achieved
    }


@pytest.mark.slow
@pytest.mark.usefixtures("fine_figures")
def test_the_figures_are_those_of_two_runs(source: Path) -> None:
    found = compared(source, {}, STRICTER)
    for changes, trial, events in (
        ({}, found.old, EVENTS),
        (STRICTER, found.new, {**EVENTS, "visits": ("day",)}),
    ):
        policy = hospital.policy(source.parent, changes)
        same_as_run(trial, hospital.run(policy, source, seed=1))
        tables = published(source.parent / "release.duckdb", events)
        lefts = {
            "one event": oracle.left_by_events(tables, 1),
            "two events": oracle.left_by_events(tables, 2),
            "the number of rows": oracle.left_by_numbers(tables),
        }
        for knows, left in lefts.items():
            # of both policies by the k of the new one
            assert trial.observers[f"{knows}: alone"] == sum(n == 1 for n in left.values())
            below = sum(n < 5 for n in left.values())
            assert trial.observers[f"{knows}: fewer than 5 left"] == below
    assert found.old.observers["one event: fewer than 5 left"] > 0
    assert found.old.holds
    assert found.new.holds
    assert set(found.new.losses) == {
        "patients.birth_date", "patients.sex", "patients.zip", "visits.day", "labs.test",
    }  # fmt: skip
    assert changed(found.required) == {
        "k_anonymity": ("k=3", "k=5"),
        "t_closeness (patients.died)": (None, "t=0.5, distance=equal"),
        "known_events": ("k=3, events=1", "k=5, events=1"),
        "known_rows": (None, "k=5"),
        "suppression limit": (0.0, 0.2),
    }
    assert changed(found.roles) == {"visits.ward": ("event", "drop")}
    assert changed(found.settings) == {"suppression_limit": (0.0, 0.2)}
    assert changed(found.tables) == {}


def test_one_table_and_several(source: Path) -> None:
    several = hospital.policy(source.parent)
    one: Any = {
        "version": 1,
        "source": {"table": "patients"},
        "columns": {"zip": {"role": "quasi"}},
    }
    single = Policy.loads(json.dumps({**one, "privacy": {"k_anonymity": 2}}))
    for old, new, at in ((several, single, "NEW"), (single, several, "OLD")):
        with pytest.raises(PolicyError) as raised:
            compare(old, new, source)
        (problem,) = raised.value.problems
        assert problem.path == at
        assert "tables: {t: ...}" in str(problem.hint)
