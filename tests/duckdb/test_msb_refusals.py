"""What msb refuses: one clear message each, exit code 2, nothing published."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.algorithms.msb import grouping
from anonymizer.errors import AnonymizerError
from tests.duckdb.msb_policy import DISEASE, PHYSICIAN, people, policy


@pytest.fixture
def source() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        people(connection, 30)
        yield connection


def refused(
    source: duckdb.DuckDBPyConnection, folder: Path, **options: Any
) -> tuple[str, str, str | None]:
    with pytest.raises(AnonymizerError) as failed:
        anonymizer.run(policy(folder, **options), source, seed=1)
    assert failed.value.exit_code == 2
    assert len(failed.value.problems) == 1
    assert not (folder / "release.duckdb").exists()
    problem = failed.value.problems[0]
    for value in ("Flu", "HIV", "Pneumonia", "John"):
        assert value not in str(problem)
    return problem.path, problem.message, problem.hint


def test_value_in_two_levels(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    twice = {"levels": {0: ["Flu"], 1: ["Flu"]}, "default_level": 1}
    path, message, _ = refused(source, tmp_path, protect={"disease": twice})
    assert path == "columns.disease.protect.levels"
    assert "lists a value both in level 0 and in level 1" in message


def test_level_without_an_l(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    levels = {"levels": {0: ["Flu"], 4: ["HIV"]}, "default_level": 1}
    path, message, _ = refused(
        source,
        tmp_path,
        protect={"disease": levels},
        columns={"physician": {"role": "drop"}},
    )
    assert path == "columns.disease.protect.levels.4" or path.startswith("columns.disease.protect")
    assert "is a level without an l" in message


def test_value_that_no_level_lists(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    levels = {"levels": {0: ["Flu"], 2: ["HIV", "Cancer"]}}
    path, message, hint = refused(
        source, tmp_path, protect={"physician": PHYSICIAN, "disease": levels}
    )
    assert path == "columns.disease.protect.default_level"
    assert "is missing: 3 values of the data are in no level" in message
    assert hint is not None
    assert "default_level" in hint


def test_l_larger_than_n(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    source.execute("delete from people where rowid >= 4")
    path, message, _ = refused(
        source,
        tmp_path,
        limit=1.0,
        protect={"disease": {"l_diversity": 5}},
        columns={"physician": {"role": "drop"}},
    )
    assert path == "columns.disease.protect.l_diversity"
    assert "it takes 5 different values, 1 value more than" in message


def test_too_frequent_a_value(source: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    source.execute("insert into people select 40, 'F', 'John', 'HIV' from range(60)")
    path, message, _ = refused(
        source,
        tmp_path,
        limit=0.1,
        protect={"disease": DISEASE},
        columns={"physician": {"role": "drop"}},
    )
    assert path == "columns.disease.protect"
    assert "rows would be suppressed" in message


def test_exact_beyond_its_size(
    source: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "EXACT_UP_TO", 20)
    path, message, hint = refused(source, tmp_path, limit=1.0, mode="exact")
    assert path == "algorithm.mode"
    assert "the table has 30 rows" in message
    assert hint == "mode: batched"
