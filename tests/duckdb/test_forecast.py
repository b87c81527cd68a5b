"""`plan` tells what a run will take and cost, within a factor of two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.review.preview import preview
from tests.runs import policy, source

ADULT = ("age", "sex", "race", "education", "workclass")


def asked(folder: Path, table: str, quasi: tuple[str, ...], **rest: Any) -> tuple[Policy, Path]:
    database = folder / "source.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(f"create table people as from {table}")
        names = [row[0] for row in connection.execute("describe people").fetchall()]
    roles = {name: "quasi" if name in quasi else "drop" for name in names}
    return policy(folder, roles, **rest), database


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mondrian", "lgb"])
def test_loss_and_memory_are_foreseen(name: str, adult_parquet: Path, tmp_path: Path) -> None:
    given, database = asked(tmp_path, f"'{adult_parquet}'", ADULT, k=5, algorithm={"name": name})
    seen = preview(given, str(database)).forecast
    assert seen is not None
    found = anonymizer.run(given, database, seed=1).measures
    assert seen.sampled == found["rows"] + found["suppressed"]
    assert seen.loss == pytest.approx(found["ncp"], rel=0.05)
    assert 100e6 < seen.memory < 600e6
    assert 0 < seen.seconds < 60


@pytest.mark.slow
def test_the_loss_of_a_larger_table_is_foreseen(adult_parquet: Path, tmp_path: Path) -> None:
    table = f"(from '{adult_parquet}' union all from '{adult_parquet}')"
    given, database = asked(tmp_path, table, ADULT, k=10)
    seen = preview(given, str(database)).forecast
    assert seen is not None
    assert seen.sampled <= 20_000
    found = anonymizer.run(given, database, seed=1).measures["ncp"]
    assert seen.loss is not None
    assert found / 2 <= seen.loss <= found * 2


def test_samples_hold_whole_persons(tmp_path: Path) -> None:
    given, database = asked(
        tmp_path,
        "(select range // 4 as person, range // 4 * 37 % 71 as age from range(40000))",
        ("age",),
        k=5,
        person="person",
    )
    seen = preview(given, str(database)).forecast
    assert seen is not None
    assert seen.loss == 0


def test_one_person_of_most_rows_leaves_plan_a_forecast_or_none(tmp_path: Path) -> None:
    given, database = asked(
        tmp_path,
        "(select if(range < 30000, 1, range) as person, 5 as age, range % 3 as zip"
        " from range(60000))",
        ("age", "zip"),
        k=5,
        person="person",
        merge_person_rows=True,
    )
    found = preview(given, str(database))
    assert found.problems == []
    assert found.forecast is None or found.forecast.sampled <= 60_000


def test_nothing_is_foreseen_of_what_cannot_run_or_if_not_wanted(tmp_path: Path) -> None:
    path = source(tmp_path, {"age": "INTEGER"}, [(i,) for i in range(4)])
    assert preview(policy(tmp_path, {"age": "quasi"}, k=5), str(path)).forecast is None
    runs = policy(tmp_path, {"age": "quasi"}, k=2)
    assert preview(runs, str(path), foresee=False).forecast is None
    assert preview(runs, str(path)).as_dict()["forecast"]["sampled"] == 4
    json.dumps(preview(runs, str(path)).as_dict())
    assert not (tmp_path / "release.duckdb").exists()


def test_what_the_machine_has_not_is_told_with_the_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = source(tmp_path, {"age": "INTEGER", "town": "INTEGER"}, [(i % 5, i) for i in range(60)])
    monkeypatch.setattr("anonymizer.review.preview.memory_there", lambda: 10_000_000)
    given = policy(tmp_path, {"age": "quasi", "town": "quasi"}, k=5)
    (warning,) = [w for w in preview(given, str(path)).warnings if w.startswith("memory")]
    assert "town has most values (60)" in warning
    assert "hierarchy" in warning


def test_a_column_of_which_nothing_would_be_left_is_said(tmp_path: Path) -> None:
    """Before the run, and with what to do; a column that keeps some is not named."""
    rows = [(20 + i % 9, f"job {i % 60}") for i in range(120)]
    database = source(tmp_path, {"age": "INTEGER", "job": "VARCHAR"}, rows)
    found = preview(policy(tmp_path, {"age": "quasi", "job": "quasi"}, 120), str(database))
    said = [one for one in found.warnings if "would be lost" in one]
    assert [one.split(":")[0] for one in said] == ["age", "job"]
    less = preview(policy(tmp_path, {"age": "quasi", "job": "drop"}, 5), str(database))
    assert not [one for one in less.warnings if "would be lost" in one]
