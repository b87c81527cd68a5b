"""Faults of Spark at moments of a run: what others do to its jobs, its tables and its folders."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.engines.execute import Listener
from anonymizer.engines.spark.source import process_of
from anonymizer.errors import AnonymizerError
from tests.backends.faults import COLUMNS, SOURCE, Stage, at
from tests.backends.spark_local import SETTINGS
from tests.backends.tables import PEOPLE
from tests.runs import fill


@dataclass
class Lake(Stage):
    """A folder with a Parquet file of the source; `catalog`: the release is in Spark's catalog."""

    folder: Path
    spark: Any
    catalog: bool = False
    listener: Listener | None = field(default=None, init=False)

    @property
    def runs(self) -> Path:
        """The folder of runs, to which `ANONYMIZER_TMPDIR` leads."""
        return self.folder / "runs"

    @property
    def place(self) -> Path:
        return self.folder / "out"

    @property
    def policy(self) -> Policy:
        place = {} if self.catalog else {"database": str(self.place)}
        return Policy.model_validate(
            {
                "version": 1,
                "engine": "spark",
                "source": {"file": str(self.folder / "people.parquet")},
                "columns": COLUMNS,
                "privacy": {"k_anonymity": 4},
                "publish": {"name": "released", **place},
            }
        )

    def build(self) -> None:
        self.runs.mkdir()
        with duckdb.connect() as connection:
            fill(connection, PEOPLE, SOURCE, "people")
            connection.execute(f"copy people to '{self.folder}/people.parquet'").fetchall()
        Stage.build(self)

    def run(self, seed: int, listener: Listener | None = None) -> object:
        return anonymizer.run(self.policy, self.spark, seed=seed, listener=listener)

    def published(self) -> list[Any]:
        if self.catalog:
            self.spark.catalog.refreshTable("released")
            return sorted(map(repr, map(tuple, self.spark.table("released").collect())))
        with duckdb.connect() as connection:
            text = f"from '{self.place}/released.parquet/*.parquet'"
            return sorted(map(repr, connection.execute(text).fetchall()))

    def passes(self) -> bool:
        database = self.spark if self.catalog else None
        return anonymizer.verify(self.policy, database, engine="spark").passed

    def frozen(self) -> set[str]:
        """Tables with the rows of a release, apart from those of the release that is published."""
        tables = {row["tableName"] for row in self.spark.sql("show tables").collect()}
        if "released" in tables:
            marks = self.spark.sql("show tblproperties released").collect()
            tables.discard(f"_released_{dict(map(tuple, marks))['anonymizer.run_id']}")
        return {name for name in tables if name.startswith("_released_")}

    def left(self) -> list[str]:
        found = [*self.runs.iterdir()]
        if self.place.exists():
            found += self.place.iterdir()
        names = {path.name for path in found} - {"released.parquet", "released.manifest.json"}
        if self.spark is not None:
            names |= self.frozen()
            names |= {row["viewName"] for row in self.spark.sql("show views").collect()}
            names -= {"released", "released_manifest"}
        return sorted(names)


MOMENTS = {
    "reading the source": "runs/anonymizer-run-*/*-snapshot/_temporary",
    "writing the release": "out/released.parquet.*.tmp/_temporary",
    "verifying it": "out/released.parquet.*.tmp/_SUCCESS",
}
"""Moments of a run that publishes a folder, by what is then in the folders."""


@contextmanager
def whenever(folder: Path, pattern: str, act: Callable[[], object]) -> Iterator[list[str]]:
    """Act again and again, in a thread, while something is in the folder; tells when it did."""
    acted: list[str] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.is_set():
            if next(folder.glob(pattern), None) is not None:
                act()
                acted.append(pattern)
            time.sleep(0.001)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield acted
    finally:
        ended.set()
        watching.join()


def remove_runs(lake: Lake) -> None:
    """Somebody tidies up the folder for temporary files."""
    for path in lake.runs.iterdir():
        shutil.rmtree(path)


