"""Several tables on Spark: the rows, checks and figures of DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from tests.backends.several import (
    CASES,
    SEEDS,
    Source,
    of_hospital,
    of_schema,
    outcome,
    published,
    same_checks,
    with_lifted,
)
from tests.backends.tables import load_into_spark, plain
from tests.schema.random_schemas import draw
from tests.selection import some

pytestmark = pytest.mark.spark


def same_as_duckdb(source: Source, folder: Path, spark: Any) -> None:
    """The release in the catalog has the rows and the figures of DuckDB, and verifies."""
    _, here = outcome(source.policy, folder, source.written(folder))
    for name, types in source.types.items():
        (folder / name).mkdir()
        load_into_spark(spark, folder / name, types, source.rows[name], f"source_{name}")
    given = source.placed("source_{}")
    given["publish"].pop("schema", None)
    policy, there = outcome({**given, "engine": "spark"}, folder, spark)
    if isinstance(here, str) or isinstance(there, str):
        assert here == there
        return
    for name, rows in published(folder / "release.duckdb", here).items():
        found = spark.table(there.tables.get(name, there.view)).collect()
        assert sorted(map(str, plain(found))) == sorted(map(str, plain(rows))), name
    same_checks(here, there)
    assert anonymizer.verify(policy, spark).passed


@some(1, 3)
@pytest.mark.parametrize("case", CASES)
def test_rows_are_those_of_duckdb(spark: Any, tmp_path: Path, case: str) -> None:
    same_as_duckdb(of_hospital(CASES[case]), tmp_path, spark)


def test_columns_of_persons(spark: Any, tmp_path: Path) -> None:
    same_as_duckdb(with_lifted(), tmp_path, spark)


@some(2, 3)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_schemas(spark: Any, tmp_path: Path, seed: int) -> None:
    schema = draw(seed)
    schema.write(tmp_path).unlink()  # (for the files of hierarchies)
    same_as_duckdb(of_schema(schema), tmp_path, spark)
