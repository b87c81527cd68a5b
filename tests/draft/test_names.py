"""No draft publishes names of persons, whatever a column is called, and a run tells of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import run
from anonymizer.errors import SourceError
from anonymizer.explore.desk import desk_input
from anonymizer.policy.model import load_policy
from anonymizer.review.draft.guess import frequent_names
from anonymizer.review.draft.schema_draft import draft_tables
from anonymizer.review.draft.table_draft import draft
from anonymizer.source.column_names import names_people
from tests.draft.rosters import FIRST, LAST, SYNTHEA, make, rosters
from tests.runs import policy, source
from tests.selection import some

HIDDEN = ("identifier", "drop")
OF_PATIENTS = {"FIRST", "LAST", "MAIDEN", "SSN", "DRIVERS", "PASSPORT", "ADDRESS"}
NAMES = """first FIRST LAST fname lname given family_name prenom nom nombre apellido Vorname
    Nachname nome cognome sobrenome voornaam achternaam imię nazwisko förnamn efternamn adı
    soyadı ad_soyad
    maiden middle middle_name nickname mothers_maiden_name mother_name spouse_name patientName
    PATIENT_FIRST nom_de_famille nom_patient nom_naissance NomMere doctor_name hasta_adi имя 姓名
    Фамилия given_names name.family pat_first_nm cust_nm Kundenname patientname Geburtsname
    nombre_paciente nome_mae first_author employee_name full_name display_name apellido_paterno
    apellido1 primer_apellido preferred_name alias motherFirstName spousefirstname name_last jméno
    příjmení etternavn sukunimi Name mid_init""".split()  # noqa: SIM905
OTHERS = """drug_name nom_commune first_visit city_name school_name team_name nombre_producto
    given_dose last_visit first_diagnosis last_seen family_size household_family_status
    birth_place_name product ward event_name middle_school title ad_type department_name
    file_name name_of_drug nom_produit job""".split()  # noqa: SIM905


def test_columns_that_are_named_like_names() -> None:
    assert [name for name in NAMES if not names_people(name)] == []
    assert [name for name in OTHERS if names_people(name)] == []


@some(4)
@pytest.mark.parametrize("table", [name for name in rosters() if name not in SYNTHEA])
def test_no_draft_publishes_a_name(table: str, tmp_path: Path) -> None:
    path = make(tmp_path / "t.duckdb", table)
    named = rosters()[table].get("names", [])
    found = draft(table, str(path), base=tmp_path)
    assert {name: found.guesses[name].role for name in named if
            found.guesses[name].role not in HIDDEN} == {}  # fmt: skip
    wrong = {
        c
        for c, guess in found.guesses.items()
        if "hold" in guess.reason and "names" in guess.reason
    } - {*named}
    assert not wrong
    (tmp_path / "policy.yml").write_text(found.text, encoding="utf-8")
    release = run(load_policy(tmp_path / "policy.yml"), path)
    cells = {str(cell) for column in release.df().to_dict("list").values() for cell in column}
    people = {*FIRST.split(), *LAST.split()}
    assert not [name for name in people for cell in cells if name.lower() in cell.lower().split()]
    assert not [said for said in release.warnings if "holds names" in said]


@pytest.mark.slow
def test_no_draft_of_several_tables_publishes_a_name(tmp_path: Path) -> None:
    path = make(tmp_path / "t.duckdb", *SYNTHEA)
    found = draft_tables(path, base=tmp_path)
    for name in OF_PATIENTS:
        assert found.guesses["patients"][name].role == "identifier"
    assert found.guesses["encounters"]["PROVIDER"].role == "identifier"
    roles = {name: guess.role for name, guess in found.guesses["patients"].items()}
    for name in ("BIRTHDATE", "PREFIX", "MARITAL", "ETHNICITY", "GENDER", "BIRTHPLACE", "ZIP"):
        assert roles[name] == "quasi"
    assert roles["HEALTHCARE_EXPENSES"] == "sensitive"
    assert found.guesses["conditions"]["DESCRIPTION"].role == "event"


def test_names_in_columns_that_are_called_otherwise(tmp_path: Path) -> None:
    """Of any type of text, in any spelling, beside places that are called after persons."""
    first, last = FIRST.split(), LAST.split()
    counties = "Adams Clay Henry Jackson Lee Marion Scott Taylor Wayne Warren Allamakee Butler"
    made = {
        "a": f"{first}[1 + i % {len(first)}]",
        "b": f"upper({last}[1 + i % {len(last)}])",
        "c": f"{first}[1 + i % 40] || (100 + i) || ' ' || {last}[1 + i % 56]",
        "d": f"({first[:9]}[1 + i % 9])::enum{tuple(first[:9])}",
        "e": "['王伟', '李娜', '张敏', '刘洋', '陈杰', '杨静'][1 + i % 6]",
        "f": "['Иван Петров', 'Ольга Смирнова', 'Нина Ли'][1 + i % 3]",
        "county": f"{counties.split()}[1 + i % 12]",
        "eyes": "['brown', 'green', 'hazel', 'gray', 'black'][1 + i % 5]",
        "month": "['January', 'April', 'May', 'June', 'August'][1 + i % 5]",
        "ward": "'Ward ' || i % 8",
        "vessel": "'vessel' || chr(97 + (i % 25)::int) || chr(97 + (i % 9)::int)",
        "few": "['walks', 'stands', 'sits'][1 + i % 3]",
        "title": "'Xq' || chr(97 + (i % 26)::int) || 'vor Zz' || chr(97 + (i // 26 % 26)::int)"
        " || chr(97 + (i // 676)::int)",
    }
    columns = ", ".join(f"{text} as {name}" for name, text in made.items())
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        columns += ", i % 50 as age"
        connection.execute(f"create table t as select {columns} from range(900) r(i)")
    found = draft("t", str(tmp_path / "t.duckdb"), base=tmp_path).guesses
    assert {name: found[name].role for name in "abcdef"} == dict.fromkeys("abcdef", "identifier")
    for name in ("county", "eyes", "ward", "few"):
        assert found[name].role == "quasi", found[name]
    # (nearly every value is another one: no job, whatever the column is called)
    assert found["title"].role in {"drop", "identifier"}
    # (225 values in 900 rows, and nothing says what they are)
    assert found["vessel"].role == "drop"
    assert "225 different values in 900" in found["vessel"].reason


def test_a_file_of_names_only_gets_no_draft(tmp_path: Path) -> None:
    (tmp_path / "who.csv").write_text("prenom,x\n" + "\n".join(
        f"{first},{last}" for first, last in zip(FIRST.split(), LAST.split(), strict=False)
    ))  # fmt: skip
    with pytest.raises(SourceError, match="has no column with values that can be generalized"):
        draft(str(tmp_path / "who.csv"), base=tmp_path)


def test_the_page_drafts_the_same(tmp_path: Path) -> None:
    path = make(tmp_path / "t.duckdb", "compas")
    begun = desk_input("compas", str(path), str(tmp_path / "policy.yml"))
    assert {begun.policy.columns[name].role for name in ("name", "first", "last")} == {"identifier"}


TOLD = "a class may be a list of its members"
ROWS = [(f"person {i % 40}", f"city {i % 40}", f"K{i % 40}", "abc"[i % 3], 20 + i % 9)
        for i in range(400)]  # fmt: skip


@some(2)
@pytest.mark.parametrize(
    ("column", "place", "more", "told"),
    [
        ("remark", 0, {}, True),
        ("last_name", 3, {}, True),
        ("remark", 0, {"acknowledge": ["name"]}, False),
        ("remark", 0, {"hierarchy": {"builder": "prefix", "lengths": [2]}}, False),
        ("city", 1, {}, False),
        ("remark", 2, {}, False),  # a code
        ("remark", 3, {}, False),  # a category
    ],
)
def test_a_run_tells_of_a_column_that_lists_people(
    tmp_path: Path, column: str, place: int, more: dict[str, Any], told: bool
) -> None:
    database = source(tmp_path, {column: "VARCHAR", "age": "INTEGER"},
                      [(row[place], row[4]) for row in ROWS])  # fmt: skip
    given = policy(tmp_path, {column: {"role": "quasi", **more}, "age": "quasi"}, k=4)
    said = [warning for warning in run(given, database).warnings if TOLD in warning]
    assert bool(said) == told
    if told:
        assert (
            f"columns.{column}: is text with {40 if place == 0 else 3} different values" in said[0]
        )
        assert "acknowledge: [name]" in said[0]


def test_a_run_tells_of_events_that_list_people(tmp_path: Path) -> None:
    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table p as select i as id, i % 9 as age from range(90) r(i)")
        connection.execute("create table v as select i % 90 as id, 'seen by ' || i % 40 as x,"
                           " 'ward ' || i % 3 as ward from range(270) r(i)")  # fmt: skip
    text = """
version: 1
person: p
tables:
  p: {source: {table: p}, key: id, columns: {id: {role: key}, age: {role: quasi}}}
  v: {source: {table: v}, links: {id: p},
      columns: {id: {role: key}, x: {role: event}, ward: {role: event}}}
privacy: {k_anonymity: 5, knows: {events: 1}}
suppression_limit: 1.0
publish: {database: release.duckdb}
"""
    release = run(anonymizer.SchemaPolicy.loads(text, tmp_path), path)
    (said,) = [warning for warning in release.warnings if TOLD in warning]
    assert said.startswith("tables.v.columns.x: is text with 40 different values")


def test_the_lists_hold_names_in_many_letters() -> None:
    listed = frequent_names()
    assert {"anna", "smith", "иванова", "γεώργιος", "王", "佐藤"} <= {*listed}
    assert not [name for name in listed if name != name.lower() or name.startswith("#")]
