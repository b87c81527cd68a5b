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
from anonymizer.review.comparison import Change, Comparison, compare, text_lines, verdict
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
    return compare(first, source, other=second, seed=Seed.test(1), limits=THRIFTY)


def changed(changes: Iterable[Any]) -> dict[str, tuple[Any, Any]]:
    return {c.what: (c.old, c.new) for c in changes if c.changed}


def published(database: Path, events: Mapping[str, tuple[str, ...]]) -> Published:
    rows = hospital.released(database, "patients", "visits", "labs")
    children = {
        "visits": Child("patient_id", "patients", "visit_id", events["visits"]),
        "labs": Child("visit_id", "visits", None, events["labs"]),
    }
    return Published("patients", "patient_id", rows, children)


def side(changes: Iterable[Change], name: str) -> dict[str, Any]:
    return {change.what: getattr(change, name) for change in changes}


def same_as_run(found: Comparison, name: str, release: Release) -> None:
    measures = release.measures
    figures, losses = side(found.figures, name), side(found.losses, name)
    assert figures["persons published"] == measures["rows"]
    assert figures["persons suppressed"] == measures["suppressed"]
    assert figures["suppressed (share)"] == measures["suppressed_share"]
    assert figures["classes"] == measures["classes"]
    assert figures["smallest class (persons)"] == measures["class_min"]
    assert figures["loss per cell (NCP)"] == measures["ncp"]
    for table, one in measures["tables"].items():
        rows, lost = one["rows"], one["suppressed"]
        assert figures[f"{table}: rows published"] == rows
        assert figures[f"{table}: rows left out"] == lost
        for column, loss in one["ncp"].items():
            mean = (loss * rows + lost) / (rows + lost)
            assert losses[f"{table}.{column}"] == pytest.approx(mean, abs=0.002)
    judged = {
        f"{c.name} ({'patients.' * (c.column == 'died')}{c.column})" if c.column else c.name: (
            c.achieved
        )
        for c in release.verification.checks
    }
    achieved = {what: at["reaches"] for what, at in side(found.achieved, name).items() if at}
    assert achieved == {what: judged[what] for what in achieved}


@pytest.mark.slow
@pytest.mark.usefixtures("fine_figures")
def test_the_figures_are_those_of_two_runs(source: Path) -> None:
    found = compared(source, {}, STRICTER)
    for changes, name, events in (
        ({}, "old", EVENTS),
        (STRICTER, "new", {**EVENTS, "visits": ("day",)}),
    ):
        policy = hospital.policy(source.parent, changes)
        same_as_run(found, name, hospital.run(policy, source, seed=1))
        observers = side(found.observers, name)
        tables = published(source.parent / "release.duckdb", events)
        lefts = {
            "one event": oracle.left_by_events(tables, 1),
            "two events": oracle.left_by_events(tables, 2),
            "the number of rows": oracle.left_by_numbers(tables),
            "a table without rows": oracle.left_by_absence(tables),
        }
        for knows, left in lefts.items():
            # of both policies by the k of the new one
            assert observers[f"{knows}: alone"] == sum(n == 1 for n in left.values())
            below = sum(n < 5 for n in left.values())
            assert observers[f"{knows}: fewer than 5 left"] == below
    assert side(found.observers, "old")["one event: fewer than 5 left"] > 0
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
    # every guarantee is compared
    for change in (*found.required, *found.achieved):
        assert change.what == "suppression limit" or change.new is not None
    names = {change.what for change in found.required} - {"suppression limit"}
    assert names == {change.what for change in found.achieved}


@pytest.mark.slow
def test_tables_and_options_that_come_and_go(source: Path) -> None:
    found = compared(
        source,
        {"tables.labs.orphans": "drop"},
        {"tables.visits.columns.day.hierarchy": {"builder": "date", "levels": ["year"]}},
        "tables.labs",
    )
    assert changed(found.tables) == {"labs": ("visit_id -> visits", None)}
    assert changed(found.roles) == {
        "labs.visit_id": ("key", None),
        "labs.test": ("event", None),
        "labs.value": ("keep", None),
    }
    assert changed(found.settings) == {
        "tables.labs.source.table": ("main.labs", None),
        "tables.labs.orphans": ("drop", None),
        "tables.visits.columns.day.hierarchy.levels": (
            ["day", "month", "quarter", "year", "decade"],
            ["year"],
        ),
    }
    assert changed(found.figures)["labs: rows published"][1] is None
    assert changed(found.losses)["labs.test"][1] is None
    assert changed(found.figures)["labs: rows that reach nobody"] == (0, None)
    shown = "\n".join(text_lines(found))
    assert "  labs  visit_id -> visits    -  gone" in shown


@pytest.mark.slow
def test_the_same_policy_twice(source: Path) -> None:
    before = source.read_bytes()
    found = compared(source, {}, {})
    for name in ("tables", "roles", "settings", "required", "achieved", "figures", "observers"):
        assert changed(getattr(found, name)) == {}
    assert verdict(found) == "The policies are the same in everything that is compared."
    assert source.read_bytes() == before
    assert [path.name for path in source.parent.iterdir()] == ["source.duckdb"]


