"""Open a published release for reading, and the population that it is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from anonymizer.algorithms.core.population import POPULATION
from anonymizer.compile import Sql, Table, ident, lit, quote
from anonymizer.contract.layout import Layout, quasi
from anonymizer.contract.reading import Tables
from anonymizer.engines.base import Engine, Limits
from anonymizer.engines.duckdb.connection import (
    SOURCE,
    DuckDBEngine,
    afterwards,
    refuse_transaction,
)
from anonymizer.engines.duckdb.sandbox import own_connection
from anonymizer.engines.duckdb.source import usual_settings
from anonymizer.engines.session import Database, Session, find_table
from anonymizer.errors import (
    EngineError,
    NothingToCheckError,
    PolicyError,
    Problem,
    SourceError,
    no_file,
)
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.privacy import Population
from anonymizer.policy.values import file_format
from anonymizer.release.across_tables import released_tables
from anonymizer.release.consistency import refuse_not_as_published
from anonymizer.release.integrity import changes_in_database
from anonymizer.release.manifest import Manifest, changes_beside, read_manifest
from anonymizer.release.objects import Names
from anonymizer.source.files import READERS, file_relation
from anonymizer.source.profile import TableProfile, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import Relation, with_owners
from anonymizer.steps import Step
from anonymizer.verification import guarantees as verified

# The population of a policy: its location, and its quasi-identifiers in comparable form.


AT_HAND = Table("anonymizer_population", "main", "temp")
"""The table into which a population is read to verify a release with it."""
_WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)\Z")


@dataclass(frozen=True, slots=True)
class Members:
    """The columns of a population that are compared with those of a table."""

    columns: tuple[tuple[Sql, Sql], ...]
    """Expression and physical name (`p<i>`) of every quasi-identifier, in the policy's order."""
    person: str | None
    """The policy's person column, if the population has it: then persons are counted."""


def population_of(policy: Policy) -> Population | None:
    """The population that the policy's models name, if any."""
    return next(iter(policy.privacy.populations.values()), None)


def with_population(policy: Policy, file: Path) -> Policy:
    """The policy with its population in `file`, for verification with a file.

    Raises PolicyError if no model of the policy needs a population, and SourceError if the file
    does not exist or has an unknown format.
    """
    if file_format(file.name) is None or not file.is_file():
        said = "is of no known format" if file.is_file() else f"there is no file {file.name}"
        raise SourceError.at("--population", said, allowed=", ".join(READERS))
    update = {"population": Population(file=str(file.resolve()))}
    named = {
        name: getattr(policy.privacy, name).model_copy(update=update)
        for name in policy.privacy.populations
    }
    if not named:
        said = "no model of the policy asks for a population"
        models = ", ".join(g.option for g in GUARANTEES if g.of_population)
        raise PolicyError.at("--population", said, allowed=models)
    return policy.model_copy(update={"privacy": policy.privacy.model_copy(update=named)})


def population_path(policy: Policy) -> str:
    """The policy's path to the population."""
    return f"privacy.{next(iter(policy.privacy.populations))}.population"


def population_files(policy: Policy | None) -> tuple[Path, ...]:
    """The file of the policy's population, if it is a file."""
    named = population_of(policy) if policy is not None else None
    if policy is None or named is None or named.file is None:
        return ()
    return (policy.resolve(named.file).resolve(),)


def members_of(
    policy: Policy, expected: list[tuple[int, str, str]], present: list[tuple[str, str]]
) -> Members:
    """Match the `expected` columns (index, name, type) with those of the population.

    Raises SourceError with every column that is missing or has another type: whether 3 equals 3.7,
    or 7 equals '007', would depend on a cast.
    """
    path, types = population_path(policy), dict(present)
    problems, columns = [], []
    for index, name, sql_type in expected:
        if name not in types:
            said = f"has no column {name}, a quasi-identifier of the table"
            problems.append(Problem(path, said, hint="give it the names of the table"))
            continue
        ours, theirs = published_type(sql_type), published_type(types[name])
        if ours != theirs and not (_WHOLE.match(ours) and _WHOLE.match(theirs)):
            said = f"has {name} as {theirs}, the table as {ours}"
            problems.append(Problem(path, said, hint="cast one of them in a view or a query"))
            continue
        value = f"cast({ident(name)} as varchar)" if ours == "VARCHAR" else ident(name).text
        if ours == "VARCHAR":
            value += ' collate "binary"'
        elif ours in ("FLOAT", "DOUBLE"):
            value = f"case when {value} = 0 then 0 else {value} end"
        columns.append((Sql(value), Sql(f"p{index}")))
    SourceError.refuse(problems)
    return Members(tuple(columns), policy.person if policy.person in types else None)


def population_steps(policy: Policy, session: Session, roles: Roles) -> tuple[Step, ...]:
    """The step that reads the population, if the policy names one."""
    named = population_of(policy)
    if named is None:
        return ()
    path = population_path(policy)
    if named.file is not None:
        file = policy.resolve(named.file).resolve()
        relation = Relation(file_relation(file, session.engine.raw, path))
    else:
        table = find_table(session.engine, named.table or "", f"{path}.table")
        relation = Relation(ident(table), table)
    described = TableProfile(tuple(session.engine.described_source(relation.sql.text, path)))
    relation, described = with_owners(policy, relation, described)
    expected = [(a.index, a.column, a.sql_type) for a in roles.quasi]
    members = members_of(policy, expected, list(described.columns))
    return (
        Step(
            "read the population",
            "prepare/population",
            {
                "population": POPULATION,
                "population_source": relation.table or relation.sql,
                "relation": relation.sql,
                "columns": members.columns,
                "person": members.person,
            },
        ),
    )


