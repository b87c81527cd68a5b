"""The commands on a policy of several tables: what they say, and their exit codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.schema import hospital
from tests.selection import some

DATABASE = ("--database", "source.duckdb")
QUICK = {"privacy.knows": {"events": 0}}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    hospital.write(tmp_path / "source.duckdb")
    return write(tmp_path, QUICK)


def write(folder: Path, changes: Mapping[str, Any], *drop: str) -> Path:
    (folder / "policy.yml").write_text(json.dumps(hospital.given(changes, *drop)))
    return folder


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.slow
def test_from_a_plan_to_files(place: Path, call: Call) -> None:
    planned = call("plan", "policy.yml", *DATABASE)
    assert planned.code == 0, planned.err
    assert "then verify, and publish main.patients, main.visits, main.labs in" in planned.out
    assert files(place) == {"policy.yml", "source.duckdb"}
    made = call("run", "policy.yml", *DATABASE, "--test-seed", "1")
    assert made.code == 0, made.err
    for name, rows in hospital.tables().items():
        line = next(one for one in made.out.splitlines() if one.startswith(f"  {name} "))
        assert line.split() == [name, f"main.{name}", str(len(rows)), "0", line.split()[-1]]
    for arguments in (["policy.yml"], ["--database", "release.duckdb"]):
        judged = call("verify", *arguments)
        assert judged.code == 0
        assert "distinct_l          visits.diagnosis" in judged.out
    assert call("clean", "--database", "release.duckdb").code == 0
    done = call("export", "policy.yml", "-o", "out", "--format", "json")
    assert [Path(file["path"]).name for file in done.json["files"]] == [
        "patients.parquet", "visits.parquet", "labs.parquet",
    ]  # fmt: skip
    again = call("verify", "policy.yml", "--independent")
    assert again.code == 0, again.err


def test_run_and_attack_as_json(place: Path, call: Call) -> None:
    found = call("run", "policy.yml", *DATABASE, "--format", "json").json
    assert found["tables"]["visits"]["rows"] == len(hospital.tables()["visits"])
    assert found["measures"]["tables"]["visits"]["suppressed"] == 0
    attacked = call("attack", "policy.yml", *DATABASE, "--format", "json")
    assert attacked.code == 0, attacked.err
    assert attacked.json["holds"] is True


def test_plan_shows_the_tree(place: Path, call: Call) -> None:
    drop = {**QUICK, "tables.labs.orphans": "drop", "publish.prefix": "a_"}
    hospital.changed(place / "source.duckdb", "update labs set visit_id = 1 where rowid < 3")
    write(place, drop)
    done = call("plan", "policy.yml", *DATABASE)
    assert done.code == 0
    lines = done.out.splitlines()
    start = lines.index("3 tables; a row of patients is a person")
    assert [line.split() for line in lines[start + 2 : start + 5]] == [
        ["patients", "60", "main.a_patients"],
        ["visits", "patient_id", "->", "patients", "day,", "ward", "158", "0", "main.a_visits"],
        ["labs", "visit_id", "->", "visits", "test", "135", "3", "(left", "out)", "main.a_labs"],
    ]
    assert "tables.labs: 3 rows reach no person and are left out (orphans: drop)" in done.err
    assert "  k = 1 (rows in the smallest class)" in done.out
    assert files(place) == {"policy.yml", "source.duckdb"}


def test_plan_of_what_cannot_work(place: Path, call: Call) -> None:
    """Everything that a look shows, at once, and what was found until then."""
    hospital.changed(
        place / "source.duckdb",
        "update visits set patient_id = 1 where visit_id < 50010",
        "alter table labs add column more integer",
        "drop table patients",
        "create table patients as select 1000 as patient_id, 'x' as name, date '2000-01-01' as"
        " birth_date, 'f' as sex, '1' as zip, 1 as rest",
    )
    done = call("plan", "policy.yml", *DATABASE, "--format", "json")
    assert done.code == 2
    assert [error["path"] for error in done.json["errors"]] == [
        "tables.patients.columns.died",
        "tables.patients.columns.rest",
        "tables.labs.columns.more",
    ]
    tables = {table["table"]: table for table in done.json["tables"]}
    assert tables["patients"]["rows"] == 1
    assert tables["visits"]["orphans"] == 158 - hospital_visits_of(1000)
    assert tables["labs"] == {
        "table": "labs", "above": "visits", "link": "visit_id", "key": None, "events": ["test"],
        "view": "main.labs", "rows": 135, "orphans": 0, "left_out": False,
    }  # fmt: skip
    text = call("plan", "policy.yml", *DATABASE)
    assert text.code == 2
    assert "(an error)" in text.out
    assert "3 problems: this cannot work as it is" in text.out


def hospital_visits_of(person: int) -> int:
    """Visits of a person, but for those that the test has given to nobody."""
    rows = hospital.tables()["visits"]
    return sum(row[1] == person and row[0] >= 50010 for row in rows)


@some(2)
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"privacy.k_anonymity": 61}, "privacy.k_anonymity: asks for classes of 61"),
        (
            {"tables.visits.columns.diagnosis.protect.l_diversity": 20},
            "tables.visits.columns.diagnosis.protect.l_diversity: cannot hold in any class",
        ),
        (
            {"tables.patients.columns.died.protect": {"l_diversity": 3}},
            "tables.patients.columns.died.protect.l_diversity: cannot hold in any class",
        ),
        ({"tables.visits.source": {"table": "main.visitz"}}, "tables.visits.source.table: is not"),
        ({"publish": {"prefix": "taken_"}}, "publish.names: main.taken_labs exists"),
        ({"publish": {"database": "no/release.duckdb"}}, "publish.database: is in a folder that"),
    ],
)
def test_plan_and_run_refuse_alike(
    place: Path, call: Call, changes: dict[str, Any], says: str
) -> None:
    hospital.changed(place / "source.duckdb", "create table taken_labs as select 1 as x")
    write(place, {**QUICK, **changes})
    for verb in ("plan", "run"):
        done = call(verb, "policy.yml", *DATABASE)
        assert done.code == 2
        assert done.err.splitlines()[-1].startswith(says), done.err
        assert "Traceback" not in done.err
    assert files(place) == {"policy.yml", "source.duckdb"}


@pytest.mark.slow
def test_a_release_that_does_not_pass(place: Path, call: Call) -> None:
    assert call("run", "policy.yml", *DATABASE).code == 0
    write(place, {"privacy.knows": {"events": 1, "rows": True}})
    done = call("verify", "policy.yml")
    assert done.code == 1
    assert [line.split(":")[0] for line in done.err.splitlines()] == [
        "privacy.knows.events",
        "privacy.knows.rows",
    ]
    assert "DOES NOT HOLD" in done.out


@pytest.mark.slow
def test_diff(place: Path, call: Call) -> None:
    (place / "old.yml").write_text((place / "policy.yml").read_text())
    stricter = {**QUICK, "privacy.k_anonymity": 6}
    write(place, stricter)
    done = call("compare", "old.yml", "policy.yml", *DATABASE, "-o", "comment.md")
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    assert done.out.startswith("The new policy runs, and everything holds.")
    assert ["k_anonymity", "k=3", "k=6", "changed"] in lines
    assert ["visits:", "rows", "published", "158", "158", "="] in lines
    assert "persons found by somebody who knows their class and" in done.out
    assert "| k\\_anonymity | k=3 | k=6 | changed |" in (place / "comment.md").read_text()
    found = call("compare", "old.yml", "policy.yml", *DATABASE, "--format", "json").json
    told = [change["what"] for change in found["observers"]]
    assert told[:2] == ["one event: alone", "one event: fewer than 6 left"]
    assert found["new"]["holds"]
    (place / "comment.md").unlink()
    assert files(place) == {"policy.yml", "old.yml", "source.duckdb"}


@pytest.mark.slow
def test_diff_of_what_cannot_be_taken(place: Path, call: Call) -> None:
    (place / "old.yml").write_text((place / "policy.yml").read_text())
    hospital.changed(place / "source.duckdb", "update patients set sex = null where zip < '11'")
    write(place, {**QUICK, "tables.patients.columns.sex.nulls": "suppress"})
    assert call("compare", "old.yml", "policy.yml", *DATABASE).code == 1
    write(place, {**QUICK, "privacy.k_anonymity": 100})
    assert call("compare", "old.yml", "policy.yml", *DATABASE).code == 2
    hospital.changed(place / "source.duckdb", "alter table labs add column more integer")
    done = call("compare", "old.yml", "old.yml", *DATABASE, "--format", "json")
    assert done.code == 2
    assert [error["path"] for error in done.json["errors"]] == ["tables.labs.columns.more"]
    assert done.json["unclassified"] == ["labs.more"]
    assert files(place) == {"policy.yml", "old.yml", "source.duckdb"}


def test_assess(place: Path, call: Call) -> None:
    hospital.changed(place / "source.duckdb", "update labs set visit_id = 1 where rowid < 3")
    done = call("assess", "policy.yml", *DATABASE)
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()]
    assert lines[7][:3] == ["labs", "visits", "135"]
    assert lines[7][-1] == "3"
    assert ["one", "event", "60", "100.0", "%", "60", "100.0", "%", "1", "100.0", "%"] in lines
    found = call("assess", "policy.yml", *DATABASE, "--format", "json").json
    assert found["tables"][2]["orphans"] == 3
    assert [one["knows"] for one in found["observers"]][:3] == [
        "nothing else", "one event", "two events",
    ]  # fmt: skip
    assert files(place) == {"policy.yml", "source.duckdb"}


@pytest.mark.parametrize(
    "option",
    [
        ("--quasi", "sex"), ("--sensitive", "died"), ("--person", "patient_id"),
        ("--require", "k=5"), ("--population", "patients"), ("--fraction", "0.5"),
        ("--threshold", "0.2"), ("--combinations", "3"),
    ],
)  # fmt: skip
def test_assess_takes_its_roles_from_the_policy(
    place: Path, call: Call, option: tuple[str, str]
) -> None:
    done = call("assess", "policy.yml", *DATABASE, *option)
    assert done.code == 2
    assert done.err.startswith(f"{option[0]}: does not go with a policy of several tables")


def test_assess_of_a_policy_of_one_table(place: Path, call: Call) -> None:
    one = {
        "version": 1,
        "source": {"table": "patients"},
        "columns": {"sex": {"role": "quasi"}, "died": {"role": "sensitive"}},
        "privacy": {"k_anonymity": 2},
    }
    (place / "one.yml").write_text(json.dumps(one))
    found = call("assess", "one.yml", *DATABASE, "--require", "k=1000", "--format", "json")
    assert found.code == 1
    named = ("assess", "patients", *DATABASE, "--quasi", "sex", "--sensitive", "died")
    wanted = call(*named, "--require", "k=1000", "--format", "json")
    assert found.json == wanted.json


@pytest.mark.slow
def test_sweep(place: Path, call: Call) -> None:
    vary = ("--vary", "k=3,61", "--vary", "knows.events=0,1")
    done = call("compare", "policy.yml", *DATABASE, *vary, "-o", "front.svg")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split()[:3] == ["options", "risk", "loss"]
    assert "of persons  of events  rows left out" in lines[0]
    assert lines[1].split()[:3] == ["*", "k=3,", "knows.events=0"]
    assert sum("cannot work" in line for line in lines[1:5]) == 2
    assert "risk: of somebody whose class and one event are known" in lines
    assert files(place) == {"policy.yml", "source.duckdb", "front.svg"}


def test_compile_lists_the_statements(place: Path, call: Call) -> None:
    done = call("compile", "policy.yml", *DATABASE)
    assert done.code == 0, done.err
    assert done.out.startswith("-- several tables: ")
    assert "-- publish visits" in done.out
    assert files(place) == {"policy.yml", "source.duckdb"}


def test_hierarchies_are_named_with_their_table(place: Path, call: Call) -> None:
    done = call("hierarchy", "show", "--policy", "policy.yml", *DATABASE, "--format", "json")
    shown = [one["column"] for one in json.loads(done.out)["hierarchies"]]
    assert shown
    assert all("." in name for name in shown)
    done = call("hierarchy", "suggest", "policy.yml", *DATABASE, "--column", "visits.ward")
    assert done.out.startswith("visits.ward: ")
    done = call("hierarchy", "suggest", "policy.yml", *DATABASE, "--column", "ward")
    assert (done.code, "--column: names no table" in done.err) == (2, True)
