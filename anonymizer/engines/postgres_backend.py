"""Postgres as the engine of a run: its sources, and releases that stand in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anonymizer.algorithms.prepare import Relation
from anonymizer.compile import Table, ident
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres import PostgresEngine
from anonymizer.engines.postgres_session import postgres_engine, remove_dead_runs, run_schema
from anonymizer.errors import EngineError, NothingToCheckError, PolicyError, Problem
from anonymizer.policy import Policy
from anonymizer.profile import TableProfile
from anonymizer.release.manifest import Manifest
from anonymizer.release.names import Names
from anonymizer.release.postgres_target import PostgresTarget, read_manifest, recorded
from anonymizer.session import QUERIED, Session, find_table, refuse_repeated

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class PostgresBackend:
    """See `anonymizer.engines.backend.Backend`."""

    @contextmanager
    def session(
        self, policy: Policy, database: Any, run_id: str, limits: Limits
    ) -> Iterator[Session]:
        with postgres_engine(_address(database), limits) as engine:
            remove_dead_runs(engine)
            with run_schema(engine, run_id):
                source = _relation(policy, engine)
                columns = engine.describe(source.sql.text, "source")
                refuse_repeated(columns)
                profile = TableProfile(tuple(columns), engine="postgres")
                yield Session(engine, source, profile, None)

    def target(self, policy: Policy, session: Session, names: Names) -> PostgresTarget:
        return PostgresTarget.of(policy, session, names)

    @contextmanager
    def published(self, policy: Policy | None, database: Any) -> Iterator[PostgresPublished]:
        with postgres_engine(_address(database), Limits()) as engine:
            yield PostgresPublished(engine)


@dataclass(frozen=True, slots=True)
class PostgresPublished:
    """The releases of a database."""

    engine: PostgresEngine

    def views(self, policy: Policy | None) -> list[Table]:
        if policy is not None:
            return [Names.of(policy, "").view(self.engine.catalog)]
        found = [
            item.table(self.engine.catalog or "")
            for item in recorded(self.engine)
            if item.kind == "view"
        ]
        if not found:
            raise NothingToCheckError(Problem("--database", "holds no release of this tool"))
        return found

    def manifest(self, view: Table) -> Manifest:
        return read_manifest(self.engine, view)


def _address(database: Any) -> str | Connection[Any]:
    if database is None:
        raise EngineError(
            Problem("--database", "is needed", hint="postgresql://role@host:5432/database")
        )
    address: str | Connection[Any] = database
    return address


def _relation(policy: Policy, engine: PostgresEngine) -> Relation:
    source = policy.source
    if source.kind == "query":
        return _queried(source.query or "", engine)
    parts = source.parts
    if len(parts) == 3 and parts[0].lower() != (engine.catalog or "").lower():
        raise PolicyError(
            Problem(
                "source.table",
                "names another database, and a statement of Postgres reads one only",
                hint="name that database in --database, or make the table a foreign table here",
            )
        )
    table = find_table(engine, parts, "source.table")
    return Relation(ident(table), table)


def _queried(query: str, engine: PostgresEngine) -> Relation:
    """A user's query, run once into the run's schema, with the names that the role resolves."""
    import sqlglot
    from sqlglot import exp

    from anonymizer.compile.dialects.postgres import table_text

    refusal = PolicyError(Problem("source.query", "is not one SELECT statement"))
    try:
        trees = sqlglot.parse(query, read="postgres")
    except sqlglot.errors.SqlglotError:
        raise refusal from None
    writing = (exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.Command, exp.Into)
    if len(trees) != 1 or not isinstance(trees[0], exp.Query) or trees[0].find(*writing):
        raise refusal
    target = engine.placed(table_text(ident(QUERIED).text))
    text = query.strip().rstrip(";")
    with engine.own_names():
        engine.native(
            f"create unlogged table {target} as select * from (\n{text}\n) as q", "source.query"
        )
    engine.native(f"analyze {target}", "source.query")
    return Relation(ident(QUERIED), QUERIED)


BACKEND = PostgresBackend()
