"""Tables that do not fit their policy: one clear message with its path, and nothing is written.

Tables that are empty or without values are published.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import AnonymizerError, SourceError
from tests.schema import hospital, judged
from tests.selection import some

VISITS = "tables.visits.columns"
PREFIX = {"publish": {"prefix": "anon_"}}
DROP = "tables.visits.orphans"
TEXT_KEYS = [
    "alter table visits alter patient_id type varchar",
    "alter table patients alter patient_id type varchar",
]
ASTRAY = "update visits set patient_id = 1 where visit_id in (50003, 50006)"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hospital.write(tmp_path_factory.mktemp("source") / "source.duckdb")


@pytest.fixture
def database(source: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(source, tmp_path / "source.duckdb"))


# statements on the source; changes of the policy; the messages, one for everything that is wrong
REFUSED: dict[str, tuple[Sequence[str], dict[str, Any], Sequence[str]]] = {
    "a person twice": (
        ["update patients set patient_id = 1000 where patient_id = 1037"],
        {},
        [
            "tables.patients.key: is not unique: 1 row repeats a key (hint: every row of this table"
            " has a key of its own: leave others out in tables.patients.source.query)"
        ],
    ),
    "a person without a key": (
        ["update patients set patient_id = null where patient_id = 1037"],
        {},
        [
            "tables.patients.key: is NULL in 1 row (hint: leave such rows out in"
            " tables.patients.source.query"
        ],
    ),
    "a visit twice": (
        ["update visits set visit_id = 50000 where visit_id in (50003, 50006)"],
        {},
        ["tables.visits.key: is not unique: 2 rows repeat a key"],
    ),
    "a visit without a key": (
        ["update visits set visit_id = null where visit_id = 50003"],
        {},
        ["tables.visits.key: is NULL in 1 row"],
    ),
    "a key of two columns": (
        [],
        {"tables.visits.key": ["visit_id", "ward"]},
        ["tables.visits.key: must be text (hint: one column; make one of several in source.query"],
    ),
    "tables that are missing, and a column without a role": (
        [
            "alter table patients add column phone varchar",
            "alter table visits rename to seen",
            "drop table labs",
        ],
        {},
        [
            "tables.patients.columns.phone: is a column of the source that the policy does not",
            "tables.visits.source.table: is not a table of the source",
            "tables.labs.source.table: is not a table of the source",
        ],
    ),
    "columns without a role in several tables": (
        [
            "alter table visits add column room varchar",
            "alter table labs add column unit varchar",
        ],
        {},
        [
            "tables.visits.columns.room: is a column of the source that the policy does not list",
            "tables.labs.columns.unit: is a column of the source that the policy does not list",
        ],
    ),
    "a visit of nobody": (
        [ASTRAY],
        {},
        [
            "tables.visits.links.patient_id: 2 rows have a link that leads to no row of patients"
            " (hint: mend them in tables.visits.source.query, or tables: {visits: {orphans: drop}})"
        ],
    ),
    "a link that is NULL": (
        ["update visits set patient_id = null where visit_id = 50003"],
        {},
        ["tables.visits.links.patient_id: 1 row has a link"],
    ),
    "labs of no visit": (
        ["update labs set visit_id = visit_id + 1 where rowid < 3"],
        {},
        ["tables.labs.links.visit_id: 3 rows have a link that leads to no row of visits"],
    ),
    "labs of no visit, where visits of nobody are left out": (
        [ASTRAY, "update labs set visit_id = visit_id + 1 where rowid < 3"],
        {DROP: "drop"},
        ["tables.labs.links.visit_id: 3 rows have a link that leads to no row of visits"],
    ),
    "nobody has a visit": (
        ["update visits set patient_id = 1"],
        {DROP: "drop"},
        [
            "tables.visits.columns.diagnosis.protect: cannot hold in any class: no row has a value"
            " (hint: role: drop, or leave protect out)"
        ],
    ),
    "keys of text and numbers": (
        TEXT_KEYS[:1],
        {},
        [
            "tables.visits.links.patient_id: is text, and the key patient_id of patients is a whole"
            " number (hint: cast one of them in tables.visits.source.query)"
        ],
    ),
    "keys of numbers and doubles": (
        ["alter table visits alter patient_id type double"],
        {},
        ["tables.visits.links.patient_id: is DOUBLE, and the key"],
    ),
    "nobody": (
        ["delete from patients", "delete from visits", "delete from labs"],
        {},
        ["tables.patients.source: has no rows"],
    ),
    "no such table": (
        [],
        {"tables.visits.source": {"table": "main.visitz"}},
        ["tables.visits.source.table: is not a table of the source (hint: did you mean visits?)"],
    ),
    "no such table of persons": (
        [],
        {"tables.patients.source": {"table": "main.patientz"}},
        ["tables.patients.source.table: is not a table of the source"],
    ),
    "no such files": (
        [],
        {
            "tables.patients.source": {"file": "patients.parquet"},
            "tables.visits.source": {"file": "visits.parquet"},
            f"{VISITS}.ward.hierarchy": {"file": "wards.csv"},
        },
        [
            "tables.patients.source.file: there is no file patients.parquet",
            "tables.visits.source.file: there is no file visits.parquet",
            "tables.visits.columns.ward.hierarchy.file: there is no file wards.csv",
        ],
    ),
    "a query of nothing": (
        [],
        {"tables.visits.source": {"query": "select nothing from visits"}},
        ["tables.visits.source.query: "],
    ),
    "a query of the persons that writes": (
        [],
        {"tables.patients.source": {"query": "delete from patients"}},
        ["tables.patients.source.query: is not one SELECT statement"],
    ),
    "columns that are not listed": (
        ["alter table visits add column more integer", "alter table visits add column rest blob"],
        {},
        [
            "tables.visits.columns.more: is a column of the source that the policy does not list"
            " (allowed: key, identifier, quasi (of the persons), event (of others), sensitive,",
            "tables.visits.columns.rest: is a column of the source",
        ],
    ),
    "a column of the persons that is not listed": (
        ["alter table patients add column more integer"],
        {},
        ["tables.patients.columns.more: is a column of the source"],
    ),
    "a column that is not there": (
        ["alter table visits drop column cost"],
        {},
        ["tables.visits.columns.cost: is not a column of the source"],
    ),
    "a link that is not there": (
        ["alter table labs drop column visit_id"],
        {},
        ["tables.labs.columns.visit_id: is not a column of the source"],
    ),
    "a key that is not there": (
        ["alter table patients drop column patient_id"],
        {},
        ["tables.patients.columns.patient_id: is not a column of the source"],
    ),
    "an event that is a list": (
        ["alter table visits alter ward type varchar[] using [ward]"],
        {},
        ["tables.visits.columns.ward: has a type that cannot be published as a value"],
    ),
    "events that are not numbers": (
        ["alter table visits alter ward type double using case when ward = 'eyes' then 'nan' end"],
        {},
        ["tables.visits.columns.ward: has 2 values that are NaN or infinite"],
    ),
    "an infinite day": (
        ["update visits set day = 'infinity' where visit_id = 50003"],
        {},
        ["tables.visits.columns.day: has 1 infinite date,"],
    ),
    "events that are missing and have to be there": (
        ["update visits set ward = null where visit_id < 50010"],
        {f"{VISITS}.ward.nulls": "forbid"},
        ["tables.visits.columns.ward.nulls: forbids NULL, but 4 rows have none there"],
    ),
    "a kept column that names persons": (
        ["alter table visits add column room integer", "update visits set room = patient_id"],
        {f"{VISITS}.room": {"role": "keep"}},
        ["tables.visits.columns.room: names persons: nearly every one of its 60 different"],
    ),
    "a distance without an order": (
        [],
        {
            f"{VISITS}.diagnosis.protect": {
                "t_closeness": {"t": 0.5, "distance": "ordered"}
            }
        },
        ["tables.visits.columns.diagnosis.protect.t_closeness.distance: ordered needs an order"],
    ),
    "too few persons": (
        [],
        {"privacy.k_anonymity": 61},
        ["privacy.k_anonymity: asks for classes of 61 rows, but there are 60"],
    ),
    "too few values": (
        [],
        {f"{VISITS}.diagnosis.protect": {"l_diversity": 20}},
        ["tables.visits.columns.diagnosis.protect.l_diversity: cannot hold in any class: it takes"],
    ),
    "too few values of a person": (
        [],
        {f"{VISITS}.diagnosis.protect": {"eir_l": 40}},
        ["tables.visits.columns.diagnosis: cannot hold its rules on persons in any class"],
    ),
    "too few values of the persons": (
        [],
        {"tables.patients.columns.died.protect": {"l_diversity": 3}},
        ["tables.patients.columns.died.protect.l_diversity: cannot hold in any class"],
    ),
    "a sensitive column without values": (
        ["update visits set diagnosis = null"],
        {},
        [
            "tables.visits.columns.diagnosis.protect.l_diversity: cannot hold in any class: it"
            " takes 2 different values, 2 values more than the column has"
        ],
    ),
    "too many persons without a value": (
        ["update patients set sex = null where patient_id % 5 = 0"],
        {"tables.patients.columns.sex.nulls": "suppress"},
        ["suppression_limit: 12 of 60 persons would be suppressed"],
    ),
    "the names of the source's tables": (
        [],
        {"publish": {"names": {"visits": "LABS", "patients": "people", "labs": "tests"}}},
        ["publish.names: the view of visits would have the name of a source table"],
    ),
    "the name of another table": (
        ["create table ANON_Labs as select 1 as x"],
        PREFIX,
        [
            "publish.names: main.anon_labs exists and was not published by this tool"
            " (hint: choose another publish.prefix, publish.names or publish.schema,"
            " or drop it if nobody needs it)"
        ],
    ),
    "the manifest's name": (
        ["create view anon_patients_manifest as select 1 as x"],
        PREFIX,
        ["publish.names: main.anon_patients_manifest exists"],
    ),
    "typed cells that are called like a column": (
        ["alter table visits rename cost to day_lo"],
        {
            f"{VISITS}.day_lo": {"role": "keep"},
            "publish.cells": "typed",
        },
        ["tables.visits.columns.day_lo: the keep column day_lo and the lower bound of day"],
    ),
}  # fmt: skip


@some(5)
@pytest.mark.parametrize("name", REFUSED)
def test_refused(database: Path, name: str) -> None:
    statements, changes, says = REFUSED[name]
    hospital.changed(database, *statements)
    before = database.read_bytes()
    drop = (f"{VISITS}.cost",) if "day_lo" in str(changes) else ()
    with pytest.raises(AnonymizerError) as told:
        hospital.run(hospital.policy(database.parent, changes, *drop), database)
    problems = [str(problem) for problem in told.value.problems]
    assert len(problems) == len(says), problems
    for problem, said in zip(problems, says, strict=True):
        assert problem.startswith(said), problem
    assert told.value.exit_code in (1, 2)
    assert [path.name for path in database.parent.iterdir()] == ["source.duckdb"]
    assert database.read_bytes() == before


PUBLISHED: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
    "visits of nobody are left out": ([ASTRAY], {DROP: "drop"}),
    "no labs": (["delete from labs"], {}),
    "no visits": (
        ["delete from labs", "delete from visits"],
        {
            f"{VISITS}.diagnosis": {"role": "sensitive"},
            "privacy.knows": {"events": 2, "rows": True},
        },
    ),
    "an event without a value": (["update visits set ward = null"], {}),
    "events without a value": (["update visits set day = null, ward = null"], {}),
    "typed events without a value": (
        ["update visits set day = null, ward = null"],
        {"publish.cells": "typed"},
    ),
    "keys of text": (TEXT_KEYS, {}),
    "numbers of other sizes": (["alter table visits alter patient_id type hugeint"], {}),
    "keys that are no numbers": (
        [
            "alter table visits alter visit_id type uuid using md5(visit_id::varchar)::uuid",
            "alter table labs alter visit_id type uuid using md5(visit_id::varchar)::uuid",
        ],
        {},
    ),
    "everybody in one class": ([], {"privacy.k_anonymity": hospital.PERSONS}),
    "persons who are left out": (
        ["update patients set sex = null where patient_id % 5 = 0"],
        {"tables.patients.columns.sex.nulls": "suppress", "suppression_limit": 0.3},
    ),
}  # fmt: skip
QUICK = ("visits of nobody are left out", "no visits", "typed events without a value")


@some(0)
@pytest.mark.parametrize(
    "name",
    [one if one in QUICK else pytest.param(one, marks=pytest.mark.slow) for one in PUBLISHED],
)
def test_published(database: Path, name: str) -> None:
    statements, changes = PUBLISHED[name]
    hospital.changed(database, *statements)
    policy = hospital.policy(database.parent, changes)
    release = hospital.run(policy, database)
    judged.holds(policy, database.parent / "release.duckdb")
    assert anonymizer.verify(None, database.parent / "release.duckdb").passed
    assert anonymizer.verify(policy).passed
    whole = {table: rows_of(database, table) for table in policy.tables}
    stated = release.manifest.data["measures"]["tables"]
    for table, one in stated.items():
        assert one["rows"] + one["suppressed"] + one.get("orphans", 0) == whole[table]
    told = tuple(said for said in release.warnings if " no person and " in said)
    if name == "visits of nobody are left out":
        assert {table: one["orphans"] for table, one in stated.items()} == {"visits": 2, "labs": 1}
        assert told == (
            "tables.visits: 2 rows reach no person and are left out (orphans: drop)",
            "tables.labs: 1 row reaches no person and is left out (with those of visits)",
        )
    else:
        assert told == ()


def rows_of(database: Path, table: str) -> int:
    with duckdb.connect(str(database), read_only=True) as connection:
        found = connection.execute(f"select count(*) from {table}").fetchone()
    assert found is not None
    return int(found[0])


NEXT = "(select concat('saw ', min_by(name, patient_id)) from patients p where {})"


@some(0)
@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("'call 212-555-0100'", "telephone numbers"),
        (NEXT.format("p.patient_id > v.patient_id"), ""),
        ("concat('visit ', visit_id)", ""),
    ],
)
def test_text_that_names_somebody(database: Path, note: str, said: str) -> None:
    """A telephone number, the name of some patient, the number of the visit."""
    hospital.changed(
        database,
        "alter table visits add column note varchar",
        "update patients set name = concat('Jo ', name, ' Doe')",
        f"update visits v set note = {note} where (visit_id // 3) % 2 = 0",
    )
    changes = {f"{VISITS}.note": {"role": "keep", "acknowledge_unique": True}}
    with pytest.raises(SourceError) as refused:
        hospital.run(hospital.policy(database.parent, changes), database)
    (problem,) = refused.value.problems
    assert problem.path == "tables.visits.columns.note"
    assert (said or "values that contain a value of an identifier column") in problem.message
    kind = "phone" if said else "identifier_value"
    changes[f"{VISITS}.note"]["acknowledge"] = [kind]
    hospital.run(hospital.policy(database.parent, changes), database)


@pytest.mark.slow
def test_warnings_name_their_table(database: Path) -> None:
    changes = {
        f"{VISITS}.diagnosis": {"role": "sensitive", "acknowledge_unique": True},
    }
    release = hospital.run(hospital.policy(database.parent, changes), database)
    told = [said.split(": ")[0] for said in release.warnings if "left out" not in said]
    assert told == [
        "tables.patients.columns.died",
        "tables.visits.columns.diagnosis",
        "tables.visits.columns.diagnosis",
    ]
    (joined,) = (one for one in release.manifest.data["known_attacks"] if "joining" in one)
    assert joined.startswith("joining: visits.diagnosis is published as it is")
