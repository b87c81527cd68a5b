"""The guesses of `anonymizer init`: who is a person, what is a category, what a flag."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.review.draft.table_draft import Draft, draft
from anonymizer.source.column_names import names_person
from tests.selection import some


def drafted(folder: Path, columns: str, rows: int = 2000) -> Draft:
    path = folder / "drafted.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(
            f"create table t as select {columns}, i % 60 as age from range({rows}) r(i)"
        )
    return draft("t", str(path))


@some(6)
@pytest.mark.parametrize(
    "name",
    [
        "patient",
        "patient_mrn",
        "mrn",
        "nhs_number",
        "ssn",
        "subject",
        "pat_id",
        "patientId",
        "patientid",
        "custno",
        "member",
        "user_no",
        "medical_record_number",
        "customer",
        "client",
        "employee",
        "insured",
        "email",
        "admission_subject_id",
    ],
)
def test_a_repeating_number_of_persons_is_named(tmp_path: Path, name: str) -> None:
    assert names_person(name)
    found = drafted(tmp_path, f"i as row_id, 'x' || (i // 3) as {name}")
    assert found.person == name
    assert found.guesses[name].role == "identifier"
    assert Policy.loads(found.text, tmp_path).person == name


@some(5)
@pytest.mark.parametrize(
    "name",
    [
        "zip",
        "zip_code",
        "ward",
        "ward_id",
        "patient_sex",
        "customer_segment",
        "member_since",
        "patient_visit_no",
        "doctor_id",
        "product_no",
        "charges",
    ],
)
def test_other_columns_tell_no_persons(tmp_path: Path, name: str) -> None:
    assert not names_person(name)
    found = drafted(tmp_path, f"i as row_id, 'x' || (i // 30) as {name}")
    assert found.person is None
    assert "person:" not in found.text


def test_the_table_of_the_page_on_releases_in_place(tmp_path: Path) -> None:
    found = drafted(tmp_path, "i as visit, 'patient ' || i // 2 as patient")
    assert {name: guess.role for name, guess in found.guesses.items()} == {
        "visit": "identifier",
        "patient": "identifier",
        "age": "quasi",
    }
    assert found.person == "patient"


def test_numbers_and_dates_that_are_text_are_told(tmp_path: Path) -> None:
    found = drafted(
        tmp_path,
        "replace((50 + i % 90 * 0.5)::varchar, '.', ',') as weight,"
        " case when i % 5 > 0 then '1.' || 100 + i % 700 || ',50' end as height,"
        " strftime(date '1990-01-01' + (i % 300)::integer, '%d.%m.%Y') as born,"
        " case i % 3 when 0 then '1/2/2020' when 1 then '2020-02-01' else 'n/a' end as admitted,"
        " printf('%05d', 10000 + i % 300) as zip, '10.' || i % 9 || '.0.1' as ward,"
        " 'E' || i % 90 || '.1' as residence, 50 + i % 90 * 0.5 as hours",
    )
    told = {
        name: guess.reason.partition("text, mostly ")[2].partition(":")[0]
        for name, guess in found.guesses.items()
    }
    assert {name: what for name, what in told.items() if what} == {
        "weight": "numbers",
        "height": "numbers",
        "born": "dates",
        "admitted": "dates",
    }
