"""Maps Postgres' errors, by SQLSTATE, to AnonymizerErrors; drops their messages, which may quote
values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anonymizer.errors import AnonymizerError, EngineError, StatementError

_WRITTEN = (
    "look at sensitive_when, and at views of the source: their functions have to name schemas"
)
_OF_SQL = ("42883", "42804", "42846", "42601")
"""States of a statement that the server does not take for what it says."""
_KNOWN: tuple[tuple[str, str, str], ...] = (
    ("57014", "the statement was cancelled", "a statement timeout, or interrupted: run again"),
    ("57P", "the server ended the connection", "the server was stopped: run again"),
    ("53100", "the server's disk is full", "free space in its data and temporary folders"),
    ("53200", "the server is out of memory", "lower --memory-limit, which each sort may use"),
    ("53300", "the server has too many connections", "close some, or raise max_connections"),
    ("53400", "a limit of the server was exceeded", "raise temp_file_limit, or free space"),
    (
        "42501",
        "the role may not do this",
        "grant it SELECT on the source, and CREATE on the schema of the release",
    ),
    ("42P01", "a table does not exist", "check the names in the policy"),
    ("42703", "a column does not exist", "check the names in the policy"),
    ("42883", "a function or operator does not fit its operands", _WRITTEN),
    ("42804", "types do not fit together", _WRITTEN),
    ("42846", "a type cannot be cast", _WRITTEN),
    ("42601", "is not SQL of Postgres", _WRITTEN),
    (
        "22003",
        "a number of the source is too large or too small to be computed with",
        "make infinite numbers, and those nearer to zero than 1e-300, NULL in source.query, or"
        " round them there; else check the conditions",
    ),
    ("22012", "a number is divided by zero", "look at sensitive_when, and at views of the source"),
    (
        "22",
        "a value of the source does not fit its use",
        "NaN and infinite numbers: make them NULL in source.query; else check the conditions",
    ),
    ("40", "another transaction was in the way", "run again"),
    ("55P03", "a table is locked", "wait for the other transaction, or raise lock_timeout"),
    ("25006", "the connection is read-only", "work tables and the release have to be written"),
    ("08", "the connection was lost", "check server and network, and run again"),
    ("3D000", "there is no such database", "check the name at the end of --database"),
    ("28", "the server refused the role or its password", "use ~/.pgpass or PGPASSWORD"),
)
"""Prefix of an SQLSTATE, its meaning, and a hint."""


ROW_SECURITY = (
    "row security hides rows from this role, or may do so: the release would be of those it sees",
    None,
    "run as a role that it does not apply to: the table's owner, or one with BYPASSRLS",
)
"""Message and hint for a table whose row security applies to the role."""


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Translate the server's errors in a block to AnonymizerErrors without their messages."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise translate(error, where) from error


def translate(error: Exception, where: str) -> AnonymizerError:
    """Translate the server's `error` during `where` to an AnonymizerError without its message."""
    state = getattr(error, "sqlstate", None) or ""
    raised_by = getattr(getattr(error, "diag", None), "source_function", None)
    if state == "42501" and raised_by == "check_enable_rls":
        return EngineError.at(where, *ROW_SECURITY)
    kind = StatementError if state in _OF_SQL else EngineError
    for prefix, message, hint in _KNOWN:
        if state.startswith(prefix):
            if where == "source.query" and (state in _OF_SQL or state.startswith("22")):
                hint = "run the query by itself to see why"
            return kind.at(where, message, hint=hint)
    if not state:
        hint = "check host, port and that the server runs"
        return EngineError.at(where, "the server cannot be reached", hint=hint)
    return EngineError.at(
        where, f"the server reported SQLSTATE {state}", hint="--debug shows its words"
    )