def remove_built(lake: Lake) -> None:
    """Somebody removes what a run has written, and not yet published."""
    for path in lake.place.glob("*.tmp"):
        shutil.rmtree(path)
    for name in lake.frozen():
        lake.spark.sql(f"drop table {name}")


def take_manifest(lake: Lake) -> None:
    """Somebody takes the name under which the manifest is written."""
    for path in lake.place.glob("*.tmp"):
        run_id = path.name.split(".")[-2]
        (lake.place / f"released.manifest.json.{run_id}.tmp").mkdir()


REMOVED = "a file was removed while the run was at work"
LOCKED = "reading or writing failed"
FAULTS: tuple[tuple[str, str, Callable[[Lake], None], str], ...] = (
    ("folder", "read the source", remove_runs, LOCKED),
    ("folder", "final classes", remove_runs, LOCKED),
    ("folder", "write the release", remove_runs, LOCKED),
    ("folder", "write the release", remove_built, REMOVED),
    ("folder", "write the release", take_manifest, "the manifest cannot be written"),
    ("catalog", "write the release", remove_built, REMOVED),
)
"""Where a run publishes, the step after which somebody does something, and what the run says."""


# Sessions that are stopped, and JVMs and servers that are killed, in a process of their own:
#
#     python -m tests.backends.spark_faults FOLDER [ADDRESS PID]
#
# Prints a JSON object for every fault. With the address of a Spark Connect server, and the number
# of its process, that is killed; else sessions of this process are stopped, and then its JVM.

STEPS = {
    "reading the source": "read the source",
    "in the algorithm": "final classes",
    "writing the release": "write the release",
}
"""Moments of a run by the step that it has just made."""


def main(folder: Path, address: str | None = None, server: str | None = None) -> None:
    """Play every fault on a release in the folder."""
    os.environ["ANONYMIZER_TMPDIR"] = str(folder / "runs")
    lake = Lake(folder, new_session(address))
    lake.build()
    if server is not None:
        told(lake, "server killed", at("final classes", lambda: os.kill(int(server), SIGKILL)))
        return
    for moment, step in STEPS.items():
        told(lake, f"stopped while {moment}", at(step, lake.spark.stop))
        lake.spark = new_session(address)
    for moment, pattern in MOMENTS.items():
        with whenever(folder, pattern, lake.spark.stop):
            told(lake, f"stopped in a job while {moment}", None)
        lake.spark = new_session(address)
    _, new = lake.seeds()
    lake.run(new)
    assert lake.standing() == new
    jvm = process_of(lake.spark)
    assert jvm is not None
    told(lake, "JVM killed", at("final classes", lambda: os.kill(jvm, SIGKILL)))


def new_session(address: str | None) -> Any:
    from pyspark.sql import SparkSession

    if address is not None:
        from pyspark.sql.connect.client.retries import DefaultPolicy

        session = SparkSession.builder.remote(address).getOrCreate()
        # without this it waits for ten minutes for a server that is gone
        session.client.set_retry_policies([DefaultPolicy(max_retries=2)])
        return session
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def told(lake: Lake, fault: str, listener: Listener | None) -> None:
    """Print what a run says that a fault ends, and what it leaves."""
    now, new = lake.seeds()
    problems, runs = [], {*lake.runs.iterdir()}
    try:
        lake.run(new, listener)
    except AnonymizerError as error:
        problems = [problem.as_dict() for problem in error.problems]
    session, lake.spark = lake.spark, None  # which shows no tables any more
    left = [
        path.relative_to(lake.folder).as_posix()
        for folder in (lake.place, *({*lake.runs.iterdir()} - runs))
        for path in folder.iterdir()
    ]
    told = {"fault": fault, "problems": problems, "old": lake.standing() == now, "left": left}
    lake.spark = session
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(Path(sys.argv[1]), *sys.argv[2:])
