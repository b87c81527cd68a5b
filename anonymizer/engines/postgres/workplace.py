"""The place of a run's work tables: a separate schema, or the session's temporary tables.

A schema is recorded when it is created and dropped at the end; the next run drops the schemas of
dead runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from anonymizer.compile import ident, quote
from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import TEMPORARY, PostgresEngine
from anonymizer.engines.postgres.grants import make_private
from anonymizer.engines.postgres.record import (
    SHARED,
    create_record,
    enter,
    may_make_schemas,
    records,
    shares,
)
from anonymizer.engines.postgres.session import postgres_engine
from anonymizer.errors import EngineError

RUNS = "anonymizer_run_"
"""Prefix of the schemas of runs, before the run's id."""
WHERE = "work tables"


@contextmanager
def work_tables(engine: PostgresEngine, run_id: str) -> Iterator[None]:
    """Provide a place for the run's work tables, which are dropped afterwards.

    Temporary tables need no right to create schemas, but parallel workers cannot read them. The run
    counts as alive while it holds a session lock, which is released however the session ends.
    """
    place = (
        _schema(engine, run_id) if may_make_schemas(engine) and shares(engine) else _session(engine)
    )
    name = (f"{RUNS}{run_id}",)
    engine.native("select pg_advisory_lock(hashtextextended(%s, 0))", "engine", name)
    try:
        with place:
            yield
    finally:
        if not engine.connection.closed:
            with suppress(EngineError):
                engine.native("select pg_advisory_unlock(hashtextextended(%s, 0))", "engine", name)


def is_over(engine: PostgresEngine, run_id: str) -> bool:
    """Whether the run has no session left on the server."""
    name = (f"{RUNS}{run_id}",)
    text = "select pg_try_advisory_lock(hashtextextended(%s, 0))"
    if not engine.native(text, "engine", name)[0][0]:
        return False
    engine.native("select pg_advisory_unlock(hashtextextended(%s, 0))", "engine", name)
    return True


@contextmanager
def _session(engine: PostgresEngine) -> Iterator[None]:
    """Use temporary tables of the session. Raises EngineError if it already has some."""
    may, taken = engine.native(
        "select has_database_privilege(current_database(), 'temporary'),"
        " exists (select from pg_class where relnamespace = pg_my_temp_schema())",
        WHERE,
    )[0]
    if not may:
        said = "needs a role that may create schemas in the database, or temporary tables"
        hint = "grant create on database … to …, or grant temporary on database … to …"
        raise EngineError.at("--database", said, hint=hint)
    if taken:
        said = "has temporary tables, among which a run of this role would make its own"
        hint = "drop them, give an address, or grant the role create on the database"
        raise EngineError.at("connection", said, hint=hint)
    with _placed(engine, TEMPORARY, lambda: engine.native("discard temporary", WHERE)):
        yield


@contextmanager
def _schema(engine: PostgresEngine, run_id: str) -> Iterator[None]:
    """Create and record a schema for the run's work tables, and drop it at the end."""
    name = f"{RUNS}{run_id}"
    with engine.transaction(WHERE):
        record = create_record(engine, name)
        engine.native(f"create schema {quote(name)}", WHERE)
        make_private(engine, "schema", quote(name), WHERE)
        enter(engine, record, [("", name, name, "scratch", run_id)])
    with _placed(engine, name, lambda: _drop_schema(engine, name)):
        yield


@contextmanager
def _placed(engine: PostgresEngine, place: str, drop: Callable[[], object]) -> Iterator[None]:
    """Make work tables in `place`, and drop them at the end, however the run ends."""
    engine.place = place
    try:
        yield
    finally:
        engine.place = None
        if not engine.connection.closed:
            with suppress(EngineError):
                engine.native("rollback", WHERE)
            with suppress(EngineError):
                drop()


def _drop_schema(engine: PostgresEngine, name: str) -> None:
    """Drop the schema of a run and its entry in the record."""
    with engine.transaction(WHERE):
        engine.native(f"drop schema if exists {quote(name)} cascade", WHERE)
        engine.native(
            f"delete from {ident(SHARED)} where kind = 'scratch' and schema_name = %s",
            WHERE,
            (name,),
        )


def clean_database(address: str) -> tuple[str, ...]:
    """Drop the schemas of dead runs in a database, and return their names."""
    with postgres_engine(address, Limits()) as engine:
        return remove_dead_runs(engine)


def remove_dead_runs(engine: PostgresEngine) -> tuple[str, ...]:
    """Drop the schemas of dead runs (recorded, lock not held), and return their names."""
    if not any(record.table == SHARED and record.ours for record in records(engine)):
        return ()
    rows = engine.native(
        f"select schema_name from {ident(SHARED)} where kind = 'scratch'"
        " and starts_with(schema_name, %s)",
        "clean",
        (RUNS,),
    )
    removed = []
    for (name,) in rows:
        taken = engine.native(
            "select pg_try_advisory_lock(hashtextextended(%s, 0))", "clean", (name,)
        )
        if not taken[0][0]:
            continue
        try:
            _drop_schema(engine, str(name))
            removed.append(str(name))
        finally:
            engine.native("select pg_advisory_unlock(hashtextextended(%s, 0))", "clean", (name,))
    return tuple(removed)
