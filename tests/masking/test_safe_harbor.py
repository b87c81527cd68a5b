"""Safe Harbor, 45 CFR 164.514(b)(2): drafted by hand, one identifier forgotten, each in turn."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import GuaranteeError, NothingToCheckError, PolicyError, SourceError
from anonymizer.independent import judge
from anonymizer.policy.safe_harbor import LETTERS, RESTRICTED, named_kinds, named_notes
from anonymizer.release.manifest import Manifest, parsed
from anonymizer.review.report import write_report
from anonymizer.verification.form import own_forms
from tests.forging import seal_again
from tests.selection import some

ROWS = 400
FIRST = datetime.now(UTC).year - 90
"""The year of birth of those who turn 90 this year."""
COLUMNS: dict[str, tuple[str, str, str]] = {
    "name": ("'Ada Lovelace ' || i", "A", "names"),
    "street": ("i || ' Elm Street'", "B", "geography"),
    "zip": ("lpad((i * 7919 % 99999)::varchar, 5, '0')", "B", "geography"),
    "birth_date": ("date '1915-03-04' + (i * 83 % 34000)::integer", "C", "birth"),
    "age": ("(i * 37) % 104", "C", "ages"),
    "admitted": ("timestamp '2021-05-06 07:08:09' + to_hours(i * 19)", "C", "dates"),
    "telephone": ("'+1 (617) 555-0' || lpad((i % 1000)::varchar, 3, '0')", "D", "telephone"),
    "fax": ("'+1 (617) 556-0' || lpad((i % 1000)::varchar, 3, '0')", "E", "fax"),
    "mail": ("'patient' || i || '@example.org'", "F", "mail"),
    "ssn": ("'123-' || (10 + i % 80) || '-' || (1000 + i)", "G", "ssn"),
    "mrn": ("7000000 + i * 13", "H", "medical_record"),
    "health_plan": ("'HP' || (880000 + i)", "I", "health_plan"),
    "account": ("990000 + i", "J", "account"),
    "licence": ("'DL-' || (5000 + i)", "K", "licence"),
    "vehicle_plate": ("'ABC ' || (1000 + i)", "L", "vehicle"),
    "device_serial": ("'PM-' || (2000 + i)", "M", "device"),
    "website": ("'https://example.org/~' || i", "N", "url"),
    "ip_address": ("'192.168.' || (i // 250) || '.' || (i % 250)", "O", "ip"),
    "fingerprint": ("md5(i::varchar)", "P", "biometric"),
    "photo": ("'face_' || i || '.jpg'", "Q", "photograph"),
    "study_code": ("'S-' || (i * 31)", "R", "other"),
}
"""The identifiers: an expression over the number of a row, the letter, and the kind."""
OTHERS = {
    "state": "case when i % 3 = 0 then 'MA' else 'NY' end",
    "sex": "case when i % 2 = 0 then 'f' else 'm' end",
    "diagnosis": "'E1' || (i % 9)",
    "cost": "round((i * 7919) % 300 * 1.5, 2)",
    "note": "'She lives next to the mayor and came with her brother number ' || (i % 30)",
}
FIT: dict[str, dict[str, Any]] = {
    "zip": {"role": "zip3"},
    "birth_date": {"role": "round", "to": "year", "bottom_code": f"{FIRST}-01-01"},
    "age": {"role": "top_code", "at": 90},
    "admitted": {"role": "round", "to": "year"},
    "telephone": {"role": "null"},
    "fax": {"role": "constant", "value": "removed"},
}
"""What is published; what is not listed is dropped."""


def passing() -> dict[str, dict[str, Any]]:
    """The columns of a policy that is done."""
    columns: dict[str, dict[str, Any]] = {}
    for name, (_, _, kind) in COLUMNS.items():
        columns[name] = {**FIT.get(name, {"role": "drop"}), "safe_harbor": kind}
    for name in OTHERS:
        columns[name] = {"role": "keep", "safe_harbor": "none"}
    columns["note"] = {"role": "drop", "safe_harbor": "none"}
    return columns


def policy(folder: Path, columns: Mapping[str, Any], **rest: Any) -> Policy:
    given = {
        "version": 1,
        "preset": "safe_harbor",
        "source": {"table": "visits"},
        "columns": columns,
        "publish": {"database": "release.duckdb", "name": "harbor"},
        **rest,
    }
    return Policy.model_validate(given, context={"base": folder})


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "clinic.duckdb"
    listed = {**{name: made for name, (made, _, _) in COLUMNS.items()}, **OTHERS}
    columns = ", ".join(f"{made} as {name}" for name, made in listed.items())
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"create table visits as select {columns} from range({ROWS}) r(i)")
    return path


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(folder / "release.duckdb"), read_only=True) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.slow
def test_what_is_done_passes(tmp_path: Path, source: Path) -> None:
    given = policy(tmp_path, passing())
    assert given.algorithm.name == "none"
    assert given.suppression_limit == 0
    release = anonymizer.run(given, source)
    assert release.kind == "pseudonymised"
    assert anonymizer.verify(given).passed
    assert anonymizer.verify(None, tmp_path / "release.duckdb").passed
    ((areas, oldest, early, days, phones, faxes),) = rows(
        tmp_path,
        "select count(*) filter (where not regexp_full_match(zip, '[0-9]{3}')), max(age),"
        " min(year(birth_date)), count(*) filter (where admitted <> date_trunc('year', admitted)),"
        " count(telephone), count(distinct fax) from harbor",
    )
    assert (areas, oldest, early, days, phones, faxes) == (0, 90, FIRST, 0, 0, 1)


@pytest.mark.slow
def test_the_report_lists_the_eighteen(tmp_path: Path, source: Path) -> None:
    given = policy(tmp_path, passing())
    release = anonymizer.run(given, source)
    listed = release.manifest.data["safe_harbor"]
    assert [one["letter"] for one in listed] == list("ABCDEFGHIJKLMNOPQR")
    held = {(one["letter"], of["column"]) for one in listed for of in one["columns"]}
    assert held == {(letter, name) for name, (_, letter, _) in COLUMNS.items()}
    for form in ("md", "html", "json"):
        write_report(given, tmp_path / f"report.{form}")
    markdown = (tmp_path / "report.md").read_text(encoding="utf-8")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    for letter, (says, _) in LETTERS.items():
        assert f"| {letter} | {says} | " in markdown
        assert f'<th scope="row">{letter}</th>' in html
    assert (
        f"birth_date: year only, {FIRST} and earlier as one; age: 90 and older as one" in markdown
    )
    assert "name: not published" in html
    data = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert len(data["safe_harbor"]) == 18
    said = release.manifest.data["certificate"]
    assert "Safe Harbor, 45 CFR 164.514(b)(2)(i)" in said
    assert "no actual knowledge" in said
    assert "complian" not in said


def test_what_is_not_in_the_table_is_told(tmp_path: Path, source: Path) -> None:
    columns = passing()
    columns["fax"] = {"role": "drop", "safe_harbor": "none"}
    listed = anonymizer.run(policy(tmp_path, columns), source).manifest.data["safe_harbor"]
    assert listed[4] == {
        "letter": "E",
        "identifier": "fax numbers",
        "columns": [],
        "done": "not in the table",
    }


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("how", ["left out", "stated none", "kept"])
def test_one_that_was_forgotten_is_refused(
    tmp_path: Path, source: Path, name: str, how: str
) -> None:
    """Kept without a word, kept as none of the eighteen, and kept as what it is."""
    columns = passing()
    columns[name] = {"role": "keep"}
    if how != "left out":
        columns[name]["safe_harbor"] = "none" if how == "stated none" else COLUMNS[name][2]
    with pytest.raises((PolicyError, SourceError), match=rf"columns\.{name}\b"):
        anonymizer.run(policy(tmp_path, columns), source)
    assert not (tmp_path / "release.duckdb").exists()


PLAIN_NAMES = sorted(set(COLUMNS) - {"zip", "age", "fax", "admitted"})
"""(Five digits, and numbers to 103, may be anything: only a name tells them.)"""


@some(1)
@pytest.mark.parametrize("name", PLAIN_NAMES)
def test_one_whose_name_says_nothing_is_found_by_its_values(
    tmp_path: Path, source: Path, name: str
) -> None:
    columns = {"x1" if n == name else n: c for n, c in passing().items()}
    columns["x1"] = {"role": "keep", "safe_harbor": "none"}
    listed = ", ".join(f"{n} as x1" if n == name else n for n in (*COLUMNS, *OTHERS))
    given = policy(tmp_path, columns, source={"query": f"select {listed} from visits"})
    with pytest.raises(SourceError, match=r"columns\.x1\b"):
        anonymizer.run(given, source)


@pytest.mark.parametrize("role", ["token", "shift", "noise", "redact", "sensitive", "quasi"])
@pytest.mark.parametrize("name", ["name", "mail", "mrn", "study_code", "street", "birth_date"])
def test_no_other_treatment_is_enough(tmp_path: Path, name: str, role: str) -> None:
    columns = passing()
    columns[name] = {"role": role, "safe_harbor": COLUMNS[name][2]}
    more: dict[str, dict[str, Any]] = {
        "shift": {"within": "30 days", "per": "mrn"},
        "noise": {"amount": 3},
    }
    columns[name] |= more.get(role, {})
    with pytest.raises(PolicyError, match=rf"columns\.{name}\b"):
        policy(tmp_path, columns)


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("age", {"role": "top_code", "at": 91, "safe_harbor": "ages"}, "columns.age.at"),
    ("age", {"role": "top_code", "at_least": 5, "safe_harbor": "ages"}, "columns.age.top_code"),
    ("age", {"role": "round", "to": 5, "safe_harbor": "ages"}, "columns.age.top_code"),
    ("age", {"role": "keep", "safe_harbor": "none"}, "ages over 89 (C)"),
    ("admitted", {"role": "round", "to": "month", "safe_harbor": "dates"}, "more of a date"),
    ("birth_date", {"role": "round", "to": "year", "safe_harbor": "dates"}, "is dates, and"),
    ("birth_date", {"role": "round", "to": "year", "safe_harbor": "birth"}, "bottom_code"),
    (
        "birth_date",
        {
            "role": "round",
            "to": "year",
            "bottom_code": f"{FIRST}-03-01",
            "safe_harbor": "birth",
        },
        "columns.birth_date.bottom_code",
    ),
    ("zip", {"role": "quasi", "safe_harbor": "geography"}, "columns.zip.role"),
    ("zip", {"role": "zip3", "safe_harbor": "none"}, "columns.zip.role"),
    ("note", {"role": "redact", "safe_harbor": "none"}, "columns.note.role"),
    ("note", {"role": "keep", "safe_harbor": "none"}, "free text"),
    ("state", {"role": "token", "safe_harbor": "none"}, "columns.state.role"),
    (
        "diagnosis",
        {"role": "keep", "safe_harbor": "none", "acknowledge_unique": True},
        "columns.diagnosis.acknowledge_unique",
    ),
    (
        "diagnosis",
        {"role": "keep", "safe_harbor": "none", "acknowledge": ["mail"]},
        "columns.diagnosis.acknowledge",
    ),
]


@pytest.mark.parametrize(("name", "column", "said"), BAD)
def test_what_is_not_enough_is_refused(
    tmp_path: Path, name: str, column: dict[str, Any], said: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        policy(tmp_path, {**passing(), name: column})
    assert said in str(caught.value)


def test_births_are_coded_by_the_year_of_the_release(tmp_path: Path, source: Path) -> None:
    columns = passing()
    columns["birth_date"]["bottom_code"] = f"{FIRST - 1}-01-01"
    with pytest.raises(SourceError, match=rf"columns\.birth_date\.bottom_code: is before {FIRST}"):
        anonymizer.run(policy(tmp_path, columns), source)


def test_years_long_ago_are_refused_whatever_they_are(tmp_path: Path, source: Path) -> None:
    columns = passing()
    columns["x1"] = {"role": "round", "to": "year", "safe_harbor": "dates"}
    query = "select *, date '1900-01-01' + (sex = 'f')::integer * 40000 as x1 from visits"
    with pytest.raises(SourceError, match=rf"columns\.x1: shows 200 values before {FIRST}"):
        anonymizer.run(policy(tmp_path, columns, source={"query": query}), source)


def test_years_may_be_whole_numbers(tmp_path: Path, source: Path) -> None:
    columns = passing()
    columns["birth_year"] = {"role": "bottom_code", "at": FIRST, "safe_harbor": "birth"}
    columns["admit_year"] = {"role": "keep", "safe_harbor": "dates"}
    query = "select *, year(birth_date) as birth_year, year(admitted) as admit_year from visits"
    anonymizer.run(policy(tmp_path, columns, source={"query": query}), source)
    assert rows(tmp_path, "select min(birth_year), min(admit_year) from harbor") == [(FIRST, 2021)]
    columns["admit_year"]["safe_harbor"] = "none"
    with pytest.raises(PolicyError, match=r"columns\.admit_year\.safe_harbor"):
        policy(tmp_path, columns, source={"query": query})


DISGUISED = {
    "dates in text": ("'seen 2021-03-0' || (age % 9 + 1)", "holds dates"),
    "dates in American text": ("(age % 9 + 1) || '/14/2021'", "holds dates"),
    "months by name": ("(age % 28 + 1) || ' May 1961'", "holds dates"),
    "months by name, as Oracle writes": (
        "lpad((age % 28 + 1)::varchar, 2, '0') || '-MAY-61'",
        "holds",
    ),
    "American months by name": ("'May ' || (age % 28 + 1) || ', 1961'", "holds dates"),
    "months": ("'1961-0' || (age % 9 + 1)", "holds dates"),
    "months and years": ("lpad((age % 12 + 1)::varchar, 2, '0') || '/1978'", "holds dates"),
    "weeks": ("'2024-W' || (10 + age % 40)", "holds dates"),
    "days of a year unsaid": ("'May ' || (age % 28 + 1)", "holds dates"),
    "days of a year unsaid, first": ("(age % 28 + 1) || '. Mai'", "holds dates"),
    "years of two digits": ("'74-05-' || (10 + age % 20)", "holds dates"),
    "years of two digits, last": ("(age % 9 + 1) || '/24/74'", "holds dates"),
    "Spanish months": ("(age % 28 + 1) || ' de mayo de 1961'", "holds dates"),
    "French months": ("(age % 28 + 1) || ' août 1961'", "holds dates"),
    "dates in wide digits": ("'２０２１-０５-0' || (age % 9 + 1)", "holds dates"),
    "days in wide digits": ("'２０２１０５' || (10 + age % 20)", "numbers that are days"),
    "days of six digits": ("240101 + age % 20", "numbers that are days"),
    "German days of six digits": ("(age % 18 + 10) * 10000 + 561", "numbers that are days"),
    "months and years as numbers": ("(age % 12 + 1) * 10000 + 1978", "numbers that are days"),
    "days as text": ("(19610501 + age % 20)::varchar", "numbers that are days"),
    "months as numbers": ("202101 + age % 12", "numbers that are days"),
    "German days as numbers": ("(age % 28 + 1) * 1000000 + 51961", "numbers that are days"),
    "days with a code for none": (
        "case when age % 9 = 0 then 99999999 else 20210301 + age % 20 end",
        "numbers that are days",
    ),
    "days as numbers": ("20210301 + age % 20", "numbers that are days"),
    "the first of 1800": ("18000101", "numbers that are days"),
    "days as doubles": ("(20210301 + age % 20)::double", "numbers that are days"),
    "days as decimals": ("(20210301 + age % 20)::decimal(12, 2)", "numbers that are days"),
    "a date": ("date '2021-01-01' + age::integer", "the column holds dates"),
    "sentences": ("'the patient came back on foot again, ' || age % 20", "like free text"),
    "a long remark": ("repeat('well ', 60) || sex", "free text"),
    "something else": ("uuid()", "not judged for the type UUID"),
    "a rare remark": (
        "case when age < 5 then repeat('well ', 31) else 'E' || age % 5 end",
        "values of free text",
    ),
}


HARMLESS = {
    "codes of eight digits": "(10000019 + age * 7919 % 9000 * 1009)::varchar",
    "amounts": "100000 + age * 1237",
    "numbers of six digits": "100000 + age * 7919 % 900000",
    "versions": "(age % 9) || '.' || (age % 12) || '.' || (age % 30)",
    "shares and ranges": "(age % 12 + 1) || '/' || (age % 30 + 1)",
    "names and years": "['marker 2020', 'Mark 2020', 'decision 12 1961'][1 + age % 3]",
}


@some(1)
@pytest.mark.parametrize("what", HARMLESS)
def test_what_only_looks_like_days_passes(tmp_path: Path, source: Path, what: str) -> None:
    columns = {**passing(), "x1": {"role": "keep", "safe_harbor": "none"}}
    query = f"select *, {HARMLESS[what]} as x1 from visits"
    anonymizer.run(policy(tmp_path, columns, source={"query": query}), source)


@some(3)
@pytest.mark.parametrize("what", DISGUISED)
def test_what_is_in_disguise_is_found(tmp_path: Path, source: Path, what: str) -> None:
    expression, said = DISGUISED[what]
    columns = {**passing(), "x1": {"role": "keep", "safe_harbor": "none"}}
    query = f"select *, {expression} as x1 from visits"
    with pytest.raises(SourceError, match=rf"columns\.x1.*{said}"):
        anonymizer.run(policy(tmp_path, columns, source={"query": query}), source)


def test_many_different_values_are_no_list(tmp_path: Path) -> None:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table visits as"
            " select 'v' || (i % 1500) as x1, i % 3 as y from range(6000) r(i)"
        )
    columns = {name: {"role": "keep", "safe_harbor": "none"} for name in ("x1", "y")}
    with pytest.raises(SourceError, match=r"columns\.x1: holds 1,500 different values"):
        anonymizer.run(policy(tmp_path, columns), path)


def test_descriptions_of_a_list_are_no_free_text(tmp_path: Path, source: Path) -> None:
    columns = {**passing(), "ward_type": {"role": "keep", "safe_harbor": "none"}}
    query = (
        "select *, ['general medicine', 'intensive care', 'day care',"
        " 'rehabilitation after a stroke or an injury of the head'][1 + age % 4] as ward_type"
        " from visits"
    )
    anonymizer.run(policy(tmp_path, columns, source={"query": query}), source)


@pytest.mark.slow
@pytest.mark.parametrize("cells", ["text", "typed"])
def test_classes_may_be_asked_for_as_well(tmp_path: Path, source: Path, cells: str) -> None:
    columns = passing()
    columns["zip"] = {"role": "quasi", "zip3": True, "safe_harbor": "geography"}
    columns["age"] = {"role": "quasi", "top_code": 90, "safe_harbor": "ages"}
    columns["birth_date"] = {
        "role": "quasi",
        "round": "year",
        "bottom_code": f"{FIRST}-01-01",
        "safe_harbor": "birth",
    }
    columns["sex"]["role"] = "quasi"
    with pytest.raises(PolicyError, match="names no guarantee"):
        policy(tmp_path, columns)
    given = policy(
        tmp_path,
        columns,
        privacy={"k_anonymity": 3},
        publish={"database": "release.duckdb", "name": "harbor", "cells": cells},
    )
    assert given.algorithm.name == "mondrian"
    assert given.suppression_limit == 0.05
    release = anonymizer.run(given, source)
    assert release.kind == "anonymised"
    expected = {
        ("safe_harbor_zip3", "zip"),
        ("safe_harbor_age", "age"),
        ("safe_harbor_year", "birth_date"),
        ("safe_harbor_text", "sex"),
    }
    assert {(c.name, c.column) for c in anonymizer.verify(given).checks} > expected
    second = judge(tmp_path / "release.duckdb").checks
    assert {(c.name, c.column) for c in second if c.passed} > expected
    assert not [c for c in second if not c.passed]


def test_the_option_is_the_presets(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"columns\.name\.safe_harbor: is an option of preset"):
        policy(tmp_path, passing(), preset=None)
    hierarchy = {"role": "quasi", "top_code": 90, "safe_harbor": "ages"}
    columns = {**passing(), "age": {**hierarchy, "hierarchy": {"builder": "cardinality"}}}
    with pytest.raises(PolicyError, match=r"columns\.age\.hierarchy"):
        policy(tmp_path, columns, privacy={"k_anonymity": 3})


def test_several_tables_have_no_such_preset() -> None:
    given = """
    version: 1
    preset: safe_harbor
    person: people
    tables:
      people:
        source: {table: people}
        key: id
        columns: {id: {role: key}, age: {role: quasi, safe_harbor: none}}
    privacy: {k_anonymity: 5}
    publish: {database: release.duckdb}
    """
    with pytest.raises(PolicyError) as caught:
        Policy.loads(given)
    assert "preset: is for one table" in str(caught.value)
    with pytest.raises(PolicyError, match=r"tables\.people\.columns\.age\.safe_harbor"):
        Policy.loads(given.replace("preset: safe_harbor", "preset: internal"))


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_other_engines_do_not_judge_it(tmp_path: Path, source: Path, engine: Any) -> None:
    from anonymizer.engines.registry import refuse

    given = policy(tmp_path, passing())
    with pytest.raises(PolicyError, match="preset: is not available"):
        refuse(given, engine)


CHANGES = {
    "a day": ("update {t} set admitted = admitted + interval 1 day", "safe_harbor_year"),
    "an age": ("update {t} set age = 93 where age = 90", "safe_harbor_age"),
    "a restricted area": ("update {t} set zip = '036'", "safe_harbor_zip3"),
    "a number": ("update {t} set telephone = '1'", "safe_harbor_nothing"),
    "a mail": ("update {t} set state = 'a@example.org'", "safe_harbor_text"),
    "a birth": ("update {t} set birth_date = date '1901-01-01'", "safe_harbor_year"),
}


@some(2)
@pytest.mark.parametrize("what", CHANGES)
def test_the_published_rows_are_judged(tmp_path: Path, source: Path, what: str) -> None:
    """The statements of the manifest, on rows that were changed behind it."""
    statement, check = CHANGES[what]
    release = anonymizer.run(policy(tmp_path, passing()), source)
    listed = {
        (one["name"], one["column"]): one["sql"]
        for one in release.manifest.data["verification"]["checks"]
    }
    with duckdb.connect() as connection:
        connection.execute(f"attach '{tmp_path / 'release.duckdb'}' as published (read_only)")
        connection.execute("create table harbor as from published.harbor")
        assert not [n for n, sql in listed.items() if sql and connection.execute(sql).fetchall()]
        connection.execute(statement.format(t="harbor"))
        broken = [n for n, sql in listed.items() if sql and connection.execute(sql).fetchall()]
    assert check in {name for name, _ in broken}


@some(1)
@pytest.mark.parametrize("what", CHANGES)
def test_the_second_reader_judges_them_too(tmp_path: Path, source: Path, what: str) -> None:
    statement, check = CHANGES[what]
    anonymizer.run(policy(tmp_path, passing()), source)
    file = tmp_path / "release.duckdb"
    assert not [one for one in judge(file).checks if not one.passed]
    with duckdb.connect(str(file)) as connection:
        ((table,),) = connection.execute(
            "select table_name from duckdb_columns() where column_name = 'admitted'"
            " and table_name <> 'harbor'"
        ).fetchall()
        connection.execute(statement.format(t=f'"{table}"'))
    seal_again(file, "harbor")
    assert check in {one.name for one in judge(file).checks if not one.passed}


def test_a_check_that_is_missing_is_missed(tmp_path: Path, monkeypatch: Any, source: Path) -> None:
    monkeypatch.setattr("anonymizer.verification.form.of_safe_harbor", lambda *_: iter(()))
    with pytest.raises(GuaranteeError, match=r"columns\.age\.safe_harbor: was not judged"):
        anonymizer.run(policy(tmp_path, passing()), source)
    assert not (tmp_path / "release.duckdb").exists()


FORGED = {
    "no year": lambda data: data["layout"].pop("safe_harbor"),
    "an earlier year": lambda data: data["layout"].update(safe_harbor=1990),
    "no list": lambda data: data.pop("safe_harbor"),
    "a shorter list": lambda data: data["safe_harbor"].pop(),
    "another kind": lambda data: data["layout"]["columns"][0].update(safe_harbor="none"),
    "no kind": lambda data: data["layout"]["columns"][0].pop("safe_harbor"),
}


@some(3)
@pytest.mark.parametrize("what", FORGED)
def test_a_manifest_that_says_less_is_not_read(tmp_path: Path, source: Path, what: str) -> None:
    data = dict(anonymizer.run(policy(tmp_path, passing()), source).manifest.data)
    assert parsed(Manifest(data).text()).layout.safe_harbor is not None
    changed = json.loads(Manifest(data).text())
    FORGED[what](changed)
    with pytest.raises(NothingToCheckError):
        parsed(Manifest(changed).text())


def areas(folder: Path, text: str, expression: str) -> dict[str, str | None]:
    """The published area of every ZIP code, by a file of populations where there is one."""
    column: dict[str, Any] = {"role": "zip3", "safe_harbor": "geography"}
    if text:
        (folder / "areas.csv").write_text(text, encoding="utf-8")
        column["population"] = "areas.csv"
    with duckdb.connect(str(folder / "source.duckdb")) as connection:
        connection.execute(f"create or replace table visits as {expression}")
        codes = [code for (code,) in connection.execute("select zip from visits").fetchall()]
    columns = {"zip": column, "n": {"role": "keep", "safe_harbor": "none"}}
    given = policy(folder, columns)
    shown: dict[str, str | None] = {}
    for code in codes:
        where = f"zip is not distinct from {'null' if code is None else repr(code)}"
        query = {"query": f"select zip, 1 as n from visits, range(3) where {where}"}
        one = Policy.model_validate({**given.to_dict(), "source": query}, context={"base": folder})
        anonymizer.run(one, folder / "source.duckdb")
        ((shown[str(code)],),) = rows(folder, "select distinct zip from harbor")
    return shown


@pytest.mark.slow
def test_areas_of_texts(tmp_path: Path) -> None:
    listed = (
        "('02139'), ('03601-1234'), ('893011234'), (' 10001 '), ('606'), ('K1A 0B1'), ('2139'),"
        " (null)"
    )
    found = areas(tmp_path, "", f"from (values {listed}) t(zip)")
    assert found == {
        "02139": "021",
        "03601-1234": "000",
        "893011234": "000",
        " 10001 ": "100",
        "606": "606",
        "K1A 0B1": "000",
        "2139": "000",
        "None": None,
    }


@pytest.mark.slow
def test_areas_of_numbers(tmp_path: Path) -> None:
    listed = "(2139), (501), (94107), (21391234), (-5), (1234567890)"
    found = areas(tmp_path, "", f"from (values {listed}) t(zip)")
    assert found == {
        "2139": "021",
        "501": "005",
        "94107": "941",
        "21391234": "021",
        "-5": "000",
        "1234567890": "000",
    }


@pytest.mark.slow
def test_areas_of_a_file(tmp_path: Path) -> None:
    text = "population,zip3\n20000,100\n20001,021\n50000,36\n"
    listed = "('10001'), ('02139'), ('03601'), ('94107')"
    found = areas(tmp_path, text, f"from (values {listed}) t(zip)")
    assert found == {"10001": "000", "02139": "021", "03601": "036", "94107": "000"}


@pytest.mark.parametrize(
    "text",
    ["", "zip,people\n021,5\n", "zip3,population\n021,many\n", "zip3,population\n021,5\n021,6\n"],
)
def test_files_that_list_no_populations(tmp_path: Path, source: Path, text: str) -> None:
    columns = passing()
    columns["zip"]["population"] = "areas.csv"
    if text:
        (tmp_path / "areas.csv").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=r"columns\.zip\.population"):
        anonymizer.run(policy(tmp_path, columns), source)


def test_the_restricted_areas_are_those_of_the_guidance() -> None:
    assert " ".join(RESTRICTED) == (
        "036 059 063 102 203 556 692 790 821 823 830 831 878 879 884 890 893"
    )


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("patientName", {"names"}),
        ("drug_name", set()),
        ("hospital_name", set()),
        ("ward", set()),
        ("dateOfBirth", {"birth", "dates"}),
        ("birth_weight", set()),
        ("admit_dt", {"dates"}),
        ("Geburtsdatum", {"birth"}),
        ("census_tract", {"geography"}),
        ("lat", {"geography"}),
        ("last_nm", {"names"}),
        ("chart_no", {"medical_record"}),
        ("medicare_id", {"health_plan"}),
        ("medicaid", set()),
        ("stage", set()),
        ("age_at_visit", {"ages"}),
        ("zip_code", {"geography"}),
        ("state", set()),
        ("days_in_hospital", set()),
        ("visit_month", {"dates"}),
        ("device_type", set()),
        ("device_id", {"device"}),
        ("insurance", {"health_plan"}),
        ("insurance_type", set()),
        ("patient_id", {"other"}),
        ("patient_sex", set()),
        ("id", {"other"}),
        ("client_ip", {"ip"}),
        ("e_mail", {"mail"}),
        ("medical_record_number", {"medical_record"}),
    ],
)
def test_what_names_of_columns_say(name: str, kinds: set[str]) -> None:
    assert set(named_kinds(name)) == kinds


def test_what_names_of_texts_say() -> None:
    assert named_notes("doctorNotes")
    assert named_notes("free_text")
    assert not named_notes("diagnosis")


def test_a_cell_that_is_a_range_is_no_place() -> None:
    """Coordinates look alike; the gate asks about the values themselves."""
    assert re.search(own_forms(), "[12.34567, 15.67891]") is None
    assert re.search(own_forms(), "seen on 2024-05-04") is not None
