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


@pytest.mark.slow
def test_sweep(place: Path, call: Call) -> None:
    vary = ("--vary", "k=3,61", "--vary", "knows.events=0,1")
    done = call("sweep", "policy.yml", *DATABASE, *vary, "-o", "front.svg")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split()[:3] == ["options", "risk", "loss"]
    assert "of persons  of events  rows left out" in lines[0]
    assert lines[1].split()[:3] == ["*", "k=3,", "knows.events=0"]
    assert sum("cannot work" in line for line in lines[1:5]) == 2
    assert "risk: of somebody whose class and one event are known" in lines
    assert files(place) == {"policy.yml", "source.duckdb", "front.svg"}
