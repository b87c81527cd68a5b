"""How failures of the engine are told: never as a defect of ours without a way out."""

from __future__ import annotations

import errno
import os

import duckdb
import pytest

from anonymizer.cli.failures import CANNOT, failure
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.engines.duckdb.failures import translate
from anonymizer.errors import EngineError

SECRET = "Mrs Smith"
KINDS = [
    duckdb.InternalException,
    duckdb.FatalException,
    duckdb.OutOfMemoryException,
    MemoryError,
    RuntimeError,
    ValueError,
    IndexError,
]


class Failing:
    """A connection whose statements crash."""

    def __init__(self, kind: type[Exception]) -> None:
        self.kind = kind

    def extract_statements(self, text: str) -> list[str]:
        return [text]

    def execute(self, text: str, values: object = None) -> object:
        raise self.kind(SECRET)


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_of_a_statement_says_what_to_do(kind: type[Exception]) -> None:
    engine = DuckDBEngine(Failing(kind), owns_connection=True)  # type: ignore[arg-type]
    with pytest.raises(EngineError) as raised:
        engine.raw("select 1", "grow clusters")
    told = failure(raised.value)
    assert told.exit_code == CANNOT
    (problem,) = told.problems
    assert problem.path == "grow clusters"
    assert "--memory-limit" in (problem.hint or "")
    assert SECRET not in str(problem)


FULL = os.strerror(errno.ENOSPC)


@pytest.mark.parametrize(
    "error",
    [
        duckdb.IOException(f'IO Error: Could not write file "{SECRET}.csv": {FULL}'),
        duckdb.IOException(f'IO Error: failed: {{"message":"file {SECRET}: {FULL}","errno":"28"}}'),
        duckdb.TransactionException(f"TransactionContext Error: commit of {SECRET}: {FULL}"),
    ],
)
def test_a_full_disk_is_told_as_one(error: Exception) -> None:
    (problem,) = translate(error, "publish.database").problems
    assert str(problem).startswith(f"publish.database: reading or writing failed: {FULL} (hint: ")
    assert "free disk space" in str(problem)
    assert SECRET not in str(problem)


def test_what_the_system_says_is_told_of_files_alone() -> None:
    for error in (
        duckdb.IOException(f"IO Error: {SECRET}: {FULL} of people"),
        duckdb.ConversionException(f"Conversion Error: {SECRET}: {FULL}"),
        duckdb.TransactionException(f"TransactionContext Error: Conflict on {SECRET}"),
    ):
        told = str(translate(error, "run"))
        assert FULL not in told
        assert SECRET not in told


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_crash_outside_of_a_statement_is_no_defect_of_ours(kind: type[Exception]) -> None:
    told = failure(kind(SECRET))
    assert told.exit_code == CANNOT
    assert SECRET not in str(told.problems[0])
    assert str(translate(kind(SECRET), "engine")) == str(told.problems[0])


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select nope from people", "a column does not exist"),
        ("select p.nope from people p", "a column does not exist"),
        ("select people.age from people p", "a column does not exist"),
        ("select year(name) from people", "an expression does not fit the columns it names"),
        ("select * from nobody", "a table or function does not exist"),
    ],
)
def test_a_query_that_fails_is_told_to_be_run_by_itself(query: str, said: str) -> None:
    engine = DuckDBEngine(duckdb.connect(), owns_connection=True)
    engine.raw("create table people as select 1 as age, 'x' as name", "setup")
    with pytest.raises(EngineError) as raised:
        engine.raw(query, "source.query")
    assert str(raised.value) == f"source.query: {said} (hint: run the query by itself to see why)"
    with pytest.raises(EngineError) as raised:
        engine.raw(query, "elsewhere")
    assert str(raised.value).startswith(f"elsewhere: {said} (hint: check the")
