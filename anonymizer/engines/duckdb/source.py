"""Open a session on the source: the connection, the relation that is read, and its profile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer import hierarchy
from anonymizer.compile import Table, ident, lit
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import (
    DuckDBEngine,
    afterwards,
    borrowed_connection,
    refuse_transaction,
)
from anonymizer.engines.duckdb.files import read_files, source_files
from anonymizer.engines.duckdb.sandbox import ZONE, make_table, own_connection, refuse_missing
from anonymizer.engines.session import Database, Session, Workplace, find_table, refuse_repeated
from anonymizer.errors import EngineError, PolicyError, Problem, SourceError, is_waited_for
from anonymizer.policy import Msb, Policy
from anonymizer.policy.paths import column_path, within
from anonymizer.process import run_folder
from anonymizer.source.profile import TableProfile
from anonymizer.source.snapshot import QUERIED, Relation, with_owners

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Opens a session on the source: the connection, the relation that is read, and its profile.


def vaults_of(policy: Policy) -> list[Path]:
    """The files that store the value of each token."""
    named = {column.vault for column in policy.columns.values() if column.vault is not None}
    return [policy.resolve(file).resolve() for file in sorted(named)]


@contextmanager
def open_session(
    policy: Policy,
    database: Database,
    *,
    beside: Mapping[str, Policy] | None = None,
    spill: Path | None = None,
    databases: Sequence[Path] = (),
    limits: Limits | None = None,
) -> Iterator[Session]:
    """Open the source of `policy`. Raises SourceError if it cannot be found or read.

    `beside`: policies of further tables by name, whose files may also be read.

    `databases`: the files that statements of the session may attach.
    """
    path = Path(database).resolve() if isinstance(database, str | Path) else None
    if isinstance(database, str | Path):
        refuse_missing(database)
    if policy.ledger is not None:
        databases = (*databases, policy.resolve(policy.ledger).resolve())
    further = beside or {}
    every = (policy, *further.values())
    databases = (*databases, *(file for one in every for file in vaults_of(one)))
    missing = list(missing_files(policy))
    for name, one in further.items():
        missing += within(name, missing_files(one))
    SourceError.refuse(missing)
    with ExitStack() as stack:
        if database is None or path is not None:
            if path is None and any(one.source.kind != "file" for one in every):
                raise SourceError.at(
                    "--database", "is needed for a source that is a table or a query"
                )
            engine = stack.enter_context(
                own_connection(
                    path,
                    spill=spill,
                    files=[file for one in every for file in input_files(one)],
                    databases=databases,
                    limits=_enough(policy, limits or Limits()),
                    lends_memory=any(one.algorithm.may_divide for one in every),
                )
            )
        else:
            assert not isinstance(database, str | Path)
            refuse_transaction(database)
            stack.enter_context(usual_settings(database))
            engine = stack.enter_context(borrowed_connection(database))
        source, profile = relation_of(policy, engine)
        yield Session(engine, source, profile, path)


def _enough(policy: Policy, limits: Limits) -> Limits:
    """Limit the exact mode of msb to one thread, which is four times as fast.

    It takes thousands of tiny steps in one statement; waking a second thread for each takes longer
    than the step.
    """
    algorithm = policy.algorithm
    if isinstance(algorithm, Msb) and algorithm.mode == "exact" and limits.threads is None:
        return replace(limits, threads=1)
    return limits


USUAL = {
    "default_order": "asc",
    "default_null_order": "nulls_last",
    "default_collation": "",
    "integer_division": "false",
    "preserve_insertion_order": "true",
    # the zone determines what a timestamp with time zone is as a text or as a date
    **ZONE,
}
"""Settings that change the meaning of SQL, with the values that the statements of a run rely on."""


NAMES_OF_UTC = frozenset({"etc/utc", "uct", "etc/uct", "zulu", "etc/zulu", "gmt", "etc/gmt"})
"""The engine's names for zones that are equal to UTC."""


def _other(value: str, usual: str) -> bool:
    """Return whether a setting differs from the usual one; "ascending" counts as "asc"."""
    if usual == ZONE["TimeZone"] and value.lower() in NAMES_OF_UTC:
        return False
    return value.lower()[: len(usual) or None] != usual.lower()


