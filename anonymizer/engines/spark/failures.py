"""Maps Spark's errors, by class, to AnonymizerErrors without their messages (may quote values)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from anonymizer.errors import AnonymizerError, EngineError, StatementError

_CONDITIONS: tuple[tuple[str, str, str], ...] = (
    (
        "TABLE_OR_VIEW_NOT_FOUND",
        "a table or view does not exist",
        "check the names in the policy, and the catalog of the session",
    ),
    (
        "PATH_NOT_FOUND",
        "a file or folder does not exist, or cannot be reached from Spark",
        "name a path that the driver and every executor can read",
    ),
    (
        "FILE_NOT_EXIST",
        "a file was removed while the run was at work",
        "leave the folders of runs (ANONYMIZER_TMPDIR) and of the release alone, and run again",
    ),
    (
        "EXPECT_VIEW_NOT_TABLE",
        "a table has taken the name of a view of the release",
        "rename it, or choose another publish.name, and run again",
    ),
    (
        "FAILED_READ_FILE",
        "a file cannot be read",
        "look at its format and permissions, on every executor",
    ),
    (
        "UNABLE_TO_INFER_SCHEMA",
        "a file cannot be read as the format that its name says",
        "look at the file, or name its format in source.format",
    ),
    *(
        (
            name,
            "a column of a file has a type that Spark does not read",
            "write its values as text into the file, or engine: duckdb",
        )
        for name in ("UNSUPPORTED_TIME_TYPE", "PARQUET_TYPE_ILLEGAL")
    ),
    (
        "CAST_INVALID_INPUT",
        "a value of the source does not have the type that was asked for",
        "check the types of the source's columns and the conditions of the policy",
    ),
    (
        "ARITHMETIC_OVERFLOW",
        "a number is out of range",
        "check the conditions of the policy and very large numbers in the source",
    ),
    (
        "NUMERIC_VALUE_OUT_OF_RANGE",
        "a number is out of range",
        "check the conditions of the policy and very large numbers in the source",
    ),
    (
        "DIVIDE_BY_ZERO",
        "a condition divides by zero",
        "guard the division in the conditions of the policy with nullif",
    ),
    (
        "UNRESOLVED_COLUMN",
        "an expression names a column that does not exist",
        "check the columns of the policy",
    ),
    (
        "DATATYPE_MISMATCH",
        "an expression does not fit the columns it names",
        "check the types that the conditions of the policy compare",
    ),
)

_OF_SQL = ("UNRESOLVED_COLUMN", "DATATYPE_MISMATCH")
"""Conditions of a statement that Spark does not take for what it says."""
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        "OutOfMemoryError",
        "Spark ran out of memory",
        "give driver and executors more (spark.driver.memory, spark.executor.memory)",
    ),
    (
        "No space left on device",
        "the disk is full",
        "free space in the folder of the run (ANONYMIZER_TMPDIR) and in spark.local.dir",
    ),
    (
        "Permission denied",
        "a file or folder cannot be accessed",
        "the executors need access to the folder of the run and to the place of the release",
    ),
    *(
        (words, "the Spark session was stopped", "open a new session and run again")
        for words in ("stopped SparkContext", "SparkContext was shut down", "dagScheduler()")
    ),
    ("cancelled", "the statement was interrupted", "run again"),
)
_LOST = (
    "the connection to Spark was lost: its JVM or its server has ended",
    "look at its log, for one lack of memory, and run again in a new session",
)
_LIBRARIES = ("pyspark", "py4j", "grpc")
"""Packages whose exceptions are Spark's; a JVM or server that is gone is one of these, or the
system's refusal of a connection."""


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    """Translate Spark's errors in a block to AnonymizerErrors without their messages."""
    try:
        yield
    except Exception as error:
        raise translate(error, where) from error


@contextmanager
def translate_rest(where: str) -> Iterator[None]:
    """Translate what Spark raises in a block, and nothing else."""
    try:
        yield
    except Exception as error:
        library = type(error).__module__.partition(".")[0]
        if isinstance(error, ConnectionError) or library in _LIBRARIES:
            raise translate(error, where) from error
        raise


def translate(error: Exception, where: str) -> AnonymizerError:
    """Translate Spark's `error` during `where` to an AnonymizerError without its message.

    An AnonymizerError, as of the embedded DuckDB, stays what it is.
    """
    if isinstance(error, AnonymizerError):
        return error
    words = _words(error)
    condition = _condition(error) or _named(words)
    for name, message, hint in _CONDITIONS:
        if name in condition:
            kind = StatementError if name in _OF_SQL else EngineError
            return kind.at(where, message, hint=hint)
    for name, message, hint in _CAUSES:
        if name in words:
            return EngineError.at(where, message, hint=hint)
    if _is_lost(error, words):
        return EngineError.at(where, _LOST[0], hint=_LOST[1])
    told = condition.split(".")[0] if condition.isascii() and condition else type(error).__name__
    return EngineError.at(where, f"Spark reported {told}", hint="--debug shows the engine's words")


def is_gone() -> bool:
    """Return whether the failure that is being handled is the loss of the session.

    Nothing of it can be cleaned up, and a client of Spark Connect waits for minutes in every call.
    """
    failed = sys.exc_info()[1]
    cause = failed.__cause__ if isinstance(failed, AnonymizerError) else failed
    return isinstance(cause, Exception) and _is_lost(cause, _words(cause))


def _condition(error: Exception) -> str:
    """The name of Spark's error condition, which contains no values; empty if there is none."""
    asked = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    found = None
    if callable(asked):
        try:
            found = asked()
        except Exception:
            found = None  # a lost gateway must not hide the failure
    return str(found or "")


def _words(error: Exception) -> str:
    """Spark's message; it is asked of the JVM, which may be gone."""
    try:
        return str(error)
    except Exception:
        return ""


def _named(words: str) -> str:
    """The condition in the message of an error of the JVM that tells none of its own."""
    found = re.search(r"^: org\.apache\.spark\.\w+Exception: \[([A-Z_.]+)\]", words, re.MULTILINE)
    return found[1] if found else ""


def _is_lost(error: Exception, words: str) -> bool:
    """Return whether a call did not reach the JVM, or a server of Spark Connect."""
    kind = type(error).__name__
    if kind == "Py4JError":  # which a call also raises that the JVM refuses, with its trace
        return "Trace:" not in words
    lost = isinstance(error, ConnectionError) or kind == "Py4JNetworkError"
    return lost or "UNAVAILABLE" in words