@pytest.mark.slow
def test_a_link_that_changes(source: Path) -> None:
    """Labs hang on the visits, or on the patients themselves."""
    hospital.changed(
        source,
        "alter table labs add column patient_id bigint",
        "update labs set patient_id = v.patient_id from visits v where v.visit_id = labs.visit_id",
    )
    columns = {"tables.labs.columns.patient_id": {"role": "drop"}}
    direct = {
        "tables.labs.links": {"patient_id": "patients"},
        "tables.labs.columns.patient_id": {"role": "key"},
        "tables.labs.columns.visit_id": {"role": "drop"},
    }
    found = compared(source, columns, direct)
    assert changed(found.tables) == {"labs": ("visit_id -> visits", "patient_id -> patients")}
    assert changed(found.settings) == {}
    assert found.new.runs


@pytest.mark.slow
def test_columns_that_no_policy_classifies(source: Path) -> None:
    hospital.changed(
        source,
        "alter table labs add column more integer",
        "alter table visits add column rest integer",
    )
    paths = ["tables.visits.columns.rest", "tables.labs.columns.more"]
    found = compared(source, {}, {})
    assert found.unclassified == ("visits.rest", "labs.more")
    assert [problem.path for problem in found.problems] == paths
    # the old policy classified one of them: the new one cannot run, and the other is named too
    named = {"tables.labs.columns.more": {"role": "drop"}}
    found = compared(source, named, {})
    assert found.unclassified == ("visits.rest",)
    assert paths[0] in [problem.path for problem in found.problems]
    both = {**named, "tables.visits.columns.rest": {"role": "drop"}}
    found = compared(source, {}, both)
    assert found.problems == ()
    assert not found.old.runs
    assert found.new.holds
    assert changed(found.roles)["labs.more"] == (None, "drop")


@pytest.mark.slow
def test_what_does_not_hold_or_cannot_run(source: Path) -> None:
    hospital.changed(source, "update patients set sex = null where patient_id % 20 = 0")
    suppressing = {"tables.patients.columns.sex.nulls": "suppress"}
    found = compared(source, {}, suppressing)
    assert found.new.runs
    assert not found.new.holds
    assert side(found.figures, "new")["persons suppressed"] == sum(
        row[0] % 20 == 0 for row in hospital.tables()["patients"]
    )
    found = compared(source, {}, {"privacy.k_anonymity": 61})
    assert not found.new.runs
    assert [problem.path for problem in found.problems] == ["privacy.k_anonymity"]
    assert "new policy: privacy.k_anonymity" in "\n".join(text_lines(found))


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
            compare(old, source, other=new)
        (problem,) = raised.value.problems
        assert problem.path == at
        assert "tables: {t: ...}" in str(problem.hint)


@pytest.mark.slow
def test_queries_and_files_are_sources_too(source: Path) -> None:
    names = ("patients", "visits", "labs")
    for name in names:
        hospital.changed(source, f"copy {name} to '{source.parent / name}.parquet'")
    queries = {f"tables.{name}.source": {"query": f"from {name}"} for name in names}
    files = {f"tables.{name}.source": {"file": f"{name}.parquet"} for name in names}
    found = compared(source, {}, queries)
    assert found.new.holds
    for part in (found.roles, found.achieved, found.figures, found.losses):
        assert changed(part) == {}
    of_files = hospital.policy(source.parent, files)
    alone = compare(of_files, other=of_files, seed=Seed.test(1), limits=THRIFTY)
    assert side(alone.figures, "new") == side(found.figures, "new")


@pytest.mark.slow
def test_guarantees_that_tell_persons_from_rows(source: Path) -> None:
    identity = {
        "privacy.ir_kl": {"k": 3, "l": 2},
        "tables.patients.columns.died.protect": {"eir_l": 2},
        "tables.visits.columns.diagnosis.protect": {"eir_l": 2},
    }
    found = compared(source, {}, identity)
    required = {change.what for change in found.required if change.new is not None}
    assert {"eir_l (patients.died)", "eir_l (visits.diagnosis)"} <= required
    reached = {change.what for change in found.achieved if change.new is not None}
    assert reached == required - {"suppression limit"}


@pytest.mark.slow
def test_rules_among_those_who_remain(source: Path) -> None:
    among = {
        "privacy.knows": {"events": 1, "sensitive": True},
        "tables.patients.columns.died.protect": {"t_closeness": 0.9},
    }
    found = compared(source, {}, among)
    assert found.new.runs, found.problems
    assert changed(found.required) == {
        "t_closeness (patients.died)": (None, "t=0.9, distance=equal"),
        "known_t_closeness (patients.died)": (None, "t=0.9, distance=equal"),
        "known_distinct_l (visits.diagnosis)": (None, "l=2"),
    }
    reached = {change.what for change in found.achieved if change.new is not None}
    assert reached == {c.what for c in found.required} - {"suppression limit"}
