"""Runs through Spark Connect, whose server has executors of their own.

    python -m tests.backends.spark_connect SOURCE FOLDER

Publishes `FOLDER/few` from rows in DuckDB, and `FOLDER/parts` from parts that executors solve,
after a run of it was interrupted at each of the moments `KILLED_AT`. In a process of its own,
since there can be one Spark in a process.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anonymizer
from anonymizer.engines.spark import connection
from tests.backends.postgres_server import free_port
from tests.backends.spark_cluster import CLUSTER, KILLED_AT, policy
from tests.backends.spark_local import SETTINGS

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


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


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """The address and the process of a server of its own, which executes what it is asked."""
    import pyspark

    home, port = Path(pyspark.__file__).parent, free_port()
    settings = {"spark.connect.grpc.binding.port": str(port), **SETTINGS}
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]", "--class", SERVER]
    for name, value in settings.items():
        command += ["--conf", f"{name}={value}"]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("wb") as log:
        running = subprocess.Popen(
            [*command, "spark-internal"],
            cwd=folder,
            env={**os.environ, "SPARK_HOME": str(home)},
            stdout=log,
            stderr=log,
        )
        try:
            until = time.monotonic() + 120
            while not _listens(port):
                assert running.poll() is None
                assert time.monotonic() < until
                time.sleep(0.2)
            yield f"sc://127.0.0.1:{port}", running.pid
        finally:
            running.kill()
            running.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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
