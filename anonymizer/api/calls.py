"""The functions of the Python API: check arguments, and name parameters in errors.

The commands call the same underlying functions; their errors name options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from anonymizer.api.frames import alone, connected, kind_of, standing
from anonymizer.engines.registry import told_by
from anonymizer.errors import AnonymizerError, EngineError, PolicyError, Problem, SourceError
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.run import verbs
from anonymizer.run import verify as verifying

if TYPE_CHECKING:
    from anonymizer.review.assess import Assessment
    from anonymizer.review.attack import Attack
    from anonymizer.review.draft.draft import Draft
    from anonymizer.review.draft.tables.draft import TablesDraft
    from anonymizer.review.sweep import Point
    from anonymizer.review.tables import TablesAttack
    from anonymizer.review.tables.assess import TablesAssessment

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_ALIKE = (
    *("database", "engine", "certificate", "sign", "public_key", "population", "combined"),
    *("earlier", "fraction", "person", "quasi", "require", "sensitive", "share", "threshold"),
    *("release", "vary"),
)
PARAMETERS = {f"--{name.replace('_', '-')}": name for name in _ALIKE} | {
    "--memory-limit": "limits.memory",
    "--threads": "limits.threads",
    "--temp-size": "limits.temp_size",
    "--seed-file": "seed",
    "--test-seed": "seed",
    "--as": "standard",
    "--combinations": "combined",
    "TABLE": "table",
}
"""Command-line options with the corresponding parameters of the functions here."""
_OPTION = re.compile("|".join(rf"(?<![\w-]){name}(?![\w-])" for name in PARAMETERS))
ALLOWED = (
    "the path of a database, an open DuckDB or psycopg connection, a frame, postgresql://...,"
    " a session"
)


def _in_parameters(function: F) -> F:
    """Wrap a function for calls from Python: problems name its parameters."""

    @wraps(function)
    def called(*given: Any, **options: Any) -> Any:
        try:
            return function(*given, **options)
        except AnonymizerError as error:
            error.reword(_renamed)
            raise

    return called  # type: ignore[return-value]


def _of_policy(function: F) -> F:
    """Wrap a function of a policy and a database; a frame may replace the policy's source."""

    @wraps(function)
    def called(policy: Any, database: Any = None, **options: Any) -> Any:
        if policy is not None or function is not verifying.verify:
            _refuse_other_than_policy(policy)
        if kind_of(database) is not None:
            with standing(database, _table_of(policy)) as connection:
                found = function(policy, connection, **options)
            return alone(found) if function is verbs.run else found
        _refuse_unusable(database)
        return function(policy, database, **options)

    return _in_parameters(called)  # type: ignore[return-value]


def _table_of(policy: AnyPolicy | None) -> str:
    if isinstance(policy, SchemaPolicy):
        hint = "a DuckDB connection, and connection.register('visits', frame) for every frame"
        raise SourceError.at(
            "database", "is one frame, and the policy has several tables", hint=hint
        )
    if policy is None or policy.source.table is None:
        hint = "source: {table: visits} in the policy, and the frame stands for visits"
        raise SourceError.at("database", "is a frame, and the policy names no table", hint=hint)
    return policy.source.table


def _of_table(function: Callable[..., T], table: Any, database: Any, options: Any) -> T:
    """Call a function of a table and a database; either may be a frame."""
    if kind_of(table) is not None:
        table, database = "frame", connected(table, "frame")
    elif kind_of(database) is not None:
        database = connected(database, table)
    _refuse_unusable(database)
    return _in_parameters(function)(table, database, **options)


@overload
def assess(table: SchemaPolicy, database: Any = None, **options: Any) -> TablesAssessment: ...


@overload
def assess(table: Any, database: Any = None, **options: Any) -> Assessment: ...


def assess(table: Any, database: Any = None, **options: Any) -> Assessment | TablesAssessment:
    """Assess risk and diversity of a table: see `anonymizer.review.assess.assess`.

    `table`: a frame, a data file, or a table of `database`; or a policy, whose source is assessed
    with its roles, several tables together.
    """
    from anonymizer.review.assess import assess, assess_policy

    if isinstance(table, Policy | SchemaPolicy):
        return _of_policy(assess_policy)(table, database, **options)
    return _of_table(assess, table, database, options)


