"""Opens Postgres for a run: the connection and its settings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING, Any

from anonymizer.compile import quote
from anonymizer.engines.base import Limits, Rows
from anonymizer.engines.postgres.connection import OLDEST, SETTINGS, PostgresEngine, translate
from anonymizer.errors import AnonymizerError, EngineError

if TYPE_CHECKING:
    from psycopg import Connection

CONFIGURE = "select pg_catalog.set_config(%s, %s, false)"
BEFORE = (  # with operators qualified as well, since the search path is still the role's
    "select name, pg_catalog.current_setting(name), source operator(pg_catalog.=) 'session'"
    " from pg_catalog.pg_settings"
    " where pg_catalog.lower(name) operator(pg_catalog.=) any(%s)"
)
PROCESS = "select pg_catalog.pg_backend_pid()"
PATIENCE = 3.0
"""Seconds that a second connection waits for a session of a pool."""
ROUNDS = 3
"""Number of comparisons of two connections' sessions, since other clients take some as well."""
ELSEWHERE = "connect to the server itself, or to a pool whose mode is session"


@contextmanager
def postgres_engine(database: str | Connection[Any], limits: Limits) -> Iterator[PostgresEngine]:
    """Open an engine on an address, or on an open connection, which is restored afterwards.

    Raises EngineError if psycopg is missing, the server refuses or is too old, the database's
    encoding is not UTF-8, or a pooler may run every transaction in another session.
    """
    with ExitStack() as stack:
        if isinstance(database, str):
            connection, owned = stack.enter_context(_connect(database)), True
        else:
            connection, owned = database, False
            stack.enter_context(_autocommit(connection))
        engine = PostgresEngine(connection, owned)
        engine.address = database if isinstance(database, str) else None
        _refuse_shared(engine)
        _check(engine)
        stack.enter_context(_settings(engine, limits))
        yield engine


