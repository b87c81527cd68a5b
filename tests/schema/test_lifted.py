"""Columns of other tables that are the person's: published with the persons, checked on the way."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import SourceError
from anonymizer.independent.judge import judge
from tests.runs import THRIFTY, fetch
from tests.selection import some

BY_HAND = """
select p.*, v.region, l.blood
from patients p
left join (select patient_id, any_value(region) as region from visits group by 1) v
    on v.patient_id = p.patient_id
left join (
    select patient_id, any_value(blood) as blood
    from labs join visits using (visit_id) group by 1
) l on l.patient_id = p.patient_id
"""
LIFTED = {"role": "quasi", "of": "person"}
KEY = {"role": "key"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Visits in the region of their patient, labs with the patient's blood group, NULL for some."""
    r = random.Random(1)
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute("create table patients(patient_id int, age int)")
        connection.execute("create table visits(visit_id int, patient_id int, region varchar)")
        connection.execute("create table labs(visit_id int, blood varchar, test varchar)")
        for who in range(60):
            connection.execute("insert into patients values (?, ?)", [who, 20 + who % 30])
            region, blood = r.choice("NSEW"), r.choice(["A", "B", None])
            for visit in range(r.choice([0, 1, 2, 3])):
                number = who * 10 + visit
                connection.execute("insert into visits values (?, ?, ?)", [number, who, region])
                if r.random() < 0.7:
                    lab = [number, blood, r.choice("xy")]
                    connection.execute("insert into labs values (?, ?, ?)", lab)
    return path


def policy(folder: Path, name: str, *, by_hand: bool = False, **more: Any) -> Policy:
    (folder / name).mkdir(exist_ok=True)
    region = blood = {"role": "drop"} if by_hand else LIFTED
    patients: dict[str, Any] = {
        "source": {"query": BY_HAND} if by_hand else {"table": "patients"},
        "key": "patient_id",
        "columns": {"patient_id": KEY, "age": {"role": "quasi"}},
    }
    if by_hand:
        patients["columns"] |= {"region": {"role": "quasi"}, "blood": {"role": "quasi"}}
    tables = {
        "patients": patients,
        "visits": {
            "source": {"table": "visits"},
            "key": "visit_id",
            "links": {"patient_id": "patients"},
            "columns": {"visit_id": KEY, "patient_id": KEY, "region": region},
        },
        "labs": {
            "source": {"query": "select * from labs"},
            "links": {"visit_id": "visits"},
            "columns": {"visit_id": KEY, "blood": blood, "test": {"role": "event"}},
        },
    }
    given = {
        "version": 1,
        "person": "patients",
        "tables": tables,
        "privacy": {"k_anonymity": 3, "knows": {"events": 1}},
        "publish": {"database": f"{name}/release.duckdb"},
        **more,
    }
    return Policy.model_validate(given, context={"base": folder})


def published(path: Path) -> list[list[dict[str, Any]]]:
    with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
        return [fetch(connection, f"from {name}") for name in ("patients", "visits", "labs")]


@pytest.mark.slow
def test_as_if_joined_by_hand(database: Path, tmp_path: Path) -> None:
    lifted, joined = policy(tmp_path, "lifted"), policy(tmp_path, "joined", by_hand=True)
    anonymizer.run(lifted, database, seed=1, limits=THRIFTY)
    anonymizer.run(joined, database, seed=1, limits=THRIFTY)
    found = published(tmp_path / "lifted/release.duckdb")
    assert found == published(tmp_path / "joined/release.duckdb")
    assert {"region", "blood"} < set(found[0][0])
    assert "region" not in found[1][0]
    assert "blood" not in found[2][0]
    assert judge(tmp_path / "lifted/release.duckdb").passed
    assert anonymizer.verify(lifted).passed


def test_a_column_that_differs_is_refused(database: Path, tmp_path: Path) -> None:
    several = "select patient_id from visits group by 1 having count(*) > 1"
    with duckdb.connect(str(database)) as connection:
        first = f"select min(visit_id) from visits where patient_id in ({several})"
        connection.execute(f"update visits set region = null where visit_id = ({first})")
    with pytest.raises(SourceError) as refused:
        anonymizer.run(policy(tmp_path, "lifted"), database, seed=1, limits=THRIFTY)
    (problem,) = refused.value.problems
    assert problem.path == "tables.visits.columns.region.of"
    assert "1 person has" in problem.message
    assert not (tmp_path / "lifted/release.duckdb").exists()


@some(0, 3)
@pytest.mark.parametrize("name", ["owner", "up", "UP", "own", "v1", "anonymizer_key"])
def test_a_column_may_be_called_as_anything(name: str, database: Path, tmp_path: Path) -> None:
    """The keys of the source are not published for a column that is called as they are inside."""
    plain, renamed = policy(tmp_path, "plain"), policy(tmp_path, "renamed").to_dict()
    listed = renamed["tables"]["visits"]["columns"]
    listed[name] = listed.pop("region")
    anonymizer.run(plain, database, seed=1, limits=THRIFTY)
    with duckdb.connect(str(database)) as connection:
        connection.execute(f'alter table visits rename region to "{name}"')
    given = Policy.model_validate(renamed, context={"base": tmp_path})
    anonymizer.run(given, database, seed=1, limits=THRIFTY)
    as_called = published(tmp_path / "plain/release.duckdb")
    for row in as_called[0]:
        row[name] = row.pop("region")
    assert published(tmp_path / "renamed/release.duckdb") == as_called
