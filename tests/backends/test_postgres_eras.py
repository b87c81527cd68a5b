"""Dates before Christ on Postgres: published where they can be, and refused clearly elsewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import SourceError
from anonymizer.independent import judge
from anonymizer.publish.export import export
from tests.backends.tables import load, query

pytestmark = pytest.mark.postgres


@pytest.fixture
def ancient(postgres: str) -> str:
    query(postgres, "drop schema if exists main, _anonymizer cascade")
    rows = [("2000-01-01", "2000-01-01", i % 3) for i in range(20)]
    load(postgres, {"born": "date", "seen": "timestamptz", "age": "integer"}, rows, "ancient")
    query(
        postgres,
        "update ancient set born = '0044-03-15 BC', seen = '0044-03-15 BC'"
        " where ctid in (select ctid from ancient limit 9)",
    )
    return postgres


def given(column: str, quasi: dict[str, Any], **publish: Any) -> Policy:
    others = {name: {"role": "drop"} for name in ("born", "seen", "age")}
    return Policy.model_validate(
        {
            "version": 1,
            "engine": "postgres",
            "source": {"table": "public.ancient"},
            "columns": others | {column: {"role": "quasi", **quasi}},
            "privacy": {"k_anonymity": 3},
            "publish": {"name": "released", **publish},
        }
    )


@pytest.mark.parametrize(
    ("column", "quasi"), [("born", {}), ("seen", {}), ("seen", {"kind": "categorical"})]
)
def test_a_text_cell_cannot_hold_them(column: str, quasi: dict[str, Any], ancient: str) -> None:
    with pytest.raises(SourceError) as caught:
        anonymizer.run(given(column, quasi), ancient, seed=7)
    (problem,) = caught.value.problems
    assert problem.path == f"columns.{column}"
    assert problem.message.startswith("has 9 dates before the year 1, which this engine cannot")
    assert "cells: typed" in str(problem.hint)


@pytest.mark.parametrize("suffix", ["duckdb", "parquet", "csv"])
@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_they_leave_as_they_are(postgres: str, tmp_path: Path, kind: str, suffix: str) -> None:
    """DuckDB reads 0044-03-15 BC without its era, as another day."""
    days = ("0044-03-15 BC", "0044-03-15", "infinity", "2025-05-06")
    query(postgres, "drop schema if exists main, _anonymizer cascade")
    rows = [(days[i % 4], days[3 - i % 4], i % 2) for i in range(24)]
    load(postgres, {"kept": kind, "told": kind, "age": "integer"}, rows, "ancient")
    columns = {
        "kept": {"role": "keep"},
        "told": {"role": "sensitive", "protect": {"l_diversity": 2}},
        "age": {"role": "quasi"},
    }
    policy = Policy.model_validate(
        {
            "version": 1,
            "engine": "postgres",
            "source": {"table": "public.ancient"},
            "columns": columns,
            "privacy": {"k_anonymity": 3},
            "publish": {"name": "released"},
        }
    )
    anonymizer.run(policy, postgres, seed=7)
    file = tmp_path / f"out.{suffix}"
    export(policy, file, postgres)
    judged = judge(file)
    assert judged.passed, [check for check in judged.checks if not check.passed]
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        if suffix == "duckdb":
            connection.execute(f"attach '{file}' as out (read_only)")
        relation = "out.main.released" if suffix == "duckdb" else f"'{file}'"
        found = connection.execute(f"select cast(kept as varchar) from {relation}").fetchall()
    texts = Counter(text.replace(" 00:00:00", "").removesuffix("+00") for (text,) in found)
    assert texts == dict.fromkeys(("0044-03-15 (BC)", "0044-03-15", "infinity", "2025-05-06"), 6)
