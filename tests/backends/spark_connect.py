"""Runs through Spark Connect, whose server has executors of their own.

    python -m tests.backends.spark_connect SOURCE FOLDER

Publishes `FOLDER/few` from rows in DuckDB, and `FOLDER/parts` from parts that executors solve,
after a run of it was interrupted at each of the moments `KILLED_AT`. In a process of its own,
since there can be one Spark in a process.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import anonymizer
from anonymizer.engines.spark import connection
from tests.backends.spark_cluster import CLUSTER, KILLED_AT, policy
from tests.backends.spark_local import SETTINGS


def main(source: str, folder: str) -> None:
    """All runs, in one session."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["ANONYMIZER_TMPDIR"] = folder
    builder = SparkSession.builder.remote("local-cluster[2,1,512]").appName("tests")
    for name, value in (SETTINGS | CLUSTER).items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        print(type(spark).__module__)
        anonymizer.run(policy(source, folder, "few"), spark, seed=7)
        connection.ROWS_UP_TO = 0
        vars(connection)["LARGE_FROM"] = 50
        for moment, pattern in KILLED_AT.items():
            interrupt_once(Path(folder), pattern)
            try:
                anonymizer.run(policy(source, folder, "parts"), spark, seed=7)
            except KeyboardInterrupt:
                left = sorted(one.name for one in Path(folder).glob("parts*"))
                print(f"interrupted while {moment}, {left} left")
        anonymizer.run(policy(source, folder, "parts"), spark, seed=7)
        print("done")
    finally:
        spark.stop()


def interrupt_once(folder: Path, pattern: str) -> None:
    """Send SIGINT to this process as soon as a run gets there."""

    def wait() -> None:
        while not any(folder.glob(pattern)):
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait, daemon=True).start()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(*sys.argv[1:])
