"""A small hospital: patients, their visits, labs of visits. Every test sees the same rows."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import SchemaPolicy
from anonymizer.compile import lit, quote
from anonymizer.release.published import Release
from tests import runs

PERSONS = 60

TYPES: dict[str, dict[str, str]] = {
    "patients": {
        "patient_id": "BIGINT",
        "name": "VARCHAR",
        "birth_date": "DATE",
        "sex": "VARCHAR",
        "zip": "VARCHAR",
        "died": "BOOLEAN",
    },
    "visits": {
        "visit_id": "BIGINT",
        "patient_id": "BIGINT",
        "day": "DATE",
        "ward": "VARCHAR",
        "diagnosis": "VARCHAR",
        "cost": "DOUBLE",
    },
    "labs": {"visit_id": "BIGINT", "test": "VARCHAR", "value": "DOUBLE"},
}
WARDS = ("surgery", "medicine", "children", "eyes")
DIAGNOSES = tuple(f"{letter}{number}" for letter in "AB" for number in range(6))
TESTS = ("sodium", "potassium", "glucose", "iron")

Tables = dict[str, list[tuple[Any, ...]]]
Rows = list[dict[str, Any]]


def tables(persons: int = PERSONS, seed: int = 7) -> Tables:
    """The rows of all tables: one to four visits of a person, up to two labs of a visit."""
    draw = random.Random(seed)
    made: Tables = {"patients": [], "visits": [], "labs": []}
    for person in range(persons):
        # the numbers of persons have gaps and their own order
        number = 1000 + (person * 37) % 997
        born = f"{draw.randint(1940, 1999)}-{draw.randint(1, 12):02}-15"
        sex, place = draw.choice("mf"), f"1{draw.randint(0, 1)}{draw.randint(0, 9)}0"
        made["patients"].append((number, f"N{number}", born, sex, place, draw.random() < 0.3))
        for _ in range(draw.randint(1, 4)):
            visit = 50_000 + len(made["visits"]) * 3
            made["visits"].append(
                (
                    visit,
                    number,
                    f"2024-{draw.randint(1, 3):02}-{draw.randint(1, 28):02}",
                    draw.choice(WARDS[: 3 + (person % 9 == 0)]),
                    draw.choice(DIAGNOSES),
                    round(draw.uniform(50, 900), 2),
                )
            )
            for _ in range(draw.randint(0, 2)):
                made["labs"].append((visit, draw.choice(TESTS), draw.randint(1, 9) * 1.5))
    return made


def alike(persons: int = 24, visits: int = 1, places: int = 1) -> Tables:
    """Equal persons with equal visits: whatever is released again, nobody stands out."""
    rows: Tables = {"patients": [], "visits": [], "labs": []}
    for person in range(persons):
        number, zip_code = 1000 + person, f"{1 + person % places}000"
        died = person % 2 == 0
        rows["patients"].append((number, f"N{number}", "1980-01-01", "f", zip_code, died))
        for visit in range(visits):
            key = 50_000 + person * 10 + visit
            diagnosis = DIAGNOSES[person % 4]
            rows["visits"].append((key, number, "2024-01-01", "eyes", diagnosis, 1.0))
            rows["labs"].append((key, "iron", person % 2 + 0.5))
    return rows


def write(path: Path, rows: Mapping[str, list[tuple[Any, ...]]] | None = None) -> Path:
    """The tables in a database file."""
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        fill(connection, rows)
    return path


def fill(
    connection: duckdb.DuckDBPyConnection,
    rows: Mapping[str, list[tuple[Any, ...]]] | None = None,
) -> None:
    for name, listed in (tables() if rows is None else rows).items():
        runs.fill(connection, TYPES[name], listed, name)


GIVEN: dict[str, Any] = {
    "version": 1,
    "person": "patients",
    "tables": {
        "patients": {
            "source": {"table": "main.patients"},
            "key": "patient_id",
            "columns": {
                "patient_id": {"role": "key"},
                "name": {"role": "identifier"},
                "birth_date": {"role": "quasi"},
                "sex": {"role": "quasi"},
                "zip": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
                "died": {"role": "sensitive"},
            },
        },
        "visits": {
            "source": {"table": "main.visits"},
            "key": "visit_id",
            "links": {"patient_id": "patients"},
            "columns": {
                "visit_id": {"role": "key"},
                "patient_id": {"role": "key"},
                "day": {"role": "event", "hierarchy": {"builder": "date"}},
                "ward": {"role": "event"},
                "diagnosis": {"role": "sensitive", "protect": {"l_diversity": 2}},
                "cost": {"role": "drop"},
            },
        },
        "labs": {
            "source": {"table": "main.labs"},
            "links": {"visit_id": "visits"},
            "columns": {
                "visit_id": {"role": "key"},
                "test": {"role": "event"},
                "value": {"role": "keep"},
            },
        },
    },
    "privacy": {"k_anonymity": 3, "knows": {"events": 1}},
    "publish": {"database": "release.duckdb"},
}
"""The policy of SCHEMA.md, for few persons."""


def given(changes: Mapping[str, Any] | None = None, *drop: str) -> dict[str, Any]:
    """The policy with values at dotted paths, and without others."""
    made = copy.deepcopy(GIVEN)
    for path in drop:
        above, last = _above(made, path)
        del above[last]
    for path, value in (changes or {}).items():
        above, last = _above(made, path)
        above[last] = copy.deepcopy(value)
    return made


def _above(made: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    *steps, last = path.split(".")
    for step in steps:
        made = made.setdefault(step, {})
    return made, last


def policy(folder: Path, changes: Mapping[str, Any] | None = None, *drop: str) -> SchemaPolicy:
    return SchemaPolicy.model_validate(given(changes, *drop), context={"base": folder})


def run(of: SchemaPolicy, database: Any, seed: int | str | None = 1, **rest: Any) -> Release:
    return anonymizer.run(of, database, **{"seed": seed, "limits": runs.THRIFTY, **rest})


def released(database: Path, *names: str) -> dict[str, Rows]:
    """The published rows of some tables of a file."""
    with duckdb.connect(str(database), read_only=True, config={"threads": 1}) as connection:
        return {name: runs.fetch(connection, f"from {place(name)}") for name in names}


def place(name: str) -> str:
    """A name, with or without its schema, as SQL."""
    return ".".join(map(quote, name.split(".")))


def changed(path: Path, *statements: str) -> Path:
    """Execute statements on a database."""
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        for statement in statements:
            connection.execute(statement).fetchall()
    return path


__all__ = ["GIVEN", "lit"]
