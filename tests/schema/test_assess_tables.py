"""Several tables assessed as they are: the figures are those of plain Python over the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anonymizer.review.observers import TablesAssessment, assess_tables
from tests.runs import THRIFTY
from tests.schema import hospital, oracle
from tests.schema.oracle import Child, Published

COARSE = {"tables.patients.columns.birth_date": {"role": "drop"}, "privacy.k_anonymity": 4}
"""So few quasi-identifiers that not everybody is alone."""
UNCLASSED = ", not the quasi-identifiers"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return hospital.write(tmp_path / "source.duckdb")


def assessed(source: Path, changes: Mapping[str, Any], *drop: str) -> TablesAssessment:
    policy = hospital.policy(source.parent, {**COARSE, **changes}, *drop)
    return assess_tables(policy, source, limits=THRIFTY)


def as_read(
    source: Path, events: Mapping[str, tuple[str, ...]], *, classed: bool = True
) -> Published:
    """The tables with the rows that reach a person, in classes of equal quasi-identifiers."""
    rows = hospital.released(source, "patients", "visits", "labs")
    numbers: dict[Any, int] = {}
    rows["patients"] = [
        row
        | {"class_id": numbers.setdefault((row["sex"], row["zip"]), len(numbers)) if classed else 0}
        for row in rows["patients"]
    ]
    keys = {row["patient_id"] for row in rows["patients"]}
    rows["visits"] = [row for row in rows["visits"] if row["patient_id"] in keys]
    keys = {row["visit_id"] for row in rows["visits"]}
    rows["labs"] = [row for row in rows["labs"] if row["visit_id"] in keys]
    children = {
        "visits": Child("patient_id", "patients", "visit_id", events.get("visits", ())),
        "labs": Child("visit_id", "visits", None, events.get("labs", ())),
    }
    return Published("patients", "patient_id", rows, children)


def figures(left: Mapping[Any, int], k: int) -> tuple[int, int, int, int, float]:
    counts = list(left.values())
    return (
        len(counts),
        counts.count(1),
        sum(n < k for n in counts),
        min(counts),
        round(sum(1 / n for n in counts) / len(counts), 6),
    )


def expected(
    source: Path, k: int, events: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[int, int, int, int, float]]:
    found = {}
    for classed in (True, False):
        tables = as_read(source, events, classed=classed)
        lefts = {
            "nothing else": oracle.left_by_events(tables, 0),
            "one event": oracle.left_by_events(tables, 1),
            "two events": oracle.left_by_events(tables, 2),
            "the number of rows": oracle.left_by_numbers(tables),
            "a table without rows": oracle.left_by_absence(tables),
            "the set of events": oracle.left_by_all_events(tables),
        }
        for knows, left in lefts.items():
            if (events or "event" not in knows) and (classed or knows != "nothing else"):
                found[knows if classed else knows + UNCLASSED] = figures(left, k)
    return found


def told(found: TablesAssessment) -> dict[str, tuple[int, int, int, int, float]]:
    return {
        one.knows: (one.persons, one.alone, one.below, one.fewest, round(one.found, 6))
        for one in found.observers
    }


EVENTS = {"visits": ("day", "ward"), "labs": ("test",)}


@pytest.mark.slow
def test_the_figures_are_those_of_the_rows(source: Path) -> None:
    before = source.read_bytes()
    found = assessed(source, {})
    wanted = expected(source, 4, EVENTS)
    assert told(found) == wanted
    assert list(told(found)) == list(wanted)
    # (with days, one event is enough to find everybody)
    found = assessed(source, {"tables.visits.columns.day": {"role": "drop"}})
    wanted = expected(source, 4, {**EVENTS, "visits": ("ward",)})
    assert told(found) == wanted
    alone = [wanted[name][1] for name in ("nothing else", "one event", "two events")]
    assert 0 < alone[0] < alone[1] < alone[2]
    assert wanted[f"one event{UNCLASSED}"][4] < wanted[f"two events{UNCLASSED}"][4]
    rows = hospital.tables()
    patient_of = {row[0]: row[1] for row in rows["visits"]}
    visits = Counter(patient_of.values())
    labs = Counter(patient_of[row[0]] for row in rows["labs"])
    assert [(t.table, t.above, t.rows, t.persons, t.most, t.orphans) for t in found.tables] == [
        ("patients", None, 60, 60, 1, 0),
        ("visits", "patients", len(rows["visits"]), len(visits), max(visits.values()), 0),
        ("labs", "visits", len(rows["labs"]), len(labs), max(labs.values()), 0),
    ]
    assert found.quasi == ("sex", "zip")
    assert found.events == ("visits.ward", "labs.test")
    assert source.read_bytes() == before
    assert [path.name for path in source.parent.iterdir()] == ["source.duckdb"]


def test_rows_that_reach_nobody_are_counted(source: Path) -> None:
    hospital.changed(
        source,
        "update visits set patient_id = 1 where visit_id < 50010",
        "update visits set patient_id = null where visit_id = 50012",
        "update labs set visit_id = 7 where rowid < 3",
    )
    found = assessed(source, {})
    assert told(found) == expected(source, 4, EVENTS)
    visits, labs = hospital.tables()["visits"], hospital.tables()["labs"]
    lost = {row[0] for row in visits if row[0] <= 50012}
    tables = {table.table: table for table in found.tables}
    assert (tables["visits"].rows, tables["visits"].orphans) == (len(visits), len(lost))
    nobody = sum(number < 3 or row[0] in lost for number, row in enumerate(labs))
    assert (tables["labs"].rows, tables["labs"].orphans) == (len(labs), nobody)
