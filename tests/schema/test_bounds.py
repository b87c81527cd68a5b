"""Bounds on a grid in releases of several tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import PolicyError
from anonymizer.independent import judge


def given(folder: Path, day: Any, **persons: Any) -> Any:
    return anonymizer.Policy.model_validate(
        {
            "version": 1,
            "person": "p",
            "tables": {
                "p": {
                    "source": {"table": "p"},
                    "key": "id",
                    "columns": {
                        "id": {"role": "key"},
                        "age": {"role": "quasi", "bounds": {"step": 5}, **persons},
                        "c": {"role": "quasi"},
                    },
                },
                "v": {
                    "source": {"table": "v"},
                    "links": {"id": "p"},
                    "columns": {"id": {"role": "key"}, "day": {"role": "event", "hierarchy": day}},
                },
            },
            "privacy": {"k_anonymity": 5, "knows": {"events": 1}},
            "suppression_limit": 1.0,
            "publish": {"database": str(folder / "rel.duckdb"), "prefix": "r_", "bounds": "grid"},
        }
    )


def test_the_persons_are_on_a_grid(tmp_path: Path) -> None:
    file = tmp_path / "source.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(
            "create table p as select i as id, 20 + (i * 37) % 60 as age, 'c' || (i % 3) as c"
            " from range(300) as r (i)"
        )
        con.execute(
            "create table v as select i % 300 as id, date '2020-01-01' + cast(i % 400 as integer)"
            " as day from range(900) as r (i)"
        )
    made = given(tmp_path, {"builder": "date", "levels": ["quarter", "year"]})
    release = anonymizer.run(made, file)
    assert release.measures["proved_records"] == 0
    with duckdb.connect(str(tmp_path / "rel.duckdb"), read_only=True) as con:
        cells = [row[0] for row in con.execute("select distinct age from r_p").fetchall()]
    bounds = [cell.strip("[]").split(", ") for cell in cells if cell.startswith("[")]
    assert bounds
    assert all(int(low) % 5 == 0 and int(high) % 5 == 4 for low, high in bounds)
    assert anonymizer.verify(made, tmp_path / "rel.duckdb").passed
    assert judge(tmp_path / "rel.duckdb").passed
    assert "cells_on_grid" in {check.name for check in judge(tmp_path / "rel.duckdb").checks}


def test_trees_that_end_with_values_of_rows(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"tables.v.columns.day.hierarchy.domain: is missing"):
        given(tmp_path, {"builder": "cardinality"})
