"""Several tables assessed as they are: the figures are those of plain Python over the rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import PolicyError, SourceError
from anonymizer.policy import Policy
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


def test_nothing_of_a_run_is_done_to_the_rows(source: Path) -> None:
    """Neither NULLs nor hierarchies, rules nor k keep rows away or the tables from being read."""
    hospital.changed(source, "update patients set sex = null where patient_id % 5 = 0")
    changes = {
        "tables.patients.columns.sex.nulls": "suppress",
        "tables.visits.columns.day.hierarchy": {"file": "none.csv"},
        "tables.visits.columns.diagnosis.protect": {"l_diversity": 50},
        "tables.visits.columns.cost": {"role": "keep", "acknowledge_unique": False},
        "privacy.k_anonymity": 400,
        "publish": {"prefix": "a_"},
    }
    found = assessed(source, changes)
    assert found.k == 400
    assert told(found) == expected(source, 400, EVENTS)


def test_without_events_and_without_tables(source: Path) -> None:
    kept = {
        "tables.visits.columns.day": {"role": "drop"},
        "tables.visits.columns.ward": {"role": "drop"},
        "tables.labs.columns.test": {"role": "drop"},
        "privacy.knows": {"events": 0},
    }
    found = assessed(source, kept)
    assert told(found) == expected(source, 4, {})
    assert found.events == ()
    found = assessed(source, {"privacy.knows": {"events": 0}}, "tables.labs", "tables.visits")
    wanted = expected(source, 4, {})
    assert told(found) == {"nothing else": wanted["nothing else"]}


def test_keys_that_are_none(source: Path) -> None:
    hospital.changed(source, "insert into visits select * from visits limit 1")
    with pytest.raises(SourceError) as raised:
        assessed(source, {})
    assert [problem.path for problem in raised.value.problems] == ["tables.visits.key"]


def test_called_from_python(source: Path) -> None:
    policy: Any = hospital.policy(source.parent, COARSE)
    found = anonymizer.assess(policy, source)
    assert isinstance(found, TablesAssessment)
    with duckdb.connect(str(source)) as connection:
        again = anonymizer.assess(policy, connection)
    assert again == found
    assert repr(found).splitlines()[0] == "3 tables; a row of patients is a person"
    assert len(repr(found).splitlines()) <= 10
    assert "<table" in found._repr_html_()
    assert "width: " in found._repr_html_()
    json.dumps(found.as_dict())
    with pytest.raises(PolicyError) as raised:
        anonymizer.assess(policy, source, quasi=["sex"], combined=2)
    assert [problem.path for problem in raised.value.problems] == ["quasi", "combined"]


def test_the_policy_of_one_table(source: Path) -> None:
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": "main.visits"},
        "person": "patient_id",
        "columns": {
            "visit_id": {"role": "drop"},
            "patient_id": {"role": "identifier"},
            "ward": {"role": "quasi"},
            "diagnosis": {"role": "sensitive", "protect": {"l_diversity": 2}},
            "day": {"role": "drop"},
            "cost": {"role": "drop"},
        },
        "privacy": {"k_anonymity": 2},
    }
    policy = Policy.loads(json.dumps(given))
    found = anonymizer.assess(policy, source)
    named = anonymizer.assess(
        "main.visits", source, quasi=["ward"], sensitive=["diagnosis"], person="patient_id"
    )
    assert found.as_dict() == named.as_dict()
    assert not isinstance(found, TablesAssessment)
    # what is named goes before the policy's roles
    assert anonymizer.assess(policy, source, quasi=["day"]).as_dict()["quasi"] == ["day"]
    of_query = {**given, "source": {"query": "from visits"}, "publish": {"name": "v"}}
    asked = Policy.loads(json.dumps(of_query))
    with pytest.raises(PolicyError, match=r"source\.query: is a query"):
        anonymizer.assess(asked, source)
