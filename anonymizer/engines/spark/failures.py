"""Maps Spark's errors, by class, to AnonymizerErrors without their messages (may quote values)."""

from __future__ import annotations

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
    ("cancelled", "the statement was interrupted", "run again"),
    ("stopped SparkContext", "the Spark session was stopped", "open a new session and run again"),
)


@contextmanager
def translate_errors(where: str) -> Iterator[None]:
    """Translate Spark's errors in a block to AnonymizerErrors without their messages."""
    try:
        yield
    except Exception as error:
        raise translate(error, where) from error


def translate(error: Exception, where: str) -> AnonymizerError:
    """Translate Spark's `error` during `where` to an AnonymizerError without its message."""
    condition = _condition(error)
    for name, message, hint in _CONDITIONS:
        if name in condition:
            kind = StatementError if name in _OF_SQL else EngineError
            return kind.at(where, message, hint=hint)
    words = str(error)
    for name, message, hint in _CAUSES:
        if name in words:
            return EngineError.at(where, message, hint=hint)
    told = condition.split(".")[0] if condition.isascii() and condition else type(error).__name__
    return EngineError.at(where, f"Spark reported {told}", hint="--debug shows the engine's words")


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
