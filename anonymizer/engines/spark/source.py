"""Open a Spark session, or use an open one, and the source of a run in it."""

from __future__ import annotations

import logging
import os
import re
import shutil
import socket
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from anonymizer.compile import Table, ident, lit, work
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.files import read_files, source_files
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.duckdb.source import input_files, missing_files
from anonymizer.engines.session import Session, Workplace, refuse_repeated
from anonymizer.engines.spark import failures
from anonymizer.engines.spark.connection import SparkEngine
from anonymizer.engines.spark.dialect import DIALECT
from anonymizer.engines.spark.tables import SparkTables, catalog_table, is_remote
from anonymizer.errors import EngineError, PolicyError, Problem, SourceError, TemplateError
from anonymizer.policy import Policy
from anonymizer.policy.paths import column_path
from anonymizer.process import run_folder
from anonymizer.process.run_folder import RunFolder
from anonymizer.source.masking.masks import DOUBLE_DIGITS, family_of, precision
from anonymizer.source.profile import TableProfile, published_type
from anonymizer.source.snapshot import QUERIED, Relation, with_owners

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# Opens a Spark session, or uses an open one, with the settings that statements rely on.


OLDEST_JAVA = 17
REMOTE = "SPARK_REMOTE"
"""The variable with the address of a Spark Connect server, in which a session then runs."""
PORT = 15002
"""Port of a server whose address names none."""
PATIENCE = 5.0
"""Seconds that a server may take to accept a connection."""

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
    # secret and keys are 64 hexadecimal digits or more (capitals, once they are bytes): plans and
    # event logs do not show them
    "spark.sql.redaction.string.regex": "[0-9a-fA-F]{64,}",
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
    """Return whether `database` is an open Spark session; imports nothing."""
    return type(database).__module__.startswith("pyspark.sql.") and hasattr(database, "sql")


@contextmanager
def own_session(limits: Limits) -> Iterator[SparkSession]:
    """Start a session, on the cluster that the environment configures or else on this machine.

    A memory limit is in MiB, and applies to the heap.

    Raises EngineError if Spark or Java is missing, or the session does not start.
    """
    builder = _builder()
    before = builder.getActiveSession() if hasattr(builder, "getActiveSession") else None
    session = _start_session(limits)
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


def _start_session(limits: Limits) -> SparkSession:
    if os.environ.get(REMOTE):
        _need_server(os.environ[REMOTE])
    else:
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
            hint="look at JAVA_HOME, SPARK_HOME, SPARK_REMOTE and spark-defaults.conf; --debug"
            " shows Spark's own words",
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
    """True if no task of the session runs, after a short wait; the jobs of an owned one are ended.

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
    """Return whether spark-submit or the user's configuration determines where to run."""
    if os.environ.get("MASTER") or os.environ.get(REMOTE) or "PYSPARK_GATEWAY_PORT" in os.environ:
        return True
    folder = os.environ.get("SPARK_CONF_DIR") or (
        str(Path(os.environ["SPARK_HOME"]) / "conf") if os.environ.get("SPARK_HOME") else None
    )
    return folder is not None and (Path(folder) / "spark-defaults.conf").is_file()


def _need_server(address: str) -> None:
    """Raise EngineError if nobody listens at the address of a Spark Connect server.

    Spark would wait for ten minutes. Behind a proxy it has to find out by itself.
    """
    parts = urlsplit(address)
    if parts.scheme != "sc" or getproxies():
        return
    try:
        there = (parts.hostname or "localhost", parts.port or PORT)
        socket.create_connection(there, timeout=PATIENCE).close()
    except (OSError, ValueError) as error:
        raise EngineError.at(
            REMOTE,
            "no server answers at this address",
            allowed=f"sc://host:{PORT}",
            hint="start it there, or unset the variable to run Spark on this machine",
        ) from error


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
    # (py4j shows the traceback of a lost connection by way of the root logger)
    logging.getLogger().addFilter(_of_others)


def _of_others(record: logging.LogRecord) -> bool:
    return "py4j" not in Path(record.pathname).parts


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
            for name, old in () if failures.is_gone() else before.items():
                spark.conf.unset(name) if old is None else spark.conf.set(name, old)


# Opens the source of a run on Spark, and the embedded DuckDB of the session.


SOURCE = work("source")
SHARE = 0.4
"""Share of a run's memory for DuckDB, and the same for the heap of a JVM that the tool starts; both
use more than that."""
ON_A_DRIVER = "1GiB"
"""DuckDB's memory if executors run on other machines and no limit is given: a driver is often a
container with little more than the heap of its JVM, but sees the memory of the whole machine."""


