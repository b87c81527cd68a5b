"""A run on executors that are processes of their own, some of which are killed in the middle.

    python -m tests.backends.spark_cluster SOURCE FOLDER

Publishes `FOLDER/calm`, and then `FOLDER/killed` while an executor is killed at each of the moments
`KILLED_AT`. Prints how much memory DuckDB may take beside the driver, and the moments at which one
was killed. In a process of its own, since there can be one Spark in a process.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from anonymizer.engines.spark import connection
from tests.backends.spark_local import SETTINGS

KILLED_AT = {
    "reading": "anonymizer-run-*/*-snapshot/_temporary",
    "solving a part": "anonymizer-run-*/*-classes/attempt-*",
    "judging": "anonymizer-run-*/*-judged_together/_temporary",
}
"""Moments of a run by what is then in the folder of runs."""
CLUSTER = {
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
}


def main(source: str, folder: str) -> None:
    """Both runs, in one session."""
    from pyspark.sql import SparkSession

    from anonymizer.engines.spark.source import spark_engine

    # every way that rows can take is for large tables
    connection.ROWS_UP_TO = 0
    vars(connection)["LARGE_FROM"] = 50
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["ANONYMIZER_TMPDIR"] = folder
    builder = SparkSession.builder.master("local-cluster[2,1,512]").appName("tests")
    for name, value in (SETTINGS | CLUSTER).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        with spark_engine(None, spark, secrets.token_hex(8), Limits()) as engine:
            limit = engine.duckdb.raw("select current_setting('memory_limit')", "--memory-limit")
            print(f"beside the driver: {limit[0][0]}")
        anonymizer.run(policy(source, folder, "calm"), spark, seed=7)
        killed: list[str] = []
        ended = threading.Event()
        killing = threading.Thread(target=kill, args=(Path(folder), ended, killed))
        killing.start()
        try:
            made = anonymizer.run(policy(source, folder, "killed"), spark, seed=7)
        finally:
            ended.set()
            killing.join()
        assert made.verification.passed
        print("killed while " + ", ".join(killed))
    finally:
        spark.stop()


def policy(source: str, folder: str, name: str) -> Policy:
    """A policy whose run has parts, rows on Spark, and a guarantee on a column."""
    quasi = ("age", "sex", "race", "marital_status", "education", "occupation")
    with duckdb.connect() as connected:
        described = connected.execute(f"describe from '{source}'").fetchall()
    columns: dict[str, Any] = {row[0]: {"role": "drop"} for row in described}
    columns |= {column: {"role": "quasi"} for column in quasi}
    columns["income"] = {"role": "sensitive", "protect": {"l_diversity": 2}}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"file": source},
            "key": "id",
            "columns": columns,
            "privacy": {"k_anonymity": 4},
            "algorithm": {"name": "mondrian", "part_size": 100, "refine": 0},
            "publish": {"name": name, "database": folder},
        }
    )


def kill(folder: Path, ended: threading.Event, killed: list[str]) -> None:
    """Kill an executor at every moment, once."""
    for moment, pattern in KILLED_AT.items():
        while not ended.is_set():
            found = executors()
            # both have to be there, so that the run can go on
            if len(found) == 2 and any(folder.glob(pattern)):
                os.kill(found[0], signal.SIGKILL)
                killed.append(moment)
                break
            time.sleep(0.01)


def executors() -> list[int]:
    """Process ids of the executors that this process has started."""
    return [
        pid
        for pid in descendants(os.getpid())
        if b"executor.CoarseGrainedExecutorBackend" in command(pid)
    ]


def descendants(pid: int) -> list[int]:
    """Processes that a process has started, and those that these have."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        started = [int(c) for t in threads for c in (t / "children").read_text().split()]
    except OSError:  # it has ended
        return []
    return started + [below for child in started for below in descendants(child)]


def command(pid: int) -> bytes:
    """The command line of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(*sys.argv[1:])
