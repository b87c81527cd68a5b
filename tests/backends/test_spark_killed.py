"""An executor that is killed in the middle costs a run time, and not its release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.backends.spark_cluster import KILLED_AT, policy
from tests.backends.test_spark import adult

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_killed_executors_change_nothing(tmp_path: Path, adult_parquet: Path) -> None:
    pytest.importorskip("pyspark")
    source = adult(tmp_path, adult_parquet)
    command = [sys.executable, "-m", "tests.backends.spark_cluster", str(source), str(tmp_path)]
    ran = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    # the driver's share does not grow with the machine
    assert "beside the driver: 1.0 GiB" in ran.stdout
    assert ran.stdout.strip().endswith("killed while " + ", ".join(KILLED_AT))

    def rows(name: str) -> list[Any]:
        with duckdb.connect() as connection:
            return connection.execute(f"from '{tmp_path}/{name}.parquet/*.parquet'").fetchall()

    assert rows("killed") == rows("calm")
    for name in ("killed", "calm"):
        given = policy(str(source), str(tmp_path), name)
        assert anonymizer.verify(given, engine="spark").passed
    # nothing of a run is left, whatever an executor was doing
    assert not list(tmp_path.glob("anonymizer-run-*"))