@contextmanager
def usual_settings(connection: DuckDBPyConnection) -> Iterator[None]:
    """Use default settings while a run uses the connection, and restore the user's afterwards.

    A user may have made ORDER BY descend, or `/` divide whole numbers. Raises EngineError if the
    settings are locked.
    """
    import duckdb

    names = (*USUAL, "search_path")
    listed = ", ".join(f"current_setting({lit(name)})" for name in names)
    row = connection.execute(f"select {listed}").fetchone()
    assert row is not None
    before = dict(zip(names, map(str, row), strict=True))
    changed = [n for n, usual in USUAL.items() if _other(before[n], usual)]
    try:
        for name in changed:
            connection.execute(f"set {name} = {lit(USUAL[name])}")
    except duckdb.InvalidInputException as error:
        raise EngineError.at(
            "connection",
            f"has other settings than a run needs ({', '.join(changed)}), and they are locked",
            hint=f"set {changed[0]} = '{USUAL[changed[0]]}' before lock_configuration, or give the"
            " path of the database instead",
        ) from error
    try:
        yield
    finally:
        with afterwards("connection"):
            for name in changed:
                connection.execute(f"set {name} = {lit(before[name])}")
            connection.execute(f"set search_path = {lit(before['search_path'])}")


def _inputs(policy: Policy) -> Iterator[tuple[str, Path]]:
    """The files that the policy names as inputs, by their paths in it."""
    if policy.source.file is not None:
        yield from (("source.file", file) for file in source_files(policy))
    for name, population in policy.privacy.populations.items():
        if population.file is not None:
            yield f"privacy.{name}.population.file", policy.resolve(population.file)
    for name, column in policy.columns.items():
        if column.hierarchy is not None:
            for file in hierarchy.inputs(column.hierarchy, policy.base):
                yield column_path(name, "hierarchy", "file"), file


def input_files(policy: Policy) -> tuple[Path, ...]:
    """The resolved paths of all files that the policy names as inputs."""
    return tuple(dict.fromkeys(file.resolve() for _, file in _inputs(policy)))


def missing_files(policy: Policy, *, folders: bool = False) -> Iterator[Problem]:
    """The missing files of a policy. `folders`: the source may be a folder of files."""
    for path, file in _inputs(policy):
        if file.is_file():
            continue
        may_be_folder = folders and path == "source.file"
        if is_waited_for(file):
            yield Problem(path, f"{file.name} is a named pipe, not a file")
        elif not (may_be_folder and file.is_dir()):
            kind = "file or folder" if may_be_folder else "file"
            yield Problem(path, f"there is no {kind} {file.name}")


def relation_of(
    policy: Policy, engine: DuckDBEngine, queried: Table = QUERIED
) -> tuple[Relation, TableProfile]:
    """The source of a policy as a relation, with the profile of its columns.

    `queried`: the table for the rows of a query, which runs once.
    """
    source = _relation(policy, engine, queried)
    columns = engine.describe(source.sql.text, "source")
    refuse_repeated(columns)
    return with_owners(policy, source, TableProfile(tuple(columns)))


def _relation(policy: Policy, engine: DuckDBEngine, queried: Table) -> Relation:
    source = policy.source
    if source.kind == "file":
        return read_files(engine, source_files(policy), source.read, queried, "source.file")
    if source.kind == "table":
        table = find_table(engine, source.table or "", "source.table")
        return Relation(ident(table), table)
    return run_query(source.query or "", engine, queried, "source.query")


def run_query(query: str, engine: DuckDBEngine, target: Table, path: str) -> Relation:
    """Run a user's query over the source once, on a separate connection if the engine has one."""
    import duckdb

    try:
        statements = duckdb.extract_statements(query)
    except duckdb.Error:
        statements = []
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        raise PolicyError.at(path, "is not one SELECT statement")
    text = statements[0].query.strip().rstrip(";")
    if engine.isolated_reads is not None:
        engine.isolated_reads.query(text, target, path)
    else:
        assert engine.catalog is not None
        with engine.names_of(engine.catalog, engine.schema):
            make_table(engine, target, text, path)
    return Relation(ident(target), target)


# Opens the source of a run on DuckDB, and creates the private folder of a run that writes.


@contextmanager
def open_source(
    policy: Policy, database: Database, run: Workplace, limits: Limits
) -> Iterator[Session]:
    """Open the source of `policy`, with a folder for spilled data if the run writes."""
    if not run.writes:
        with open_session(policy, database, beside=run.beside, limits=limits) as session:
            yield session
        return
    building = run_folder.building_of(run.file, run.run_id) if run.file is not None else None
    folder = run_folder.create(run.run_id, building)
    files = [run.file, building] if run.file is not None and building is not None else []
    try:
        with open_session(
            policy, database, beside=run.beside, spill=folder.path, databases=files, limits=limits
        ) as session:
            yield session
    finally:
        folder.remove()