@contextmanager
def open_source(policy: Policy, database: Any, run: Workplace, limits: Limits) -> Iterator[Session]:
    """Open Spark with the source as a work table, and a DuckDB for compact state.

    `database` is an open Spark session, or None to start one.
    """
    SourceError.refuse(missing_files(policy, folders=True))
    with spark_engine(policy, database, run.run_id, limits) as engine:
        engine.several = bool(run.beside)
        yield Session(engine, *relation_of(policy, engine, SOURCE), None)


def relation_of(
    policy: Policy, engine: SparkEngine, queried: Table
) -> tuple[Relation, TableProfile]:
    """See `anonymizer.engines.registry.further_source`."""
    _refuse_conditions(policy)
    engine.work_tables.source(queried.name, _source(policy, engine))
    columns = engine.describe(ident(queried).text, "source")
    refuse_repeated(columns)
    profile = TableProfile(tuple(columns), numeric_draws=False)
    SourceError.refuse(_unequal_masks(policy, profile))
    return with_owners(policy, Relation(ident(queried), queried), profile)


@contextmanager
def spark_engine(
    policy: Policy | None, database: Any, run_id: str, limits: Limits
) -> Iterator[SparkEngine]:
    """Open Spark with its embedded DuckDB, and a private folder for moving tables between them."""
    if database is not None and not is_session(database):
        raise EngineError.at(
            "--database",
            "is not used with Spark: a source is a file, or a table of Spark's catalog",
            allowed="an open Spark session in Python",
        )
    readable = input_files(policy) if policy is not None else ()
    with failures.translate_rest("engine"), ExitStack() as stack:
        of_jvm = limits if limits.memory is None else _share(limits, limits.memory)
        spark = database if database is not None else stack.enter_context(own_session(of_jvm))
        share = _of_duckdb(limits, spark)
        writer = process_of(spark)
        folder = run_folder.create(run_id, writer=writer)
        stack.push(partial(_remove_folder, folder, spark, writer, database is None))
        stack.enter_context(usual_settings(spark))
        duckdb = stack.enter_context(
            own_connection(
                None, spill=folder.path, files=readable, writable=(folder.path,), limits=share
            )
        )
        duckdb.limits = share
        tables = SparkTables(spark, duckdb, folder.path, f"anonymizer_{run_id}_")
        stack.callback(tables.drop)
        engine = SparkEngine(spark, duckdb, tables, owns_connection=database is None)
        try:
            yield engine
        finally:
            for undo in engine.undo:
                undo()


def _remove_folder(
    folder: RunFolder,
    spark: SparkSession,
    writer: int | None,
    owned: bool,
    kind: type[BaseException] | None,
    *_: object,
) -> None:
    """Remove the folder of a run, or only what is in it if Spark might make it again.

    What was interrupted goes on in the JVM, and nobody can tell for how long.
    """
    gone = writer is not None and run_folder.is_gone(writer)
    if kind is None or gone or (issubclass(kind, Exception) and is_idle(spark, owned=owned)):
        folder.remove()
        return
    folder.empty()
    if is_remote(spark):
        # a server may still put the files of its last statement into place
        for _second in range(LAST_TASKS):
            time.sleep(1)
            folder.empty()


def _of_duckdb(limits: Limits, spark: SparkSession) -> Limits:
    """Limits of the DuckDB that is embedded next to a session."""
    if limits.memory is not None:
        return _share(limits, limits.memory)
    master = spark.conf.get("spark.master", None) or ""
    if master.partition("[")[0] != "local":
        return replace(limits, memory=ON_A_DRIVER)
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return replace(limits, memory=f"{int(whole * SHARE / 2**20)}MiB")


def _share(limits: Limits, memory: str) -> Limits:
    """Limits with one share of the memory, for either DuckDB or the JVM."""
    amount = re.match(r"\s*([\d.]+)\s*([kmgt])(i?)b\s*\Z", memory, re.IGNORECASE)
    if amount is None:
        raise EngineError.at("--memory-limit", "is not an amount of memory", allowed="8GB, 800MB")
    unit = (1024 if amount[3] else 1000) ** ("kmgt".index(amount[2].lower()) + 1)
    return replace(limits, memory=f"{int(float(amount[1]) * unit * SHARE / 2**20)}MiB")


