"""Policies and tables for tests of whole msb runs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb

from anonymizer.policy import Policy

PAPER_L = {0: 1, 1: 2, 2: 3}
DISEASE = {"levels": {0: ["Flu"], 2: ["HIV", "Cancer"]}, "default_level": 1}
PHYSICIAN = {"levels": {1: ["John"]}, "default_level": 1}


def policy(
    folder: Path | None,
    *,
    protect: dict[str, Any] | None = None,
    columns: dict[str, Any] | None = None,
    publish: dict[str, Any] | None = None,
    privacy: dict[str, Any] | None = None,
    limit: float = 0.0,
    **algorithm: Any,
) -> Policy:
    """Patients: age and sex known, physician and disease sensitive."""
    rules = protect or {"physician": PHYSICIAN, "disease": DISEASE}
    leveled = any("levels" in rule for rule in rules.values())
    table: dict[str, Any] = {
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        **{name: {"role": "sensitive", "protect": rule} for name, rule in rules.items()},
        **(columns or {}),
    }
    made: dict[str, Any] = {"name": "patients", **(publish or {})}
    if folder is not None:
        made["database"] = str(folder / "release.duckdb")
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "people"},
            "columns": table,
            "privacy": ({"level_l": PAPER_L} if leveled else {}) | (privacy or {}),
            "suppression_limit": limit,
            "algorithm": {"name": "msb", **algorithm},
            "publish": made,
        }
    )


def people(
    connection: duckdb.DuckDBPyConnection, rows: int, seed: int = 1, nulls: float = 0.0
) -> None:
    """A random table of that many patients."""
    draw = random.Random(seed)
    physicians = ["John", "Bob", "Anne", "Sam", "Mary"]
    diseases = ["Flu", "Flu", "Flu", "Pneumonia", "Gastritis", "Asthma", "HIV", "Cancer"]

    def maybe(value: str) -> str | None:
        return None if draw.random() < nulls else value

    connection.execute(
        "create or replace table people (age integer, sex varchar, physician varchar,"
        " disease varchar)"
    )
    connection.executemany(
        "insert into people values (?, ?, ?, ?)",
        [
            (
                draw.randint(20, 80),
                maybe(draw.choice(["F", "M"])),
                maybe(draw.choice(physicians)),
                maybe(draw.choice(diseases)),
            )
            for _ in range(rows)
        ],
    )
