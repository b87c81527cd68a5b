"""`init` without a table: one draft for a database, its persons, keys, links and roles."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import SchemaPolicy, run
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.errors import AnonymizerError, SourceError
from anonymizer.policy.model import load_policy
from anonymizer.review.draft.schema_draft import TablesDraft, draft_tables
from anonymizer.review.draft.table_draft import draft
from anonymizer.review.preview import preview
from tests.draft.test_any_table import TYPES

PATIENTS = """select i as patient_id, 'Name ' || i as name,
    date '1940-01-01' + (i * 37 % 20000)::int as birth_date, ['f', 'm'][1 + i % 2] as sex,
    printf('%05d', 10000 + i % 20) as zip
    from range(200) r(i)"""
VISITS = """select i as visit_id, i * 7 % 200 as patient_id, date '2024-01-01' + (i * 31 % 60)::int
    as day, ['east', 'west', 'north'][1 + i % 3] as ward, 'E' || (10 + i * 13 % 30) as icd,
    ['flu', 'cold', 'hiv'][1 + i // 5 % 3] as diagnosis, (i * 17 % 97) / 10.0 as cost,
    'Seen ' || i || repeat(' by somebody', 5) as notes from range(400) r(i)"""
LABS = """select i * 3 % 400 as visit_id, ['HB', 'CRP', 'TSH'][1 + i % 3] as test,
    (i * 29 % 977) / 10.0 as value from range(500) r(i)"""
WARDS = "select i as ward_no, 'Ward ' || i as ward_name from range(8) r(i)"
DECLARED = {
    "patients": "patient_id integer primary key, name varchar, birth_date date, sex varchar,"
    " zip varchar",
    "visits": "visit_id integer primary key, patient_id integer references patients(patient_id),"
    " day date, ward varchar, icd varchar, diagnosis varchar, cost decimal(10, 1), notes varchar",
    "labs": "visit_id integer references visits(visit_id), test varchar, value decimal(10, 1)",
}
HOSPITAL = {"patients": PATIENTS, "visits": VISITS, "labs": LABS}
SMALL = {
    "patients": "select i as patient_id, 20 + i % 50 as age from range(100) r(i)",
    "visits": "select i * 7 % 100 as patient_id, i % 3 as ward from range(200) r(i)",
}


def filled(path: Path, tables: dict[str, str], declared: dict[str, str] | None = None) -> Path:
    """A database with these tables."""
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        for name, query in tables.items():
            if declared is None:
                connection.execute(f"create table {name} as {query}")
            else:
                connection.execute(f"create table {name} ({declared[name]})")
                connection.execute(f"insert into {name} {query}")
    return path


def drafted(folder: Path, **tables: str) -> TablesDraft:
    """The draft for a database, which loads."""
    made = draft_tables(filled(folder / "source.duckdb", tables), base=folder)
    (folder / "policy.yml").write_text(made.text, encoding="utf-8")
    policy = load_policy(folder / "policy.yml")
    assert isinstance(policy, SchemaPolicy)
    assert policy.person == made.person
    assert set(policy.tables) == set(made.guesses)
    return made


def published(folder: Path) -> None:
    """Run the draft as it is."""
    release = run(load_policy(folder / "policy.yml"), folder / "source.duckdb")
    assert release.verification.passed


def roles(made: TablesDraft, table: str) -> dict[str, str]:
    return {name: guess.role for name, guess in made.guesses[table].items()}


def test_a_hospital_with_and_without_declared_keys(tmp_path: Path) -> None:
    found = [
        draft_tables(filled(tmp_path / f"{name}.duckdb", HOSPITAL, declared), base=tmp_path)
        for name, declared in (("declared", DECLARED), ("bare", None))
    ]
    for made in found:
        assert made.person == "patients"
        assert made.links == {
            "visits": ("patient_id", "patients"),
            "labs": ("visit_id", "visits"),
        }
        assert made.keys == {"patients": "patient_id", "visits": "visit_id", "labs": None}
        assert made.left_out == {}
    declared, bare = found
    assert declared.text.count("# declared") == 4
    assert "declared" not in bare.text
    assert [roles(declared, t) for t in HOSPITAL] == [roles(bare, t) for t in HOSPITAL]
    assert roles(bare, "patients") == {
        "patient_id": "key",
        "name": "identifier",
        "birth_date": "quasi",
        "sex": "quasi",
        "zip": "quasi",
    }
    assert roles(bare, "visits") == {
        "visit_id": "key",
        "patient_id": "key",
        "day": "drop",  # (known with the ward, it would cost both)
        "ward": "event",
        "icd": "event",
        "diagnosis": "sensitive",
        "cost": "sensitive",
        "notes": "identifier",
    }
    assert "a date, which would cost the other events most of their cells" in bare.text
    assert "icd:        {role: event, hierarchy: {builder: prefix}}" in bare.text
    assert "diagnosis:  {role: sensitive, protect: {l_diversity: 2}}" in bare.text
    assert "privacy: {k_anonymity: 5, knows: {events: 1}}" in bare.text
    for value in ("Name ", "1940", "10001", "east", "flu", "E10", "CRP", "Seen"):
        assert value not in bare.text, "no value of a table is shown"


@pytest.mark.slow
def test_the_draft_of_a_hospital_runs_as_it_is(tmp_path: Path) -> None:
    drafted(tmp_path, **HOSPITAL, wards=WARDS)
    published(tmp_path)
    assert (tmp_path / "source_release.duckdb").exists()


@pytest.mark.slow
def test_persons_and_their_conditions(tmp_path: Path, data_folder: Path) -> None:
    sample = "where md5_number_lower(household_id) % 50 = 0"
    made = drafted(
        tmp_path,
        conditions=f"from '{data_folder}/informs_conditions.parquet' {sample}",
        persons=f"from '{data_folder}/informs_persons.parquet' {sample}",
    )
    assert made.person == "persons"
    assert made.links == {"conditions": ("person_id", "persons")}
    assert roles(made, "conditions") == {
        "household_id": "identifier",
        "person_id": "key",
        "icd9_code": "event",
        "year": "drop",
    }
    assert "icd9_code:    {role: event, hierarchy: {builder: prefix}}" in made.text
    published(tmp_path)


def test_a_star_with_two_fact_tables(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        dim_customer="select i as customer_key, 'C' || i || '@mail.example' as email, 1950 + i % 50"
        " as birth_year, ['f', 'm'][1 + i % 2] as gender from range(300) r(i)",
        dim_product="select i as product_key, 'Product ' || i as title from range(40) r(i)",
        fact_sales="select i * 7 % 300 as customer_key, i % 40 as product_key, date '2024-01-01'"
        " + (i % 30)::int as day, (i % 97) / 8 as amount from range(900) r(i)",
        fact_returns="select i * 11 % 300 as customer_key, i % 40 as product_key,"
        " ['late', 'broken'][1 + i % 2] as reason from range(400) r(i)",
    )
    assert made.person == "dim_customer"
    assert made.links == {
        "fact_returns": ("customer_key", "dim_customer"),
        "fact_sales": ("customer_key", "dim_customer"),
    }
    assert roles(made, "fact_sales") == {
        "customer_key": "key",
        "product_key": "drop",
        "day": "event",
        "amount": "sensitive",
    }
    assert "holds keys of dim_product, which reaches no person; role: event, if known" in made.text
    assert list(made.left_out) == ["dim_product"]
    assert "# Left out: dim_product reaches no person: fact_" in made.text


def test_tables_that_reach_nobody_are_left_out(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        **HOSPITAL,
        nothing="select 1 as patient_id where false",
        beds="select i as bed_no, i % 3 as room from range(50) r(i)",
        bed_checks="select i % 50 as bed_no, date '2024-01-01' + i::int as day from range(90) r(i)",
        letters="select i * 3 % 205 as patient_id, i % 4 as pages from range(300) r(i)",
    )
    assert set(made.guesses) == {*HOSPITAL, "letters"}
    assert made.left_out["nothing"] == "has no rows"
    assert "no column holds keys of a table above" in made.left_out["beds"]
    assert "if its rows tell of no person" in made.left_out["beds"]
    assert "it leads to beds, which is left out" in made.left_out["bed_checks"]
    assert made.orphans == {"letters": "5 of 205 values of patient_id are no key of patients"}
    assert "    orphans: drop   # 5 of 205 values of patient_id are no key of patients" in made.text
    published(tmp_path)


def test_a_few_rows_without_a_key_take_no_table_along(tmp_path: Path) -> None:
    """Rows of visits, and the labs behind them, stay: only what reaches nobody is left out."""
    made = drafted(
        tmp_path,
        patients=PATIENTS,
        visits=VISITS.replace(
            "i * 7 % 200 as", "case i when 3 then 999 when 4 then null else i * 7 % 200 end as"
        ),
        labs=LABS.replace("i * 3 % 400 as", "case i when 8 then 777 else i * 3 % 400 end as"),
    )
    assert made.links == {"visits": ("patient_id", "patients"), "labs": ("visit_id", "visits")}
    assert "1 row has no patient_id" in made.orphans["visits"]
    assert "1 of " in made.orphans["labs"]
    assert not made.left_out
    published(tmp_path)


@pytest.mark.slow
def test_rows_hang_on_the_finest_table_that_they_have_a_key_of(tmp_path: Path) -> None:
    agreeing = "select v.visit_id, v.patient_id, i % 5 as grade from range(300) r(i)"
    agreeing += f" join ({VISITS}) v on v.visit_id = i"
    made = drafted(
        tmp_path,
        patients=PATIENTS,
        visits=VISITS,
        results=agreeing,
        others="select i % 400 as visit_id, i % 200 as patient_id, i % 5 as grade"
        " from range(300) r(i)",
        gaps="select case when i % 2 = 0 then i end as visit_id, i * 7 % 200 as patient_id"
        " from range(300) r(i)",
        calls="select case when i % 9 > 0 then i % 200 end as patient_id, i % 5 as grade"
        " from range(300) r(i)",
    )
    assert made.links["results"] == ("visit_id", "visits")
    assert roles(made, "results")["patient_id"] == "drop"
    assert "leads to patients as well: rows reach their person by visit_id" in made.text
    assert made.links["others"] == ("patient_id", "patients")
    assert "to another person than patient_id" in made.guesses["others"]["visit_id"].reason
    assert made.links["gaps"] == ("patient_id", "patients")
    assert "    orphans: drop   # 34 rows have no patient_id" in made.text
    published(tmp_path)


def test_persons_are_not_their_households_nor_their_details(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        households="select i as household_id, i % 7 as region from range(100) r(i)",
        persons="select i as person_id, i % 100 as household_id, (i + 1) % 300 as partner_id,"
        " 20 + i % 60 as age, i % 2 as sex from range(300) r(i)",
        person_details="select i as person_id, i % 4 as education from range(300) r(i)",
        illnesses="select i % 300 as person_id, 'A' || i % 30 as code from range(900) r(i)",
    )
    assert made.person == "persons"
    assert set(made.guesses) == {"persons", "person_details", "illnesses"}
    assert set(made.links.values()) == {("person_id", "persons")}
    assert made.keys == {"persons": "person_id", "person_details": None, "illnesses": None}
    assert roles(made, "persons")["household_id"] == "drop"
    assert "holds keys of households, which has no row per person" in made.text
    assert "persons.household_id holds its keys" in made.left_out["households"]


@pytest.mark.slow
def test_keys_and_columns_under_other_names(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        customers="select i as id, 20 + i % 50 as age, ['f', 'm'][1 + i % 2] as sex"
        " from range(300) r(i)",
        **{
            '"My orders"': "select 'o' || i as order_no, i % 300 as cust_id, i % 9 as size"
            " from range(600) r(i)",
            '"items\nof\\ orders"': 'select \'o\' || i % 600 as "MyOrderNo", i % 5 as "a ""b"'
            " from range(900) r(i)",
            "refunds": "select i % 300 as fk_customer, i % 3 as reason from range(400) r(i)",
            "notices": "select i % 300 as sent_to_customer_id, i % 3 as kind from range(400) r(i)",
        },
    )
    assert made.links == {
        "My orders": ("cust_id", "customers"),
        "items\nof\\ orders": ("MyOrderNo", "My orders"),
        "refunds": ("fk_customer", "customers"),
        "notices": ("sent_to_customer_id", "customers"),
    }
    published(tmp_path)


EMPLOYEES = """select 1000 + i as employee_id, case when i > 0 then 1000 + i // 8 end as manager_id,
    'E' || (7 * i % 300) as code, 'E' || (i // 30) as answers_to, 20 + i % 45 as age,
    i % 7 as department_id, i % 9 as team_no from range(300) r(i)"""


def test_keys_of_other_persons_tell_who_they_are(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        employees=EMPLOYEES,
        leaves="select i * 7 % 300 + 1000 as employee_id, i * 11 % 300 + 1000 as approved_by,"
        " i % 5 as days from range(600) r(i)",
    )
    assert roles(made, "employees") == {
        "employee_id": "key",
        "manager_id": "identifier",
        "code": "identifier",
        "answers_to": "quasi",
        "age": "quasi",
        "department_id": "quasi",
        "team_no": "quasi",
    }
    assert roles(made, "leaves") == {
        "employee_id": "key",
        "approved_by": "identifier",
        "days": "event",
    }
    said = "all its values are keys of employees; it tells who another person is"
    assert made.guesses["leaves"]["approved_by"].reason == said


def test_a_declared_link_to_another_person_tells_who_it_is(tmp_path: Path) -> None:
    declared = "employee_id integer primary key, head integer references employees(employee_id)"
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(f"create table employees ({declared}, age integer)")
        for head, some in (("null", "0, 30"), ("i // 10", "30, 300")):
            rows = f"select i, {head}, 20 + i % 45 from range({some}) r(i)"
            connection.execute(f"insert into employees {rows}")
        leaves = "select i % 300 as employee_id, i % 3 as days from range(400) r(i)"
        connection.execute(f"create table leaves as {leaves}")
    made = draft_tables(path, base=tmp_path).guesses["employees"]["head"]
    assert (made.role, made.reason) == (
        "identifier",
        "holds keys of employees; it tells who another person is",
    )


def test_keys_of_other_rows_of_one_table(tmp_path: Path) -> None:
    path = filled(tmp_path / "source.duckdb", {"staff": EMPLOYEES})
    made = draft("staff", str(path), base=tmp_path)
    assert made.guesses["manager_id"].role == "identifier"
    assert made.guesses["department_id"].role == "quasi"
    assert "# person:" not in made.text, "a manager's rows are not those of one person"
    by_code = EMPLOYEES.replace("1000 + i as employee_id, ", "").replace("as code", "as staff_id")
    path = filled(tmp_path / "other.duckdb", {"staff": by_code})
    made = draft("staff", str(path), base=tmp_path)
    said = "all its values are keys of this table; it tells who another person is"
    assert made.guesses["answers_to"].reason == said


PERSONS = "create table patients (id int primary key, birth_date date, sex varchar);"
VISITED = "create table visits (id int, nr int, ward varchar, primary key (id, nr));"
TESTED = """create table labs (patient int, "visit no" int, test varchar,
    foreign key (patient, "visit no") references visits (id, nr));"""


def test_links_of_several_columns_are_told(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute(PERSONS + VISITED.replace("(id int,", "(patient_id int, id int,"))
        connection.execute(TESTED)
        connection.execute("insert into patients select i, date '1950-01-01' + i::int, 'f'"
                           " from range(100) r(i)")  # fmt: skip
        connection.execute("insert into visits select i, i, 0, 'w' || i % 3 from range(100) r(i)")
        connection.execute("insert into labs select i, 0, 't' || i % 3 from range(100) r(i)")
    made = draft_tables(tmp_path / "source.duckdb", base=tmp_path)
    told = (
        "(patient, visit no) is declared as a key of visits (id, nr), and a policy links by one"
        " column"
    )
    cure = "make one column of them in source.query of both tables, patient || '-' || \"visit no\""
    assert set(made.guesses) == {"patients", "visits", "labs"}
    assert made.not_linked["labs"].startswith(f"{told}; {cure}")
    assert f"    # Not linked: {told}.\n    # For a link, {cure}" in made.text
    assert made.as_dict()["not_linked"] == made.not_linked
    with duckdb.connect(str(tmp_path / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute("drop table labs")
        connection.execute(TESTED.replace("patient", "whose").replace("visit no", "which"))
        connection.execute("insert into labs select i, 0, 't' || i % 3 from range(20, 99) r(i)")
    made = draft_tables(tmp_path / "source.duckdb", base=tmp_path)
    said = told.replace("patient", "whose").replace("visit no", "which")
    assert made.left_out["labs"].startswith(f"reaches no person: {said}")


def test_persons_with_a_key_of_two_columns_are_told(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "source.duckdb"), config={"threads": 1}) as connection:
        connection.execute(VISITED + TESTED)
        connection.execute("insert into visits select i % 9, i, 'w' from range(100) r(i)")
        connection.execute("insert into labs select i % 9, i, 't' from range(100) r(i)")
    with pytest.raises(SourceError) as refused:
        draft_tables(tmp_path / "source.duckdb", base=tmp_path)
    (problem,) = refused.value.problems
    assert "in labs, (patient, visit no) is declared as a key of visits (id, nr)" in problem.message
    assert str(problem.hint).startswith("add such a column to both tables")


def test_doctors_are_no_patients(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        patients=PATIENTS,
        doctors="select i as doctor_id, 1960 + i % 30 as birth_year, i % 2 as sex"
        " from range(20) r(i)",
        visits="select i as visit_id, i % 200 as patient_id, i % 20 as doctor_id,"
        " i % 20 as referring_doctor_id from range(900) r(i)",
        notes="select i as visit_id, 'Text ' || i as text from range(300) r(i)",
        shifts="select i % 20 as doctor_id, i % 3 as ward from range(200) r(i)",
        holidays="select i % 20 as doctor_id, i % 3 as weeks from range(200) r(i)",
    )
    assert made.person == "patients"
    assert "# doctors looks like a table of persons too" in made.text
    assert roles(made, "visits") == {
        "visit_id": "key",
        "patient_id": "key",
        "doctor_id": "drop",
        "referring_doctor_id": "drop",
    }
    assert "knows" not in made.text, "there is no event"
    assert set(made.left_out) == {"doctors", "shifts", "holidays"}


def test_rows_of_persons_that_tell_their_sex_are_no_persons(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        people="select i as pid, 'Name ' || i as name from range(300) r(i)",
        visits="select i as visit_id, i * 3 % 300 as pid, i % 2 as sex from range(90) r(i)",
        labs="select i % 90 as visit_id, i % 3 as test from range(200) r(i)",
        letters="select i * 3 as pid, i % 3 as pages from range(20) r(i)",
    )
    assert made.person == "people"
    assert list(made.links) == ["letters", "visits", "labs"]
    assert made.links["letters"] == ("pid", "people")
    assert "looks like a table of persons too" not in made.text


def test_tables_of_one_name_in_two_schemas(tmp_path: Path) -> None:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        for schema in ("north", "south"):
            connection.execute(f"create schema {schema}")
            connection.execute(f"create table {schema}.visits as {VISITS}")
        connection.execute(f"create table south.patients as {PATIENTS}")
        connection.execute("create table main.patients_manifest as select 1 as one")
    made = draft_tables(path, base=tmp_path)
    assert set(made.guesses) == {"patients", "north_visits", "south_visits"}
    assert "source: {table: north.visits}" in made.text
    assert set(made.left_out) == {"patients_manifest_2"}


def test_what_the_tool_made_is_no_source(tmp_path: Path) -> None:
    path = filled(tmp_path / "source.duckdb", SMALL)
    first = draft_tables(path, base=tmp_path)
    here = first.text.replace("database: source_release.duckdb", "schema: published")
    assert here != first.text
    run(anonymizer.Policy.loads(here, tmp_path), path)
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute("create view seen as from visits")
        connection.execute("create temp table passing as from visits")
        made = anonymizer.init(database=connection)
        assert isinstance(made, TablesDraft)
    assert set(made.guesses) == set(SMALL)
    assert made.left_out == {}
    assert "# Left out: 1 views" in made.text


def test_frames_and_views_stand_for_tables(tmp_path: Path) -> None:
    path = filled(tmp_path / "source.duckdb", {f"raw_{k}": v for k, v in SMALL.items()})
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute(f"attach '{path}' as elsewhere (read_only)")
        for name in SMALL:
            connection.register(name, connection.sql(f"from elsewhere.raw_{name}").df())
        made = anonymizer.init(database=connection, base=tmp_path)
        assert isinstance(made, TablesDraft)
        assert "source: {table: patients}" in made.text
        assert list(made.links) == ["visits"]
        assert run(anonymizer.Policy.loads(made.text, tmp_path), connection).verification.passed


def test_statements_do_not_grow_with_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    raw = DuckDBEngine.raw

    def counted(self: DuckDBEngine, text: str, *given: object, **more: object) -> object:
        asked.append(text)
        return raw(self, text, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(DuckDBEngine, "raw", counted)
    numbers = []
    for times in (1, 10):
        tables = {
            "patients": PATIENTS.replace("range(200)", f"range({200 * times})"),
            "visits": VISITS.replace("range(400)", f"range({400 * times})"),
            "labs": LABS.replace("range(500)", f"range({500 * times})"),
        }
        path = filled(tmp_path / f"{times}.duckdb", tables)
        asked.clear()
        draft_tables(path, base=tmp_path)
        numbers.append(len(asked))
    assert numbers[0] == numbers[1]
    assert numbers[0] <= 4 + 5 * len(HOSPITAL)


@pytest.mark.slow
def test_columns_of_any_type(tmp_path: Path) -> None:
    # (of unique texts some stand in others as well, which no release may show)
    columns = ", ".join(
        f'{what} as "{name}"' for name, what in TYPES.items() if name != "unique texts"
    )
    made = drafted(
        tmp_path,
        patients="select i as patient_id, 20 + i % 50 as age, i % 3 as class_id"
        " from range(100) r(i)",
        things=f"select i as thing_id, i % 100 as patient_id, i % 7 as row_ref,"
        f" {TYPES['huge']} % 9 - 1000 as vast, {columns}"
        " from range(200) r(i)",
    )
    assert roles(made, "patients")["class_id"] == "drop"
    assert roles(made, "things")["row_ref"] == "drop"
    assert "columns are event: the more there are" in made.text
    published(tmp_path)


def test_persons_of_whom_nothing_is_known(tmp_path: Path) -> None:
    made = drafted(
        tmp_path,
        patients="select i as patient_id, 'Name ' || i as name from range(200) r(i)",
        visits="select i % 200 as patient_id, i % 3 as ward from range(400) r(i)",
    )
    assert "everybody: {role: quasi}   # added by the query" in made.text
    published(tmp_path)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({}, "has no tables"),
        ({"patients": PATIENTS}, "has one table with rows, patients, and no other one"),
        (
            {"patients": PATIENTS, "wards": WARDS},
            "has no table with a column that holds keys of patients, the persons",
        ),
        (
            {
                "customers": "select i % 99 as customer_id, 20 + i % 9 as age from range(100) r(i)",
                "orders": "select i % 99 as customer_id, i % 5 as n from range(400) r(i)",
            },
            "customer_id would be a key, but for 1 row of customers that repeat one or have none",
        ),
        (
            {"visits": VISITS, "labs": LABS},
            "has no table of persons: one row each, a key that columns of other tables hold",
        ),
        (
            {
                "visits": VISITS.replace("as ward", "as sex").replace(
                    "as diagnosis", "as religion"
                ),
                "labs": LABS,
            },
            "has no table of persons",
        ),
    ],
)
def test_what_is_missing_is_told(tables: dict[str, str], said: str, tmp_path: Path) -> None:
    path = filled(tmp_path / "source.duckdb", tables)
    with pytest.raises(SourceError) as refused:
        draft_tables(path)
    (problem,) = refused.value.problems
    assert said in problem.message
    assert "anonymizer init" in str(problem.hint)


def test_files_are_tables(tmp_path: Path) -> None:
    """Several files are drafted together, each read as it is meant, and the draft runs."""
    persons = "\n".join(
        f"{i};{date(1950 + i % 40, 1 + i % 12, 1 + i % 28):%d.%m.%Y};{'MF'[i % 2]}"
        for i in range(300)
    )
    (tmp_path / "persons.csv").write_text(f"patient_id;birth_date;sex\n{persons}\n", "utf-8")
    visits = "\n".join(f"{i * 7 % 300}\t{['east', 'west'][i % 2]}" for i in range(600))
    (tmp_path / "visits.tsv").write_text(f"patient_id\tward\n{visits}\n", "utf-8")
    files = [str(tmp_path / name) for name in ("persons.csv", "visits.tsv")]
    (tmp_path / "policy.yml").write_text(draft_tables(tables=files, base=tmp_path).text, "utf-8")
    loaded = load_policy(tmp_path / "policy.yml")
    assert isinstance(loaded, SchemaPolicy)
    read = loaded.tables["persons"].source.read
    assert read is not None
    assert read.dates is not None
    assert dict(loaded.tables["visits"].links) == {"patient_id": "persons"}
    seen = preview(loaded, None).forecast
    assert seen is not None
    release = run(loaded)
    assert release.verification.passed
    assert seen.loss == pytest.approx(release.measures["ncp"], abs=0.05)
    assert set(seen.others) == {"visits"}


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["persons.csv", "visits"], "visits is not a data file, and the others are"),
        (["persons.csv", "no.csv", "other.csv"], "there is no file other.csv"),
        (["persons.csv", "broken.csv"], "broken.csv: a CSV file cannot be read"),
        (["persons.csv", "persons.csv"], "has one table with rows, persons"),
    ],
)
def test_files_that_are_no_tables(
    names: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("persons.csv").write_text("patient_id,sex\n1,F\n2,M\n", "utf-8")
    Path("broken.csv").write_text('a;b\n"1;2\n', "utf-8")
    with pytest.raises(AnonymizerError) as error:
        draft_tables(tables=names)
    assert said in str(error.value)
    assert all(one.path == "TABLE" for one in error.value.problems)


def test_some_tables_of_a_database(tmp_path: Path) -> None:
    path = filled(tmp_path / "source.duckdb", {**HOSPITAL, "wards": WARDS})
    made = draft_tables(path, tables=["visits", "patients"], base=tmp_path)
    assert set(made.guesses) == {"patients", "visits"}
    assert not made.left_out


def test_codes_without_an_order_are_categories(tmp_path: Path) -> None:
    """Between two codes of a marital status lies nothing, between two ages do."""
    tables = {
        "patients": "select i as patient_id, 20 + i % 50 as age, (1 + i % 2)::int as sex,"
        " (1 + i % 5)::int as marital_status from range(100) r(i)",
        "visits": "select i * 7 % 100 as patient_id, (1 + i % 3)::int as country"
        " from range(200) r(i)",
    }
    made = drafted(tmp_path, **tables)
    assert made.text.count("kind: categorical") == 3
    assert "age:            {role: quasi}" in made.text
    alone = draft("patients", tmp_path / "source.duckdb", base=tmp_path)
    assert alone.text.count("kind: categorical") == 2
