"""The example by which several tables are specified: the policy as it stands there, and a run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import SchemaPolicy
from anonymizer.independent.judge import judge
from tests.core.several_tables import SEVERAL
from tests.runs import THRIFTY, fill

SENSITIVE = "{role: sensitive, protect: {eir_l: 3}}"
BOTH = "{role: event, protect: {eir_l: 3}}"
TESTS = {"iron": "blood", "sodium": "blood", "glucose": "blood", "x-ray": "image", "ct": "image"}
WARDS = ("surgery", "eyes", "heart", "children")
DIAGNOSES = ("A10", "A11", "B20", "C30", "C31", "D40")


def write(folder: Path) -> Path:
    """Made tables of the example, with the file of its hierarchy beside the policy."""
    r = random.Random(7)
    patients: list[tuple[Any, ...]] = []
    visits: list[tuple[Any, ...]] = []
    labs: list[tuple[Any, ...]] = []
    for patient in range(400):
        born = f"{r.randint(1930, 2010)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}"
        zip_code = f"1{r.randint(0, 3)}{r.randint(0, 9)}0"
        patients.append((patient, f"N{patient}", born, r.choice("fm"), zip_code, r.random() < 0.3))
        for _ in range(r.choice([0, 1, 1, 2, 3])):
            key, day = 10_000 + len(visits), f"2024-{r.randint(1, 3):02}-{r.randint(1, 28):02}"
            visits.append((key, patient, day, r.choice(WARDS), r.choice(DIAGNOSES), 10.0))
            labs += [(key, r.choice(list(TESTS)), 1.5) for _ in range(r.randint(0, 2))]
    path = folder / "source.duckdb"
    with duckdb.connect(str(path), config={"threads": 1}) as made:
        types = {"patient_id": "INTEGER", "name": "VARCHAR", "birth_date": "DATE", "sex": "VARCHAR"}
        fill(made, {**types, "zip": "VARCHAR", "died": "BOOLEAN"}, patients, "patients")
        types = {"visit_id": "INTEGER", "patient_id": "INTEGER", "day": "DATE", "ward": "VARCHAR"}
        fill(made, {**types, "diagnosis": "VARCHAR", "cost": "DOUBLE"}, visits, "visits")
        types = {"visit_id": "INTEGER", "test": "VARCHAR", "value": "DOUBLE"}
        fill(made, types, labs, "labs")
    lines = [f"{test};{group};*" for test, group in TESTS.items()]
    (folder / "tests.csv").write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("diagnosis", [SENSITIVE, pytest.param(BOTH, marks=pytest.mark.slow)])
def test_the_example_runs(diagnosis: str, tmp_path: Path) -> None:
    assert SEVERAL.count(SENSITIVE) == 1
    file = tmp_path / "policy.yml"
    file.write_text(SEVERAL.replace(SENSITIVE, diagnosis), encoding="utf-8")
    policy = SchemaPolicy.load(file)
    release = anonymizer.run(policy, write(tmp_path), seed=1, limits=THRIFTY)
    names = {(check.name, check.column) for check in release.verification.checks}
    assert {("eir_l", "visits.diagnosis"), ("known_events", None)} <= names
    assert anonymizer.verify(policy, tmp_path / "release.duckdb").passed
    assert judge(tmp_path / "release.duckdb").passed
