"""The Python API: every command as a function, with data frames as input and output."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast, overload

from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.registry import engine_of_database
from anonymizer.errors import AnonymizerError, EngineError, PolicyError, Problem, SourceError
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.policy.kinds import ANONYMISED, kind_of_mapping
from anonymizer.policy.paths import closest
from anonymizer.policy.reading import Reading
from anonymizer.policy.values import table_parts
from anonymizer.process.secret import Seed
from anonymizer.release.published import Release
from anonymizer.run import verbs
from anonymizer.run import verify as verifying
from anonymizer.source.files import refuse_renamed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from anonymizer.review.assess import Assessment
    from anonymizer.review.attack import Attack
    from anonymizer.review.comparison import Comparison
    from anonymizer.review.counts import CountsAttack
    from anonymizer.review.draft.schema_draft import TablesDraft
    from anonymizer.review.draft.table_draft import Draft
    from anonymizer.review.grid import Point
    from anonymizer.review.observers import TablesAssessment, TablesAttack


# Frames of pandas, polars and Arrow, as sources and as results.


KINDS = {
    ("pandas", "DataFrame"): "pandas",
    ("polars", "DataFrame"): "polars",
    ("polars", "LazyFrame"): "polars",
    ("pyarrow", "Table"): "arrow",
    ("pyarrow", "RecordBatch"): "arrow",
}


def kind_of(value: object) -> str | None:
    """`pandas`, `polars` or `arrow`; None if it is not a frame. Imports none of the libraries."""
    for kind in type(value).__mro__:
        found = KINDS.get((kind.__module__.split(".", 1)[0], kind.__name__))
        if found is not None:
            return found
    return None


def connect_frame(frame: Any, table: str) -> DuckDBPyConnection:
    """Open a new connection in which the frame is available as `table`.

    Raises SourceError for a frame that the engine cannot read, and for a name with a schema.
    """
    import duckdb

    parts = table_parts(table)
    if len(parts) > 1:
        said = "names a schema, which a frame is in none of"
        raise SourceError.at("source.table", said, allowed="a name alone, as in visits")
    if kind_of(frame) == "polars":
        _refuse_without_arrow()
    if type(frame).__name__ == "LazyFrame":
        frame = frame.collect()
    elif type(frame).__name__ == "RecordBatch":
        import pyarrow as pa

        frame = pa.Table.from_batches([frame])
    names = _names(frame)
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SourceError.at("frame", f"has several columns named {', '.join(twice)}")
    if not names:
        raise SourceError.at("frame", "has no columns")
    connection = duckdb.connect(":memory:")
    # the engine infers types of object columns from this many rows; later ones may differ
    connection.execute(f"set pandas_analyze_sample = {len(frame)}")
    if not _readable(connection, parts[0], frame):
        connection.close()
        hint = "cast them to text or numbers, or leave them out of the frame"
        found = _unreadable(frame)
        said = f"columns {', '.join(found)}" if found else "it"
        raise SourceError.at("frame", f"{said} cannot be read", hint=hint)
    seen = connection.execute(f"describe from {ident(parts[0])}").fetchall()
    try:
        refuse_renamed(names, [name for name, *_ in seen], "frame")
    except SourceError:
        connection.close()
        raise
    return connection


def _refuse_without_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        said = "is of polars, which is read by way of pyarrow, and that is not installed"
        raise SourceError.at("frame", said, hint="pip install pyarrow") from None


def _readable(
    connection: DuckDBPyConnection, table: str, frame: Any, *, values: bool = False
) -> bool:
    """True if the engine can determine the column types, and with `values` read every value."""
    import duckdb

    try:
        connection.register(table, frame)
        connection.execute(f"describe from {ident(table)}").fetchall()
        if values:
            connection.execute(f"select max(hash(columns(*))) from {ident(table)}").fetchall()
    except (duckdb.Error, TypeError, ValueError):
        return False
    return True


def _unreadable(frame: Any, *, values: bool = False) -> list[str]:
    """The names of the columns that the engine cannot read."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(f"set pandas_analyze_sample = {len(frame)}")
        return [
            name if name.strip() else f"{at + 1} (without a name)"
            for at, name in enumerate(_names(frame))
            if not _readable(connection, "one", _column(frame, at), values=values)
        ]


def _column(frame: Any, at: int) -> Any:
    """One column, as a separate frame."""
    if kind_of(frame) == "pandas":
        return frame.iloc[:, [at]]
    return frame.select([_names(frame)[at]])


