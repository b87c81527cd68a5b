"""What Spark leaves to the DuckDB beside it: clusters of persons, exact searches, populations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.backends.tables import PEOPLE, people
from tests.backends.test_spark import both, policy
from tests.runs import fill
from tests.selection import some

pytestmark = pytest.mark.spark

ROWS_UP_TO = {"few rows in DuckDB": 1000, "rows counted by Spark": 0, "rows in files": 0}
"""Ways to work on rows, and to show them to DuckDB for judging; with the most rows that are few."""
FEW, COUNTED, FILES = ROWS_UP_TO


@pytest.fixture(autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = getattr(request, "param", COUNTED)
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", ROWS_UP_TO[name])
    if name == FILES:
        monkeypatch.setattr("anonymizer.engines.spark.concurrency.ROWS_UP_TO", 0)
        monkeypatch.setattr("anonymizer.engines.spark.tables.COUNTED_UP_TO", 0)
    return name


PERSON = {"person": "identifier", "ill": "sensitive"}
TREE = {"role": "quasi", "hierarchy": {"builder": "prefix"}}


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """Persons with one to four rows, equal in everything but the illness."""
    path = tmp_path / "patients.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        fill(connection, PEOPLE, people(110), "people")
        connection.execute(
            "copy (select row_number() over () as id, * replace (person as person,"
            " first_value(age) over p as age, first_value(town) over p as town,"
            " first_value(zip) over p as zip, first_value(born) over p as born)"
            " from people, range(2) c(copy) where copy = 0 or person % 3 = 0"
            f" window p as (partition by person order by age, town, zip, born)) to '{path}'"
        )
    return path


@some(2)
@pytest.mark.parametrize(
    ("way", "privacy"),
    [
        (FEW, {"ir_kl": {"k": 3, "l": 2}}),
        (FILES, {"eir_l": 2}),
        (COUNTED, {"ir_alpha_beta": {"alpha": 0.6, "beta": 0.6}}),
    ],
    indirect=["way"],
    ids=["ir_kl", "eir_l", "ir_alpha_beta"],
)
def test_danonyir(spark: Any, tmp_path: Path, patients: Path, privacy: dict[str, Any]) -> None:
    columns = {"age": "quasi", "town": "quasi", "born": "quasi", **PERSON}
    rest: dict[str, Any] = {"person": "person", "privacy": privacy, "suppression_limit": 0.3}
    algorithm = {"name": "danonyir", "block_size": 16}
    both(spark, tmp_path, patients, columns, algorithm=algorithm, **rest)


@pytest.mark.parametrize(
    ("way", "algorithm"), [(FEW, "mondrian"), (FILES, "lgb")], indirect=["way"]
)
def test_enhanced_l(spark: Any, tmp_path: Path, patients: Path, algorithm: str) -> None:
    columns = {"age": "quasi", "town": "quasi", **PERSON}
    rest: dict[str, Any] = {"person": "person", "privacy": {"k_anonymity": 3, "eir_l": 2}}
    both(spark, tmp_path, patients, columns, algorithm={"name": algorithm}, **rest)


K_MAP = {"k_map": {"k": 5}}
PRESENCE = {"delta_presence": {"min": 0.05, "max": 0.8}}
AT_MOST = {"delta_presence": {"min": 0, "max": 0.8}}


@pytest.fixture
def everybody(spark: Any, tmp_path: Path) -> Path:
    """A population with more persons than the table, as a file and in the catalog."""
    path = tmp_path / "everybody.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        fill(connection, PEOPLE, people(110) + people(150, seed=9), "people")
        connection.execute(f"copy people to '{path}'")
    spark.read.parquet(str(path)).createOrReplaceTempView("everybody_read")
    spark.sql("create table everybody as select * from everybody_read")
    spark.catalog.dropTempView("everybody_read")
    return path


@pytest.fixture
def members(tmp_path: Path) -> Path:
    path = tmp_path / "members.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        fill(connection, PEOPLE, people(110), "people")
        connection.execute(f"copy (select row_number() over () as id, * from people) to '{path}'")
    return path


def asked(model: dict[str, Any], population: dict[str, str]) -> dict[str, Any]:
    return {name: {**options, "population": population} for name, options in model.items()}


@some(2)
@pytest.mark.parametrize(
    ("way", "model", "columns", "cells"),
    [
        (FEW, K_MAP, {"age": "quasi", "town": "quasi"}, "text"),
        (FILES, PRESENCE, {"zip": TREE, "member": "quasi"}, "text"),
        (COUNTED, AT_MOST, {"born": "quasi", "wage": "quasi"}, "typed"),
    ],
    indirect=["way"],
    ids=["k_map", "delta_presence over nodes", "delta_presence of typed cells"],
)
def test_a_population_in_a_file(
    spark: Any,
    tmp_path: Path,
    members: Path,
    everybody: Path,
    model: dict[str, Any],
    columns: dict[str, Any],
    cells: str,
) -> None:
    privacy = asked(model, {"file": str(everybody)})
    one, _ = both(spark, tmp_path, members, columns, privacy=privacy, publish={"cells": cells})
    assert one.measures["classes"] > 1


def test_a_population_of_the_catalog(
    spark: Any, tmp_path: Path, members: Path, everybody: Path
) -> None:
    columns = {"age": "quasi", "town": "quasi"}
    inside = policy(members, tmp_path / "a", columns, privacy=asked(K_MAP, {"table": "everybody"}))
    outside = policy(
        members, tmp_path / "b", columns, privacy=asked(K_MAP, {"file": str(everybody)})
    )
    one, other = (anonymizer.run(given, spark, seed=7) for given in (inside, outside))
    assert one.df().equals(other.df())
    assert one.verification.passed


def test_a_release_is_verified_with_the_population_or_says_that_it_is_not(
    spark: Any, tmp_path: Path, members: Path, everybody: Path
) -> None:
    privacy = {"k_anonymity": 3, **asked(K_MAP, {"file": str(everybody)})}
    given = policy(members, tmp_path / "released", {"age": "quasi"}, privacy=privacy)
    anonymizer.run(given, spark, seed=7)
    again = anonymizer.verify(given, engine="spark")
    assert {check.name: check.passed for check in again.checks}["k_map"]
    assert not again.not_checked
    inside = given.model_copy(
        update={"publish": given.publish.model_copy(update={"database": None})}
    )
    anonymizer.run(inside, spark, seed=7)
    again = anonymizer.verify(inside, spark)
    assert again.passed
    assert [item.name for item in again.not_checked] == ["k_map"]
