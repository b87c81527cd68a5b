"""How failures of the engine are told: never as a defect of ours without a way out."""

from __future__ import annotations

import duckdb
import pytest

from anonymizer.commands.failures import CANNOT, failure
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

    def execute(self, text: str, values: object = None) -> object:
        raise self.kind(SECRET)


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_of_a_statement_says_what_to_do(kind: type[Exception]) -> None:
    engine = DuckDBEngine(Failing(kind), owned=True)  # type: ignore[arg-type]
    with pytest.raises(EngineError) as raised:
        engine.raw("select 1", "grow clusters")
    told = failure(raised.value)
    assert told.exit_code == CANNOT
    (problem,) = told.problems
    assert problem.path == "grow clusters"
    assert "--memory-limit" in (problem.hint or "")
    assert SECRET not in str(problem)


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_crash_outside_of_a_statement_is_no_defect_of_ours(kind: type[Exception]) -> None:
    told = failure(kind(SECRET))
    assert told.exit_code == CANNOT
    assert SECRET not in str(told.problems[0])
    assert str(translate(kind(SECRET), "engine")) == str(told.problems[0])
