"""Opens a Spark session, or uses an open one, with the settings that statements rely on."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.engines.base import Limits
from anonymizer.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17

MEANING = {
    "spark.sql.ansi.enabled": "true",
    # a product that needs more than 38 digits fails instead of being rounded
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.caseSensitive": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    # files of codes are a tenth of the size of their rows: by file size, a million rows would
    # be broadcast. Small tables are broadcast by hints instead.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold": "10MB",
    # files of codes are small, but reading one has to be divided among the cores
    "spark.sql.files.openCostInBytes": "65536",
    # the secret of a run is 64 hexadecimal digits: plans and event logs do not show it
    "spark.sql.redaction.string.regex": "[0-9a-f]{64}",
}
"""Settings on which the meaning and cost of statements depend, with the values for a run."""

LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    "spark.driver.memory": "2g",
    "spark.log.level": "OFF",
    # Hadoop gives the files that it writes a mode of its own, whatever the process has
    "spark.hadoop.fs.permissions.umask-mode": "077",
}
"""Settings of a session that the tool starts, if Spark is not configured."""


LAST_TASKS = 5
"""Seconds for which a run that failed waits for the tasks that are still running."""


def is_session(database: object) -> bool:
    """Whether `database` is an open Spark session; imports nothing."""
    return type(database).__module__.startswith("pyspark.sql.") and hasattr(database, "sql")


@contextmanager
def own_session(limits: Limits) -> Iterator[SparkSession]:
    """Start a session, on the cluster that the environment configures or else on this machine.

    A memory limit is in MiB, and applies to the heap.

    Raises EngineError if Spark or Java is missing, or the session does not start.
    """
    builder = _builder()
    before = builder.getActiveSession() if hasattr(builder, "getActiveSession") else None
    session = _started(limits)
    try:
        yield session
    finally:
        if before is None:
            with suppress(Exception):
                session.stop()


def _builder() -> type[SparkSession]:
    try:
        # pyspark warns of pandas 3, which is not used here
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError.at(
            "engine",
            "Spark is not installed",
            hint="pip install 'sql-anonymizer[spark]', with Java 17 or newer beside it",
        ) from error
    return SparkSession  # type: ignore[no-any-return]


def _started(limits: Limits) -> SparkSession:
    _need_java()
    silent = Path(__file__).with_name("spark_log4j2.properties").as_uri()
    settings = {**LOCAL, "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={silent}"}
    if limits.memory is not None:
        settings["spark.driver.memory"] = limits.memory.removesuffix("iB").lower()
    builder = _builder().builder.appName("anonymizer")
    if not _configured_elsewhere():
        builder = builder.master(f"local[{limits.threads or '*'}]")
        for name, value in settings.items():
            builder = builder.config(name, value)
    quiet()
    try:
        with warnings.catch_warnings(), _same_python(), _private():
            warnings.simplefilter("ignore")
            return builder.getOrCreate()
    except Exception as error:
        raise EngineError.at(
            "engine",
            "a Spark session does not start",
            hint="look at JAVA_HOME, SPARK_HOME and spark-defaults.conf; --debug shows Spark's"
            " own words",
        ) from error


@contextmanager
def _private() -> Iterator[None]:
    """Let no other user read what a JVM writes that is started in the block."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def process_of(spark: SparkSession) -> int | None:
    """The process id of a session's JVM on this host; None if it cannot be told."""
    try:
        return int(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    except Exception:  # of a session without a JVM here, or of one that has ended
        return None


def is_idle(spark: SparkSession, *, owned: bool) -> bool:
    """Whether no task of the session runs, after a short wait; the jobs of an owned one are ended.

    A task of a job that was ended goes on writing for a moment.
    """
    try:
        context = spark.sparkContext
        if owned:
            context.cancelAllJobs()
        tracker = context._jsc.sc().statusTracker()
        for _ in range(LAST_TASKS * 10):
            if not sum(one.numRunningTasks() for one in tracker.getExecutorInfos()):
                return True
            time.sleep(0.1)
    except Exception:  # the JVM is gone, or nobody can tell
        return False
    return False


@contextmanager
def _same_python() -> Iterator[None]:
    """Let executors on this machine run this Python instead of the first on PATH."""
    if "PYSPARK_PYTHON" in os.environ or _configured_elsewhere():
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


def _configured_elsewhere() -> bool:
    """Whether spark-submit or the user's configuration determines where to run."""
    if os.environ.get("MASTER") or "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    folder = os.environ.get("SPARK_CONF_DIR") or (
        str(Path(os.environ["SPARK_HOME"]) / "conf") if os.environ.get("SPARK_HOME") else None
    )
    return folder is not None and (Path(folder) / "spark-defaults.conf").is_file()


def _need_java() -> None:
    home = os.environ.get("JAVA_HOME")
    found = Path(home) / "bin" / "java" if home else shutil.which("java")
    if found is None or not Path(found).exists():
        raise EngineError.at(
            "engine",
            "Spark needs Java, and none is found",
            allowed=f"Java {OLDEST_JAVA} or newer",
            hint="install it, and let JAVA_HOME or PATH lead to it",
        )


def quiet() -> None:
    """Silence Spark's reports of failures, which quote values."""
    for name in ("SQLQueryContextLogger", "py4j"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)


@contextmanager
def usual_settings(spark: SparkSession) -> Iterator[None]:
    """Apply the settings of `MEANING` while a run uses the session, and restore the old ones."""
    before = {name: spark.conf.get(name, None) for name in MEANING}
    quiet()
    for name, value in MEANING.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        with suppress(Exception):  # a stopped session has no settings to restore
            for name, old in before.items():
                spark.conf.unset(name) if old is None else spark.conf.set(name, old)