def _names(frame: Any) -> list[str]:
    """The column names of a frame; Arrow's `columns` are the values."""
    if kind_of(frame) == "arrow":
        return [str(name) for name in frame.schema.names]
    return [str(name) for name in frame.columns]


@contextmanager
def standing(frame: Any, table: str) -> Iterator[DuckDBPyConnection]:
    """Provide `connect_frame` for a block, and release the frame afterwards.

    Errors in the block are attributed to the frame, since there is no source query.
    """
    connection = connect_frame(frame, table)
    try:
        yield connection
    except BaseException as error:
        connection.close()
        if isinstance(error, EngineError):
            _refuse_mixed(frame)
        if isinstance(error, AnonymizerError):
            error.reword(_of_frame)
        raise
    connection.execute("select 1").fetchall()  # unregister needs every result read
    connection.unregister(table_parts(table)[0])


def _refuse_mixed(frame: Any) -> None:
    """Raises SourceError for columns of Python objects with values that the engine cannot read."""
    if type(frame).__name__ == "DataFrame":
        found = _unreadable(frame, values=True)
        if found:
            raise SourceError.at(
                "frame",
                f"columns {', '.join(found)} have values that cannot be read,"
                " or that are of several types",
                hint="make all values of a column numbers, dates or text before:"
                " frame[column].astype(str) makes text of them",
            )


def _of_frame(problem: Problem) -> Problem:
    """Reword a problem to name the frame instead of the policy's query."""
    hint = problem.hint
    if hint is not None and "source.query" in hint:
        hint = hint.replace("source.query", "the frame")
    return replace(problem, hint=hint)


def without_source_warning(release: Release) -> Release:
    """A release of a frame, without the warning that it is in the same database as its source."""
    from anonymizer.publish.duckdb.in_place import WARNING

    return replace(release, warnings=tuple(w for w in release.warnings if w != WARNING))


def rows_of(release: Release, kind: str) -> Any:
    """The published rows as a frame of the given kind."""
    if kind == "pandas":
        return release.df()
    with release._leaving("arrow") as rows:
        table = rows.to_arrow_table()
    if kind == "arrow":
        return table
    import polars

    return polars.from_arrow(table)


# The functions of the Python API: check arguments, and name parameters in errors.
#
# The commands call the same underlying functions; their errors name options.