def init(table: Any = None, database: Any = None, **options: Any) -> Draft | TablesDraft:
    """Draft a policy: see `anonymizer.review.draft.draft.draft`. `text` of the result is the YAML.

    `table`: a frame, a data file, or a table of `database`. Without it: one policy for all tables
    of `database` whose rows lead to a person.
    """
    from anonymizer.review.draft.draft import draft
    from anonymizer.review.draft.tables.draft import draft_tables

    if table is not None:
        return _of_table(draft, table, database, options)
    if kind_of(database) is not None:
        hint = "init(frame), or a DuckDB connection with a table for every frame"
        raise SourceError.at("database", "is one frame, and no table is named", hint=hint)
    _refuse_unusable(database)
    return _in_parameters(draft_tables)(database, **options)


def attack(policy: AnyPolicy, *given: Any, **options: Any) -> Attack | TablesAttack:
    """Attack a release: see `anonymizer.review.attack.attack` and, for several tables,
    `anonymizer.review.tables.attack_tables`.
    """
    from anonymizer.review.attack import attack
    from anonymizer.review.tables import attack_tables

    _refuse_other_than_policy(policy)
    if isinstance(policy, SchemaPolicy):
        return _in_parameters(attack_tables)(policy, *given, **options)
    return _in_parameters(attack)(policy, *given, **options)


def sweep(policy: AnyPolicy, database: Any = None, **options: Any) -> list[Point]:
    """Compare risk and loss over options: see `anonymizer.review.sweep.sweep`.

    `vary` may be a mapping as well: `{"k": [2, 5, 10]}`.
    """
    from anonymizer.review.sweep import sweep

    if "vary" in options:
        options["vary"] = _listed(options["vary"])
    return _of_policy(sweep)(policy, database, **options)


def _listed(vary: object) -> object:
    """Names and values as the command line has them: `k=2,5,10`."""
    if isinstance(vary, Mapping):
        return [
            f"{name}={values if isinstance(values, str) else ','.join(map(str, values))}"
            for name, values in vary.items()
        ]
    return [vary] if isinstance(vary, str) else vary


def report(policy: AnyPolicy, target: str | Path, **options: Any) -> None:
    """Write the report of a release: see `anonymizer.review.report.write_report`."""
    from anonymizer.review.report import write_report

    _refuse_other_than_policy(policy)
    _in_parameters(write_report)(policy, target, **options)


def _renamed(problem: Problem) -> Problem:
    texts = {name: getattr(problem, name) for name in ("path", "message", "allowed", "hint")}
    named = {
        name: _OPTION.sub(lambda found: PARAMETERS[found[0]], text)
        for name, text in texts.items()
        if text is not None
    }
    return replace(problem, **named)


def _refuse_other_than_policy(policy: object) -> None:
    if isinstance(policy, AnyPolicy):
        return
    hint = "Policy.load(path) reads a file, Policy.model_validate(...) takes a dict"
    if isinstance(policy, str | Path):
        hint = "anonymizer.Policy.load(path) reads a policy file"
    elif isinstance(policy, dict):
        hint = "anonymizer.Policy.model_validate(...) makes a policy of a dict"
    said = f"is of type {type(policy).__name__}, and not a Policy"
    raise PolicyError.at("policy", said, allowed="anonymizer.Policy", hint=hint)


def _refuse_unusable(database: object) -> None:
    """Raises SourceError if it is not a database, EngineError if its connection is closed."""
    if database is None or isinstance(database, str | Path):
        return
    if told_by(database) in ("postgres", "spark"):
        return
    import duckdb

    if not isinstance(database, duckdb.DuckDBPyConnection):
        said = f"is of type {type(database).__name__}, and not a database"
        raise SourceError.at("database", said, allowed=ALLOWED)
    try:
        database.execute("select 1").fetchall()
    except duckdb.ConnectionException:
        hint = "open it again with duckdb.connect"
        closed = Problem("database", "is a connection that was closed", hint=hint)
        raise EngineError(closed) from None
    except duckdb.Error:
        pass  # an aborted transaction, which is reported later


plan = _of_policy(verbs.plan)
run = _of_policy(verbs.run)
verify = _of_policy(verifying.verify)
certify = _of_policy(verifying.certify)