def _refuse_conditions(policy: Policy) -> None:
    """Raises PolicyError for conditions that could have another meaning on Spark."""
    import sqlglot
    from sqlglot import exp

    problems: list[Problem] = []
    for name in policy.semi_sensitive:
        path, text = column_path(name, "sensitive_when"), policy.columns[name].sensitive_when or ""
        if text in policy.columns:
            continue
        try:
            DIALECT.translate(f"select ({text}) as flag from source")
            whole = sqlglot.parse_one(text, read="duckdb").find_all(exp.Cast)
        except (TemplateError, sqlglot.errors.SqlglotError):
            problems.append(Problem(path, "uses what is not known to mean the same on Spark"))
            continue
        if any(cast.to.this in exp.DataType.INTEGER_TYPES for cast in whole):
            problems.append(
                Problem(
                    path,
                    "casts to a whole number, which DuckDB rounds and Spark cuts off",
                    hint="use round() or floor()",
                )
            )
    PolicyError.refuse(problems)


def _unequal_masks(policy: Policy, profile: TableProfile) -> Iterator[Problem]:
    """The columns whose masks would not give the values that they give on DuckDB."""
    random = False
    for name, sql_type in profile.columns:
        for kind, options in policy.columns[name].masks if name in policy.columns else ():
            random |= kind == "noise" or getattr(options, "method", None) == "random"
            if kind == "token" and not _has_equal_text(sql_type):
                said = f"a token of {published_type(sql_type)} would be another on Spark"
                yield Problem(column_path(name), said, hint="cast it to text in source.query")
            exact = kind == "noise" and family_of(sql_type) == "decimal"
            if exact and precision(sql_type)[0] > DOUBLE_DIGITS:
                said = f"noise on {sql_type} would have other last digits on Spark"
                hint = f"cast it to DOUBLE, or to {DOUBLE_DIGITS} digits, in source.query"
                yield Problem(column_path(name), said, hint=hint)
    if random and policy.key is None:
        for name, sql_type in profile.columns:
            if not _has_equal_text(sql_type):
                said = f"{published_type(sql_type)} would give a row other random numbers on Spark"
                yield Problem(column_path(name), said, hint="name a key, or leave the column out")


def _has_equal_text(sql_type: str) -> bool:
    """Return whether values of a type are the same text on Spark as on DuckDB."""
    return family_of(sql_type) != "other" or sql_type == "BOOLEAN"


def _source(policy: Policy, engine: SparkEngine) -> DataFrame:
    source, spark = policy.source, engine.spark
    try:
        match source.kind:
            case "file":
                files = source_files(policy)
                path = files[0]
                # (Spark, too, takes a path for a pattern)
                plain = len(files) == 1 and not set(str(path)) & set("*?[]{}\\")
                if source.format != "parquet" or not plain:
                    path = _as_parquet(policy, files, engine)
                return spark.read.parquet(str(path))
            case "table":
                return catalog_table(source.parts, spark, "source.table")
            case _:
                return spark.sql(_one_query(source.query or ""))
    except (SourceError, PolicyError, EngineError):
        raise
    except Exception as error:
        path_of = {"file": "source.file", "table": "source.table"}.get(source.kind, "source.query")
        raise SourceError(failures.translate(error, path_of).problems) from error


def _as_parquet(policy: Policy, files: Sequence[Path], engine: SparkEngine) -> Path:
    """Convert files with DuckDB, so that their columns have the same types on every engine."""
    made = engine.work_tables.folder / "source.parquet"
    reader = read_files(engine.duckdb, files, policy.source.read, QUERIED, "source.file").sql
    # (Parquet has no whole numbers of 128 bits: DuckDB writes doubles)
    long = [n for n, kind in engine.duckdb.describe(reader.text, "source") if kind == "HUGEINT"]
    exact = ", ".join(f"cast({ident(n)} as decimal(38, 0)) as {ident(n)}" for n in long)
    columns = f"* replace ({exact})" if long else "*"
    engine.duckdb.raw(
        f"copy (select {columns} from {reader}) to {lit(str(made))} (format parquet)", "source.file"
    )
    return made


def _one_query(text: str) -> str:
    """A user's query. Raises PolicyError if it is not a single query in Spark's SQL."""
    import sqlglot
    from sqlglot import exp

    try:
        trees = sqlglot.parse(text, read="spark")
    except sqlglot.errors.SqlglotError:
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise PolicyError.at("source.query", "is not one SELECT statement of Spark's SQL")
    return text.strip().rstrip(";")
