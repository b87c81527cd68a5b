"""Opens Postgres for a run: the connection and its settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from anonymizer.engines.base import Limits
from anonymizer.engines.postgres.connection import OLDEST, SETTINGS, PostgresEngine
from anonymizer.engines.postgres.failures import translate
from anonymizer.errors import AnonymizerError, EngineError

if TYPE_CHECKING:
    from psycopg import Connection

CONFIGURE = "select pg_catalog.set_config(%s, %s, false)"


@contextmanager
def postgres_engine(database: str | Connection[Any], limits: Limits) -> Iterator[PostgresEngine]:
    """Open an engine on an address, or on an open connection, which is restored afterwards.

    Raises EngineError if psycopg is missing, the server refuses or is too old, or the database's
    encoding is not UTF-8.
    """
    with ExitStack() as stack:
        if isinstance(database, str):
            connection, owned = stack.enter_context(_connected(database)), True
        else:
            connection, owned = database, False
            stack.enter_context(_borrowed(connection))
        engine = PostgresEngine(connection, owned)
        engine.address = database if isinstance(database, str) else None
        _check(engine)
        stack.enter_context(_settings(engine, limits))
        yield engine


@contextmanager
def _connected(address: str) -> Iterator[Connection[Any]]:
    try:
        import psycopg
    except ImportError as error:
        raise EngineError.at(
            "engine", "postgres needs psycopg", hint='pip install "sql-anonymizer[postgres]"'
        ) from error
    try:
        connection = psycopg.connect(
            address, autocommit=True, application_name="anonymizer", prepare_threshold=None
        )
    except psycopg.Error as error:
        raise _refused(error) from error
    with connection:
        yield connection


def _refused(error: Exception) -> AnonymizerError:
    """Map a server's refusal, whose message contains no values, to an EngineError."""
    said = str(error).lower()
    for words, message, hint in (
        ("invalid connection option", "is not the address of a Postgres database", None),
        ('missing "="', "is not the address of a Postgres database", None),
        ("password", "the server refused the role or its password", "~/.pgpass or PGPASSWORD"),
        ("no pg_hba", "the server does not accept this role from here", "see its pg_hba.conf"),
        ("does not exist", "there is no such database or role", "check the address"),
        ("too many", "the server has too many connections", "close some of them"),
    ):
        if words in said:
            fallback = "postgresql://role@host:5432/database"
            return EngineError.at("--database", message, hint=hint or fallback)
    return translate(error, "--database")


@contextmanager
def _borrowed(connection: Connection[Any]) -> Iterator[None]:
    """Set a user's connection to autocommit while a run uses it."""
    from psycopg.pq import TransactionStatus

    if connection.info.transaction_status != TransactionStatus.IDLE:
        raise EngineError.at(
            "connection", "is inside a transaction", hint="commit or roll back before the run"
        )
    before = connection.autocommit
    connection.autocommit = True
    try:
        yield
    finally:
        if not connection.closed:
            with suppress(Exception):
                connection.rollback()
            connection.autocommit = before


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
    wanted = dict(SETTINGS)
    if limits.memory is not None:
        wanted["work_mem"] = _kilobytes(limits.memory)
    if limits.threads is not None:
        wanted["max_parallel_workers_per_gather"] = str(limits.threads - 1)
    if limits.temp_size is not None:
        wanted["temp_file_limit"] = _kilobytes(limits.temp_size)
    before = {
        name: engine.native("select pg_catalog.current_setting(%s)", "engine", (name,))[0][0]
        for name in (wanted if not engine.owned else ())
    }
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
            for name, value in before.items():
                with suppress(EngineError):
                    engine.native(CONFIGURE, "engine", (name, value))


def _kilobytes(size: str) -> str:
    """Translate the unit of a size such as 4GB to kB, MB, GB or TB, which Postgres accepts."""
    return size.strip().replace("KB", "kB").replace("KiB", "kB").replace("iB", "B")


def address(database: Any) -> str | Connection[Any]:
    """The address or connection of a database. Raises EngineError if there is none."""
    if database is None:
        raise EngineError.at("--database", "is needed", hint="postgresql://role@host:5432/database")
    address: str | Connection[Any] = database
    return address
