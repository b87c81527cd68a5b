"""Decimals of an exported release have the type that its manifest says, for both verifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.independent import judge
from anonymizer.publish.export import export
from tests.backends.tables import query
from tests.selection import some

pytestmark = pytest.mark.postgres

DECLARED = {
    "numeric(9, 2)": "DECIMAL(9,2)",
    "numeric(4, 4)": "DECIMAL(4,4)",
    "numeric": "DECIMAL(6,4)",
    "numeric(60, 5)": "DECIMAL(7,5)",
}


@some(4)
@pytest.mark.parametrize("cells", ["text", "typed"])
@pytest.mark.parametrize("kind", DECLARED)
def test_both_verifiers_judge_them(postgres: str, tmp_path: Path, kind: str, cells: str) -> None:
    # of texts, 10.25 would be smaller than 9.25
    value = "(i % 7) * 0.0125" if kind == "numeric(4, 4)" else "8.25 + (i % 5) + (i % 3) * 0.0125"
    columns = ", ".join(f"({value})::{kind} as {name}" for name in ("q", "kept", "cost", "most"))
    query(postgres, "drop schema if exists decimals cascade")
    query(postgres, "create schema decimals")
    query(
        postgres, f"create table decimals.people as select {columns} from generate_series(1, 120) i"
    )
    given: dict[str, Any] = {
        "version": 1,
        "engine": "postgres",
        "source": {"table": "decimals.people"},
        "columns": {
            "q": {"role": "quasi"},
            "kept": {"role": "keep"},
            "cost": {
                "role": "sensitive",
                "protect": {"t_closeness": {"t": 0.5, "distance": "ordered"}},
            },
            "most": {"role": "top_code", "at_least": 4},
        },
        "privacy": {"k_anonymity": 3},
        "publish": {"name": "out", "schema": "decimals", "cells": cells},
    }
    policy, file = Policy.model_validate(given), tmp_path / "release.duckdb"
    anonymizer.run(policy, postgres, seed=7)
    export(policy, file, postgres)
    assert anonymizer.verify(policy, file, engine="duckdb").passed
    judged = judge(file)
    assert judged.passed, [check for check in judged.checks if not check.passed]
    with duckdb.connect(str(file), read_only=True) as connection:
        types = {n: t for n, t, *_ in connection.execute("describe decimals.out").fetchall()}
    sized = ["kept", "cost", "most", *(["q_lo", "q_hi"] if cells == "typed" else [])]
    assert {types[name] for name in sized} == {DECLARED[kind]}