def members_at_hand(
    policy: Policy | None, engine: Engine, layout: Layout
) -> verified.Members | str:
    """The population available with the release and the policy, or why there is none.

    A file is read together with the release. Tables of the source are not available, and the
    hierarchies of nodes are not published.
    """
    named = population_of(policy) if policy is not None else None
    if policy is None or named is None:
        return verified.NEEDED
    if named.file is None:
        return "needs the population, a table of the source that the release does not hold"
    file = policy.resolve(named.file).resolve()
    if not file.is_file():
        return f"needs the population, and there is no file {file.name}"
    if not isinstance(engine, DuckDBEngine):
        return "needs the population, which is not read where the release stands"
    columns = quasi(layout)
    if any(column.hierarchy for column in columns):
        return "needs the hierarchies of the columns, which the release does not hold"
    relation = file_relation(file, engine.raw, population_path(policy))
    expected = [(i, c.column, c.sql_type) for i, c in enumerate(columns, start=1)]
    described = TableProfile(tuple(engine.describe(relation.text, population_path(policy))))
    read, described = with_owners(policy, Relation(relation), described)
    found = members_of(policy, expected, list(described.columns))
    listed = ", ".join(f"{value} as {name}" for value, name in found.columns)
    counted = f"count(distinct {ident(found.person)})" if found.person else "count(*)"
    engine.raw(
        f"create or replace temp table {ident(AT_HAND.name)} as"
        f" select {listed}, {counted} as members from {read.sql} group by all",
        "verification",
    )
    return verified.Members(AT_HAND, {column: f"p{i}" for i, column, _ in expected})


# Opening a published release for reading: from its file, or on a user's open connection.


def unchanged(
    policy: AnyPolicy, engine: DuckDBEngine, catalog: str, file: Path
) -> tuple[Table, Manifest, Tables | None]:
    """The view, the manifest, and of several the tables of the release of `policy` in `file`.

    Raises NothingToCheckError if there is none, PolicyError if the policy has other columns, and
    GuaranteeError if the release was changed. Its guarantees are not verified again.
    """
    view = Names.of(policy, "").view(catalog)
    manifest = read_manifest(engine, view)
    alone = policy.publish.database is not None
    inside = changes_in_database(engine, view, manifest, alone=alone)
    changes = chain(inside, changes_beside(file, view, manifest))
    refuse_not_as_published(policy, engine, view, manifest, changes)
    return view, manifest, released_tables(manifest)


def release_file(
    policy: AnyPolicy | None,
    database: str | Path | None,
    source: str | Path | None = None,
    where: str = "--database",
) -> Path:
    """The file of a policy's release: as given by the option `where`, or publish.database, or the
    source's database.
    """
    if database is not None:
        path = Path(database)
    elif policy is not None and policy.publish.database is not None:
        path = policy.resolve(policy.publish.database)
    elif source is not None:
        path = Path(source)
    else:
        hint = "the policy has no publish.database, so the release is in the source's database"
        raise NothingToCheckError.at(where, "names no release", hint=hint)
    if not path.is_file():
        where = place_of(policy, path, where)
        raise NothingToCheckError.at(where, no_file(path), hint="anonymizer run makes it")
    return path.resolve()


def place_of(policy: AnyPolicy | None, database: Path, option: str = "--database") -> str:
    """The place where the file of a release was named: the path in the policy, or the option."""
    named = policy.publish.database if policy is not None else None
    if policy is None or named is None:
        return option
    return "publish.database" if policy.resolve(named).resolve() == database.resolve() else option


@contextmanager
def open_for_reading(
    database: Database, where: str, files: Sequence[Path] = (), limits: Limits | None = None
) -> Iterator[tuple[DuckDBEngine, str]]:
    """The engine that reads a release, and the catalog of the release.

    A file is opened read-only, within the `limits`, in the sandbox, where only it and the `files`
    can be accessed. A user's connection is used itself, since no other one sees an in-memory
    database, and is left unchanged. Raises EngineError if neither can be opened.
    """
    assert database is not None
    if isinstance(database, str | Path):
        path = Path(database).resolve()
        with ExitStack() as stack:
            try:
                engine = stack.enter_context(
                    own_connection(path, files=files, limits=limits or Limits(), where=where)
                )
            except SourceError as error:  # as an error of a release, not of a source
                raise EngineError(error.problems) from error
            yield engine, SOURCE
        return
    refuse_transaction(database)
    with usual_settings(database):
        engine = DuckDBEngine(database, owns_connection=False)
        catalog, schema = engine.raw("select current_catalog(), current_schema()", where)[0]
        # a macro there must not shadow a built-in function
        place = f"{quote(str(catalog))}.{quote(str(schema))}"
        engine.raw(f"set search_path = {lit(f'system.main,{place}')}", where)
        try:
            yield engine, str(catalog)
        finally:
            with afterwards(where):
                engine.raw(f"drop table if exists {ident(AT_HAND)}", where)
