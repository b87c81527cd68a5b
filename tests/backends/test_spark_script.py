"""The printed script runs on Spark as it is and makes the rows of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.engines.base import Limits
from anonymizer.engines.spark import script as spark_script
from anonymizer.engines.spark.script import PLACE, script, scripted
from anonymizer.errors import EngineError
from anonymizer.process.secret import Seed
from tests.backends.test_spark import adult, policy

pytestmark = pytest.mark.spark

FRESH = "replace(concat(uuid(), uuid()), '-', '')"
COLUMNS = {"age": "quasi", "education": "quasi", "income": "sensitive"}
COARSE = {"privacy": {"k_anonymity": 60}}


def run_script(spark: Any, text: str) -> None:
    """Every statement in order, as spark-sql would run them; with the secret of a seed."""
    assert FRESH in text
    for statement in text.replace(FRESH, f"'{Seed.test(7).secret}'").split(";\n"):
        lines = [line for line in statement.splitlines() if not line.startswith("--")]
        if any(line.strip() for line in lines):
            spark.sql("\n".join(lines)).collect()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, spark: Any) -> Any:
    """A session in which scripts are unrolled to few rounds, and what they made is removed."""
    monkeypatch.setattr(spark_script, "ROUNDS", 3)
    yield spark
    spark.sql(f"drop database if exists {PLACE} cascade")
    spark.sql("drop temporary variable if exists anonymizer_secret")


def test_the_script_makes_the_rows_of_a_run(
    short: Any, tmp_path: Path, adult_parquet: Path
) -> None:
    path = adult(tmp_path, adult_parquet, 200)
    given = policy(path, tmp_path / "released.duckdb", COLUMNS, **COARSE)
    as_script = scripted(given)
    run_script(short, script(anonymizer.plan(as_script, short, engine="spark"), as_script))
    found = [tuple(row) for row in short.sql(f"select * from {PLACE}.staged").collect()]
    made = anonymizer.run(as_script, seed=7, engine="duckdb", limits=Limits(threads=1))
    assert made.measures["classes"] > 2
    assert sorted(found, key=str) == sorted(made.relation().fetchall(), key=str)


@pytest.mark.slow
def test_too_few_rounds_stop_the_script(short: Any, tmp_path: Path, adult_parquet: Path) -> None:
    path = adult(tmp_path, adult_parquet, 60)
    given = policy(path, tmp_path / "released", COLUMNS, privacy={"k_anonymity": 2})
    spark_script.ROUNDS = 1
    text = script(anonymizer.plan(scripted(given), short, engine="spark"), given)
    with pytest.raises(Exception, match="more than 1 rounds"):
        run_script(short, text)


def test_what_spark_cannot_say_is_refused(short: Any, tmp_path: Path, adult_parquet: Path) -> None:
    columns = {"age": {"role": "quasi", "hierarchy": {"builder": "cardinality"}}}
    rest: dict[str, Any] = {"algorithm": {"name": "full_domain"}, "suppression_limit": 0.5}
    given = policy(adult(tmp_path, adult_parquet, 60), tmp_path / "released", columns, **rest)
    with pytest.raises(EngineError, match="anonymizer run --engine spark"):
        script(anonymizer.plan(given, short, engine="spark"), given)
