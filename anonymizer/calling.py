"""The main job as Python calls it: what was given is looked at, errors name the parameters.

The command calls the same functions, whose errors name its options.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from anonymizer import api
from anonymizer.engines.choice import told_by
from anonymizer.errors import AnonymizerError, EngineError, PolicyError, Problem, SourceError
from anonymizer.policy import Policy

F = TypeVar("F", bound=Callable[..., Any])

PARAMETERS = {
    "--database": "database",
    "--engine": "engine",
    "--memory-limit": "limits.memory",
    "--threads": "limits.threads",
    "--temp-size": "limits.temp_size",
    "--seed-file": "seed",
    "--test-seed": "seed",
}
_OPTION = re.compile("|".join(PARAMETERS))
FRAMES = ("pandas", "polars", "pyarrow")
ALLOWED = (
    "the path of a database, an open DuckDB or psycopg connection, postgresql://..., a session"
)


def _in_parameters(function: F) -> F:
    """The function, called from Python."""

    @wraps(function)
    def called(policy: Any, database: Any = None, **options: Any) -> Any:
        try:
            if policy is not None or function is not api.verify:
                _refuse_other_than_policy(policy)
            _refuse_unusable(database)
            return function(policy, database, **options)
        except AnonymizerError as error:
            error.problems = tuple(map(_renamed, error.problems))
            error.args = ("\n".join(map(str, error.problems)),)
            raise

    return called  # type: ignore[return-value]


def _renamed(problem: Problem) -> Problem:
    texts = {name: getattr(problem, name) for name in ("path", "message", "allowed", "hint")}
    named = {
        name: _OPTION.sub(lambda found: PARAMETERS[found[0]], text)
        for name, text in texts.items()
        if text is not None
    }
    return replace(problem, **named)


def _refuse_other_than_policy(policy: object) -> None:
    if isinstance(policy, Policy):
        return
    hint = "Policy.load(path) reads a file, Policy.model_validate(...) takes a dict"
    if isinstance(policy, str | Path):
        hint = "anonymizer.Policy.load(path) reads a policy file"
    elif isinstance(policy, dict):
        hint = "anonymizer.Policy.model_validate(...) makes a policy of a dict"
    said = f"is of type {type(policy).__name__}, and not a Policy"
    raise PolicyError(Problem("policy", said, allowed="anonymizer.Policy", hint=hint))


def _refuse_unusable(database: object) -> None:
    """Raises SourceError for what is no database, EngineError for a connection that is closed."""
    if database is None or isinstance(database, str | Path):
        return
    if told_by(database) in ("postgres", "spark"):
        return
    import duckdb

    if not isinstance(database, duckdb.DuckDBPyConnection):
        kind = type(database)
        hint = None
        if kind.__module__.split(".", 1)[0] in FRAMES:
            hint = 'con = duckdb.connect(); con.register("visits", df), and give con'
        said = f"is of type {kind.__name__}, and not a database"
        raise SourceError(Problem("database", said, allowed=ALLOWED, hint=hint))
    try:
        database.execute("select 1")
    except duckdb.ConnectionException:
        closed = True
    except duckdb.Error:
        closed = False  # an aborted transaction, which is told later
    else:
        closed = False
    if closed:
        hint = "open it again with duckdb.connect"
        raise EngineError(Problem("database", "is a connection that was closed", hint=hint))


plan = _in_parameters(api.plan)
run = _in_parameters(api.run)
verify = _in_parameters(api.verify)
