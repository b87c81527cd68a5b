"""Runs through Spark Connect give the release of DuckDB, and can be interrupted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import anonymizer
from tests.backends.spark_cluster import KILLED_AT, policy
from tests.backends.spark_connect import server
from tests.backends.test_spark import adult

pytestmark = [pytest.mark.spark, pytest.mark.slow]

POLICY = """
version: 1
source: {file: people.parquet}
columns:
  age: {role: quasi}
  ill: {role: sensitive}
privacy: {k_anonymity: 3}
publish: {name: made, database: out}
"""


def test_the_command_line_runs_on_a_server(tmp_path: Path) -> None:
    """`SPARK_REMOTE` names it: neither a JVM nor Java is needed here."""
    pytest.importorskip("pyspark")
    (tmp_path / "policy.yml").write_text(POLICY)
    rows = "select i % 30 as age, 'ill' || i % 3 as ill from range(60) t(i)"
    duckdb.execute(f"copy ({rows}) to '{tmp_path}/people.parquet' (format parquet)").fetchall()
    command = [sys.executable, "-m", "anonymizer", "run", "policy.yml", "--engine", "spark"]
    environment = {
        **os.environ,
        "ANONYMIZER_TMPDIR": str(tmp_path),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "PATH": "/nowhere",
    }
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        environment.pop(name, None)
    environment.pop("JAVA_HOME", None)

    def run(address: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**environment, "SPARK_REMOTE": address},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    with server() as (address, _):
        done = run(address)
        assert done.returncode == 0, done.stderr
    refused = run(address)
    assert refused.returncode == 2
    assert refused.stderr.startswith("SPARK_REMOTE: no server answers at this address")
    assert (tmp_path / "out" / "made.manifest.json").is_file()
    assert anonymizer.verify(None, tmp_path / "out", engine="spark").passed
    assert not list(tmp_path.glob("anonymizer-run-*"))


def test_runs_through_a_server(
    tmp_path: Path, adult_parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = adult(tmp_path, adult_parquet)
    command = [sys.executable, "-m", "tests.backends.spark_connect", str(source), str(tmp_path)]
    ran = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    server, *interrupted, done = ran.stdout.strip().splitlines()
    assert server.startswith("pyspark.sql.connect.")
    assert interrupted == [f"interrupted while {one}, [] left" for one in KILLED_AT]
    assert done == "done"
    # the folders of interrupted runs stay until the next one, which removes them
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(tmp_path))
    (tmp_path / "embedded").mkdir()
    database = tmp_path / "embedded" / "here.duckdb"
    given = policy(str(source), str(database), "here")
    here = anonymizer.run(given.model_copy(update={"engine": "duckdb"}), seed=7)
    with duckdb.connect() as connection:
        connection.execute(f"attach '{database}' as here (read_only)")
        wanted = connection.execute(f"from here.{here.view} order by all").fetchall()
        for name in ("few", "parts"):
            files = f"'{tmp_path}/{name}.parquet/*.parquet'"
            assert connection.execute(f"from {files} order by all").fetchall() == wanted
            assert anonymizer.verify(
                policy(str(source), str(tmp_path), name), engine="spark"
            ).passed
    assert not list(tmp_path.glob("anonymizer-run-*"))
