"""Columns that tell persons apart: refused, or said to be what two releases are joined by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import GuaranteeError, SourceError
from tests.runs import policy, run
from tests.selection import some

PATIENTS = {"patient_id": "keep", "age": "quasi", "sex": "quasi", "mrn": "drop"}
VISITS = {"visit_id": "drop", "patient_id": "keep", "age": "quasi", "ward": "quasi", "cost": "drop"}


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    """Sixty patients, and four visits of each."""
    path = tmp_path / "hospital.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(
            "create table patients as select i as patient_id, 20 + i % 12 as age,"
            " ['f', 'm'][1 + i % 2] as sex, 'M' || i as mrn from range(60) r(i)"
        )
        connection.execute(
            "create table visits as select v as visit_id, v % 60 as patient_id,"
            " 40 + v * 7 % 11 as age,"
            " 'ward' || v % 3 as ward, v * 1.5 as cost from range(240) r(v)"
        )
    return path


def given(folder: Path, table: str, columns: dict[str, Any], **rest: Any) -> Any:
    publish = {"database": f"{table}.duckdb"}
    return policy(folder, columns, k=4, source={"table": table}, publish=publish, **rest)


@some(1, 6)
@pytest.mark.parametrize(
    ("column", "refused"),
    [
        ("mrn", True),  # one value for all rows of a person
        ("visit", True),  # one value per row
        ("sometimes", True),  # half of the persons have none
        ("few", False),  # values of many
        ("shared", False),  # of two persons each
        ("none", False),  # nobody has a value
    ],
)
@pytest.mark.parametrize("role", ["keep", "sensitive"])
def test_values_of_one_person_each_are_refused(
    tmp_path: Path, column: str, role: str, refused: bool
) -> None:
    """With `person`, several rows are one: what repeats with the person names it all the same."""
    path = tmp_path / "source.duckdb"
    values = {
        "mrn": "'M' || p",
        "visit": "'V' || i",
        "sometimes": "case when p % 2 = 0 then 'M' || p end",
        "few": "'F' || p % 5",
        "shared": "'S' || p // 2",
        "none": "null::varchar",
    }
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(
            f"create table people as select p as patient, 20 + p % 4 as age, {values[column]} as c"
            " from (select i, i % 40 as p from range(160) r(i))"
        )
    columns = {"patient": "drop", "age": "quasi", "c": {"role": role}}
    asked = policy(tmp_path, columns, k=4, person="patient")
    if not refused:
        assert run(asked, path).verification.passed
        return
    with pytest.raises(SourceError, match="belongs to one person") as raised:
        run(asked, path)
    assert "can be joined" in str(raised.value)
    assert "M1" not in str(raised.value)
    columns["c"] = {"role": role, "acknowledge_unique": True}
    release = run(policy(tmp_path, columns, k=4, person="patient"), path)
    assert any("joins the two person by person" in said for said in release.warnings)


def test_a_repeating_key_that_is_published_is_told(hospital: Path, tmp_path: Path) -> None:
    release = run(given(tmp_path, "visits", VISITS), hospital)
    (told,) = [w for w in release.warnings if "`person: patient_id`" in w]
    assert "published as it is" in told


@some(0)
@pytest.mark.parametrize("first", ["patients", "visits"])
def test_two_tables_that_keep_a_key_are_not_released_without_a_word(
    hospital: Path, tmp_path: Path, first: str
) -> None:
    """Each holds by itself; joined on the key, everybody stands alone."""
    kept = {"role": "keep", "acknowledge_unique": True}
    ledger = {"ledger": "private/ledger.duckdb"}
    (tmp_path / "private").mkdir()
    tables = {"patients": PATIENTS, "visits": VISITS}
    second = "visits" if first == "patients" else "patients"
    of_first = {**tables[first]} | ({"patient_id": kept} if first == "patients" else {})
    run(given(tmp_path, first, of_first, **ledger), hospital, seed=1)
    kinds = (SourceError, GuaranteeError)
    with pytest.raises(kinds) as raised:
        run(given(tmp_path, second, tables[second], **ledger), hospital, seed=2)
    assert "joined" in str(raised.value)
    assert not (tmp_path / f"{second}.duckdb").exists()
    # acknowledged in both, the join itself is looked at
    acknowledged = {**tables[second], "patient_id": kept}
    with pytest.raises(GuaranteeError) as told:
        run(given(tmp_path, second, acknowledged, **ledger), hospital, seed=3)
    (problem,) = told.value.problems
    assert problem.path == "columns.patient_id"
    assert not (tmp_path / f"{second}.duckdb").exists()
    # the figures are those of the join, which nothing stops without the ledger
    release = run(given(tmp_path, second, acknowledged), hospital, seed=4)
    assert any("joins the two person by person" in said for said in release.warnings)
    left = left_by_a_join(tmp_path)
    below = sum(n < 4 for n in left)
    said = f"{below} of {len(left)} persons who are in both are left with fewer than 4 candidates"
    assert below > 0
    assert f"joined on it, {said} (fewest: {min(left)})" in problem.message
    assert "tables:" in (problem.hint or "")


def left_by_a_join(folder: Path) -> list[int]:
    """Of the classes of both releases, joined on the key: how many persons share the two."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for table in ("patients", "visits"):
            connection.execute(f"attach '{folder}/{table}.duckdb' as {table} (read_only)")
        rows = connection.execute(
            "with pairs as (select distinct patient_id, p.class_id as one, v.class_id as other from"
            " patients.patients_anonymous p join visits.visits_anonymous v using (patient_id)),"
            " sizes as (select one, other, count(*) as n from pairs group by all)"
            " select min(n) from pairs join sizes using (one, other) group by patient_id"
        ).fetchall()
    return [n for (n,) in rows]


@pytest.mark.slow
def test_a_join_that_leaves_k_persons_is_for_the_user_to_allow(
    hospital: Path, tmp_path: Path
) -> None:
    """One class for all visits tells nothing beside the patients' own classes."""
    (tmp_path / "private").mkdir()
    kept = {"role": "keep", "acknowledge_unique": True}
    ledger = {"ledger": "private/ledger.duckdb"}
    patients, visits = {**PATIENTS, "patient_id": kept}, {**VISITS, "patient_id": kept}
    run(given(tmp_path, "patients", patients, **ledger), hospital, seed=1)
    with duckdb.connect(str(hospital)) as connection:
        connection.execute("update visits set ward = 'ward'")
    release = run(given(tmp_path, "visits", {**visits, "age": "drop"}, **ledger), hospital, seed=2)
    assert any("joins the two person by person" in said for said in release.warnings)