F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_ALIKE = (
    *("database", "engine", "certificate", "sign", "public_key", "population", "combined"),
    *("earlier", "fraction", "person", "quasi", "require", "sensitive", "share", "threshold"),
    *("release", "vary", "by", "measure", "minimum", "total", "hidden", "rounded", "zeros"),
)
PARAMETERS = {f"--{name.replace('_', '-')}": name for name in _ALIKE} | {
    "--memory-limit": "limits.memory",
    "--threads": "limits.threads",
    "--temp-size": "limits.temp_size",
    "--seed-file": "seed",
    "--test-seed": "seed",
    "--as": "standard",
    "--combinations": "combined",
    "--counts": "assess_counts",
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
    "Reading": (lambda given: isinstance(given, Reading), "a policy's source.read"),
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
            error.reword(_with_parameter_names)
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
            return without_source_warning(found) if function is verbs.run else found
        _refuse_unusable(database)
        return function(policy, database, **options)

    return _in_parameters(called)  # type: ignore[return-value]


def _table_of(policy: AnyPolicy | None) -> str:
    if policy is not None and policy.several:
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
        table, database = "frame", connect_frame(table, "frame")
    elif not isinstance(table, str):
        said = f"is of type {type(table).__name__}, and not a table"
        allowed = "a frame, the name of a table, the path of a data file, a policy"
        raise SourceError.at("table", said, allowed=allowed)
    elif kind_of(database) is not None:
        database = connect_frame(database, table)
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

    if isinstance(table, AnyPolicy):
        refuse_misread(assess, options)
        return _of_policy(assess_policy)(table, database, **options)
    return _of_table(assess, table, database, options)


def assess_counts(table: Any, database: Any = None, **options: Any) -> CountsAttack:
    """Attack a published table of counts: see `anonymizer.review.counts.assess_counts`.

    `table`: a frame, a data file, a table of `database`, or a query over it.
    """
    from anonymizer.review.counts import assess_counts

    return _of_table(assess_counts, table, database, options)


def init(table: Any = None, database: Any = None, **options: Any) -> Draft | TablesDraft:
    """Draft a policy (`anonymizer.review.draft.table_draft.draft`); its `text` is the YAML.

    `table`: a frame, a data file, a table of `database`, or the query of a table of counts. Without
    it: one policy for all tables of `database` whose rows lead to a person.
    """
    from anonymizer.review.draft.counts_draft import draft_table_or_query
    from anonymizer.review.draft.schema_draft import draft_tables

    if table is not None:
        return _of_table(draft_table_or_query, table, database, options)
    if kind_of(database) is not None:
        hint = "init(frame), or a DuckDB connection with a table for every frame"
        raise SourceError.at("database", "is one frame, and no table is named", hint=hint)
    _refuse_unusable(database)
    return _in_parameters(draft_tables)(database, **options)


def attack(policy: AnyPolicy, source: Any = None, **options: Any) -> Attack | TablesAttack:
    """Attack a release: see `anonymizer.review.attack.attack` and, for several tables,
    `anonymizer.review.observers.attack_tables`.
    """
    from anonymizer.review.attack import attack
    from anonymizer.review.observers import attack_tables

    _refuse_other_than_policy(policy)
    refuse_misread(attack, {"source": source})
    if policy.several:
        return _in_parameters(attack_tables)(policy, source, **options)
    return _in_parameters(attack)(policy.one_table("attack"), source, **options)


@overload
def compare(
    policy: AnyPolicy, database: Any = None, *, other: AnyPolicy, **options: Any
) -> Comparison: ...


@overload
def compare(
    policy: AnyPolicy, database: Any = None, *, vary: object, **options: Any
) -> list[Point]: ...


def compare(policy: AnyPolicy, database: Any = None, **options: Any) -> Comparison | list[Point]:
    """Compare a policy with an `other`, or risk and loss over a grid of its options (`vary`).

    See `anonymizer.review.comparison.compare` and `anonymizer.review.grid.sweep`. `vary` may be a
    mapping as well: `{"k": [2, 5, 10]}`.
    """
    from anonymizer.review.comparison import compare
    from anonymizer.review.grid import sweep

    if ("vary" in options) == ("other" in options):
        raise PolicyError.at("compare", "needs one of two", allowed="other, vary")
    if "vary" in options:
        options["vary"] = _vary_argument(options["vary"])
        return _of_policy(sweep)(policy, database, **options)
    _refuse_other_than_policy(options["other"])
    return _of_policy(compare)(policy, database, **options)


def _vary_argument(vary: object) -> object:
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


def _with_parameter_names(problem: Problem) -> Problem:
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
    if engine_of_database(database) in ("postgres", "spark"):
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


# Anonymize a frame in one call: roles as lists of columns, other options as in a policy.


TABLE = "frame"

Columns = Sequence[str] | Mapping[str, Mapping[str, Any]]
"""Names of columns, or names with further options as in a policy's `columns`."""


_COLUMNS = 'names, as in ["age", "zip"], or names with options, as in {"zip": {"kind": ...}}'


_PARAMETERS = {"identifier": "identifiers"}
"""Parameters whose name differs from the role of their columns."""


class Anonymized(NamedTuple):
    """The result of `anonymize`."""

    frame: Any
    """The published rows, as the same kind of frame as the input."""
    release: Release
    """The verified release; `release.manifest` says how to read the cells."""


def anonymize(
    frame: Any,
    quasi: Columns,
    sensitive: Columns = (),
    *,
    identifiers: Sequence[str] = (),
    keep: Columns = (),
    person: str | None = None,
    k: int | None = 5,
    algorithm: str | Mapping[str, Any] = "mondrian",
    cells: str = "text",
    suppression_limit: float = 0.0,
    seed: Seed | str | int | None = None,
    limits: Limits | None = None,
    **policy: Any,
) -> Anonymized:
    """Anonymize a pandas, polars or Arrow frame, verify the result, and return it.

    `quasi`: columns that others may know, published in classes of at least `k` equal rows (or
    persons, if `person` names their column). `sensitive`: columns to be protected; a mapping gives
    each its rule, as in `{"diagnosis": {"l_diversity": 3}}`. `keep`: published as they are.
    `identifiers`: identify a person, and are not published. Columns that are not named are not
    published either. `algorithm`, `cells`, `suppression_limit` and all other arguments are keys of
    a policy.

    The order of the rows is unrelated to that of the frame. Raises PolicyError and SourceError for
    what cannot work, and GuaranteeError if a guarantee cannot be achieved.

    >>> anonymized, release = anonymize(visits, ["age", "zip"], {"ill": {"l_diversity": 3}}, k=5)
    """
    kind = _kind(frame)
    _refuse_taken(policy)
    roles = {
        "quasi": _options("quasi", quasi),
        "sensitive": {
            name: {"protect": rule} if rule else {}
            for name, rule in _options("sensitive", sensitive).items()
        },
        "identifier": _options("identifiers", identifiers),
        "keep": _options("keep", keep),
    }
    given: dict[str, Any] = {
        "version": 1,
        "source": {"table": TABLE},
        "algorithm": {"name": algorithm} if isinstance(algorithm, str) else algorithm,
        "suppression_limit": suppression_limit,
        **policy,
    }
    if k is not None:
        given["privacy"] = _merge({"k_anonymity": k}, policy.get("privacy"))
    if person is not None:
        given["person"] = person
    with standing(frame, TABLE) as connection:
        index = frame.index.names if kind_of(frame) == "pandas" else ()
        given["columns"] = _columns(connection, roles, person, tuple(map(str, index)))
        name = "anonymized" if kind_of_mapping(given) == ANONYMISED else "pseudonymised"
        given["publish"] = _merge({"name": name, "cells": cells}, policy.get("publish"))
        release = run(Policy.model_validate(given), connection, seed=seed, limits=limits)
    return Anonymized(rows_of(release, kind), without_source_warning(release))


def _kind(frame: Any) -> str:
    kind = kind_of(frame)
    if kind is None:
        said = f"is of type {type(frame).__name__}, and not a frame"
        raise SourceError.at("frame", said, allowed="pandas, polars or Arrow")
    return kind


def _columns(
    connection: Any,
    roles: Mapping[str, Mapping[str, Any]],
    person: str | None,
    index: Sequence[str],
) -> dict[str, dict[str, Any]]:
    """The columns of the policy, in the order of the frame; those without a role are dropped.

    The person column becomes an identifier unless it has a role.
    """
    names = [row[0] for row in connection.execute(f"describe {TABLE}").fetchall()]
    _refuse_unknown_and_repeated(roles, names, person, index)
    columns: dict[str, dict[str, Any]] = {name: {"role": "drop"} for name in names}
    if person is not None:
        columns[person] = {"role": "identifier"}
    for role, named in roles.items():
        columns |= {name: {"role": role, **given} for name, given in named.items()}
    return columns


def _merge(given: dict[str, Any], further: object) -> object:
    """Merge two mappings; the policy will refuse `further` if it is not a mapping."""
    if further is None:
        return given
    return given | dict(further) if isinstance(further, Mapping) else further


def _refuse_taken(policy: Mapping[str, Any]) -> None:
    """Refuse policy keys that the frame and the lists of columns already determine."""
    hints = {
        "source": "the frame is the source: prepare it before",
        "tables": "the frame is the only table: several tables are a policy for run",
        "columns": 'quasi, sensitive, identifiers and keep name them, as in {"zip": {"kind": ...}}',
    }
    PolicyError.refuse(
        Problem(name, "is no key of a policy for a frame", hint=hint)
        for name, hint in hints.items()
        if name in policy
    )


def _options(parameter: str, columns: object) -> dict[str, dict[str, Any]]:
    if isinstance(columns, str):
        columns = [columns]
    if not isinstance(columns, Iterable):
        raise PolicyError.at(parameter, "is no list of columns", allowed=_COLUMNS)
    named = columns if isinstance(columns, Mapping) else dict.fromkeys(columns)
    PolicyError.refuse(
        Problem(f"{parameter}.{name}", "is no mapping of options", allowed=_COLUMNS)
        for name, given in named.items()
        if given is not None and not isinstance(given, Mapping)
    )
    return {str(name): dict(given or {}) for name, given in named.items()}


def _refuse_unknown_and_repeated(
    roles: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
    person: str | None,
    index: Sequence[str],
) -> None:
    """Refuse unknown columns and columns with several roles.

    `person`: may have another role as well.
    """
    problems = []
    seen: dict[str, str] = {}
    listed = [
        (_PARAMETERS.get(role, role), name) for role, named in roles.items() for name in named
    ]
    if person is not None and person not in {*names, *(name for _, name in listed)}:
        listed.append(("person", person))
    for parameter, name in listed:
        if name not in names:
            said = f"{name} is no column of the frame"
            allowed, hint = ", ".join(names), closest(name, names)
            if name in index:
                hint = f"{name} is an index: frame.reset_index() makes a column of it"
            problems.append(Problem(parameter, said, allowed=allowed, hint=hint))
        elif name in seen:
            problems.append(Problem(parameter, f"{name} is named as {seen[name]} as well"))
        seen[name] = parameter
    PolicyError.refuse(problems)