@contextmanager
def _connect(address: str) -> Iterator[Connection[Any]]:
    try:
        import psycopg
    except ImportError as error:
        raise EngineError.at(
            "engine", "postgres needs psycopg", hint='pip install "sql-anonymizer[postgres]"'
        ) from error
    try:
        connection = psycopg.connect(address, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise _engine_error(error) from error
    with connection:
        yield connection


def _engine_error(error: Exception) -> AnonymizerError:
    """Map a server's refusal, whose message contains no values, to an EngineError."""
    said = str(error).lower()
    for words, message, hint in (
        ("invalid connection option", "is not the address of a Postgres database", None),
        ('missing "="', "is not the address of a Postgres database", None),
        ("password", "the server refused the role or its password", "~/.pgpass or PGPASSWORD"),
        ("no pg_hba", "the server does not accept this role from here", "see its pg_hba.conf"),
        (
            "permission denied for database",
            "the role may not connect to this database",
            "grant connect on database … to …",
        ),
        ("does not exist", "there is no such database or role", "check the address"),
        ("too many", "the server has too many connections", "close some of them"),
    ):
        if words in said:
            fallback = "postgresql://role@host:5432/database"
            return EngineError.at("--database", message, hint=hint or fallback)
    if getattr(error, "sqlstate", None):
        return translate(error, "--database")
    hint = "check host, port and that the server runs"
    return EngineError.at("--database", "the server cannot be reached", hint=hint)


@contextmanager
def _autocommit(connection: Connection[Any]) -> Iterator[None]:
    """Set a user's connection to autocommit while a run uses it."""
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status != TransactionStatus.IDLE:
        raise EngineError.at(
            "connection", "is inside a transaction", hint="commit or roll back before the run"
        )
    before, threshold = connection.autocommit, connection.prepare_threshold
    connection.autocommit, connection.prepare_threshold = True, None
    try:
        yield
    finally:
        if not connection.closed:
            with suppress(Exception):
                connection.rollback()
            connection.autocommit, connection.prepare_threshold = before, threshold


def _refuse_shared(engine: PostgresEngine) -> None:
    """Raise EngineError if a pooler may run every transaction of the connection in another session,
    where settings and locks of the run would meet other clients.

    A pooler gives its clients a number of its own as that of the server's process. Where it pools
    by session, a second connection never gets the session of the first. Where it pools by
    transaction, the second gets the session that the first used last, or else the first gets the
    one of the second.
    """
    first = engine.connection
    here = _process(engine)
    if here == first.info.backend_pid == _process(engine):
        return
    where = "--database" if engine.owns_connection else "connection"
    for there in _processes_beside(first):
        if there is None:
            said = "is behind a pooler, and a second connection, which would show its mode, fails"
            hint = f"{ELSEWHERE}, and has a session free"
            raise EngineError.at(where, said, hint=hint)
        if there == here or _process(engine) != here:
            said = "is behind a pooler that may run every transaction in another session"
            raise EngineError.at(where, said, hint=f"{ELSEWHERE} (pgbouncer: pool_mode)")


def _process(engine: PostgresEngine) -> int:
    return int(engine.native(PROCESS, "--database")[0][0])


def _processes_beside(connection: Connection[Any]) -> Iterator[int | None]:
    """The server's processes that run statements of a second connection to the same address.

    None if it cannot be made, or gets no session in time.
    """
    import psycopg

    given = {**connection.info.get_parameters(), "connect_timeout": str(int(PATIENCE))}
    try:
        with psycopg.connect(
            **given, password=connection.info.password or None, autocommit=True
        ) as second:
            for _ in range(ROUNDS):
                yield _answer_in_time(second)
    except psycopg.Error:
        yield None


def _answer_in_time(connection: Connection[Any]) -> int | None:
    """The number of the server's process; None if no session is free in time."""
    asked, end = connection.pgconn, time.monotonic() + PATIENCE
    asked.send_query(PROCESS.encode())
    with DefaultSelector() as ready:
        ready.register(asked.socket, EVENT_READ)
        while asked.is_busy():
            if not ready.select(max(end - time.monotonic(), 0)):
                return None
            asked.consume_input()
    answer = asked.get_result()
    value = answer.get_value(0, 0) if answer is not None and answer.ntuples else None
    while asked.get_result() is not None:
        pass
    return int(value) if value else None


def _check(engine: PostgresEngine) -> None:
    # functions are qualified, since the search path is still the role's
    row = engine.native(
        "select pg_catalog.current_setting('server_version_num')::int,"
        " pg_catalog.current_setting('server_encoding'), pg_catalog.current_database(),"
        " coalesce(pg_catalog.current_schema(), 'public'),"
        " pg_catalog.current_setting('search_path')",
        "--database",
    )[0]
    if row[0] < OLDEST:
        raise EngineError.at("engine", "this Postgres is too old", allowed="14 and later")
    if row[1] != "UTF8":
        raise EngineError.at(
            "--database",
            "does not store text as UTF-8, by whose code points values are ordered",
            hint="a database made with encoding UTF8",
        )
    engine.catalog, engine.schema, engine.names = str(row[2]), str(row[3]), str(row[4])


@contextmanager
def _settings(engine: PostgresEngine, limits: Limits) -> Iterator[None]:
    wanted = {"application_name": "anonymizer", **SETTINGS}
    if limits.memory is not None:
        wanted["work_mem"] = _kilobytes(limits.memory)
    if limits.threads is not None:
        wanted["max_parallel_workers_per_gather"] = str(limits.threads - 1)
    if limits.temp_size is not None:
        wanted["temp_file_limit"] = _kilobytes(limits.temp_size)
    before = [] if engine.owns_connection else engine.native(BEFORE, "engine", (list(wanted),))
    try:
        for name, value in wanted.items():
            try:
                engine.native(CONFIGURE, name, (name, value))
            except EngineError as error:
                option = {"work_mem": "--memory-limit", "temp_file_limit": "--temp-size"}
                raise EngineError.at(
                    option.get(name, name), "is not a setting that the server accepts"
                ) from error
        yield
    finally:
        if not engine.connection.closed:
            _restore(engine, before)


def _restore(engine: PostgresEngine, before: Rows) -> None:
    """Leave nothing of the run in a session: a pooler may give it to another client."""
    with suppress(Exception):
        engine.connection.rollback()
    if engine.owns_connection:
        with suppress(EngineError):
            engine.native("discard all", "engine")
    for name, value, of_session in before:
        with suppress(EngineError):
            if of_session:
                engine.native(CONFIGURE, "engine", (name, value))
            else:
                engine.native(f"reset {quote(name)}", "engine")


def _kilobytes(size: str) -> str:
    """Translate the unit of a size such as 4GB to kB, MB, GB or TB, which Postgres accepts."""
    return size.strip().replace("KB", "kB").replace("KiB", "kB").replace("iB", "B")


def address(database: Any) -> str | Connection[Any]:
    """The address or connection of a database. Raises EngineError if there is none."""
    if database is None:
        raise EngineError.at("--database", "is needed", hint="postgresql://role@host:5432/database")
    address: str | Connection[Any] = database
    return address
