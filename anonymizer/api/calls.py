"""The functions of the Python API: check arguments, and name parameters in errors.

The commands call the same underlying functions; their errors name options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from anonymizer.api.frames import alone, connected, kind_of, standing
from anonymizer.engines.base import Limits
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


def _are_texts(given: object) -> bool:
    listed = isinstance(given, Collection) and not isinstance(given, str | bytes | Mapping)
    return listed and all(isinstance(one, str) for one in cast("Collection[object]", given))


TYPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "None": (lambda given: given is None, ""),
    "str": (lambda given: isinstance(given, str), "a text"),
    "Path": (lambda given: isinstance(given, Path), "a path"),
    "bool": (lambda given: isinstance(given, bool), "True or False"),
    "int": (
        lambda given: isinstance(given, Integral) and not isinstance(given, bool),
        "a whole number",
    ),
    "float": (lambda given: isinstance(given, Real) and not isinstance(given, bool), "a number"),
    "Sequence[str]": (_are_texts, "a list of texts"),
    "Limits": (lambda given: isinstance(given, Limits), "Limits(memory=…, threads=…)"),
}
"""By the type that a parameter is written with: what is of the type, and how a message names it."""


def _in_parameters(function: F) -> F:
    """Wrap a function for calls from Python: problems name its parameters."""

    @wraps(function)
    def called(*given: Any, **options: Any) -> Any:
        refuse_misread(function, options)
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
    refuse_misread(function, options)  # before a frame is read
    if kind_of(table) is not None:
        if database is not None:
            said = "is given beside a frame, which is a table of no database"
            parameters = signature(function).parameters
            options_of = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]
            hint = f"name every option: {', '.join(options_of)}"
            if "quasi" in parameters:
                hint = "name every option, such as quasi=['age', 'zip']"
            raise SourceError.at("database", said, hint=hint)
        table, database = "frame", connected(table, "frame")
    elif not isinstance(table, str):
        said = f"is of type {type(table).__name__}, and not a table"
        allowed = "a frame, the name of a table, the path of a data file, a policy"
        raise SourceError.at("table", said, allowed=allowed)
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
        refuse_misread(assess, options)
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


def attack(policy: AnyPolicy, source: Any = None, **options: Any) -> Attack | TablesAttack:
    """Attack a release: see `anonymizer.review.attack.attack` and, for several tables,
    `anonymizer.review.tables.attack_tables`.
    """
    from anonymizer.review.attack import attack
    from anonymizer.review.tables import attack_tables

    _refuse_other_than_policy(policy)
    refuse_misread(attack, {"source": source})
    if isinstance(policy, SchemaPolicy):
        return _in_parameters(attack_tables)(policy, source, **options)
    return _in_parameters(attack)(policy, source, **options)


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
    refuse_misread(write_report, {"target": target})
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


def refuse_misread(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Raises PolicyError for arguments that are not of the type of their parameter.

    A text is a sequence of letters and true is a number, so that such arguments would be misread.
    """
    problems = []
    for name, parameter in signature(function).parameters.items():
        types = {one.strip() for one in str(parameter.annotation).split("|")}
        given = options.get(name)
        if name not in options or not types <= TYPES.keys() or (given is None and "None" in types):
            continue
        if not any(TYPES[one][0](given) for one in types):
            allowed = [TYPES[one][1] for one in sorted(types) if one != "None"]
            said = f"is of type {type(given).__name__}, which does not fit"
            problems.append(Problem(name, said, allowed=" or ".join(allowed)))
    PolicyError.refuse(problems)


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
