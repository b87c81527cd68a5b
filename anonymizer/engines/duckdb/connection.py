"""The engine on one DuckDB connection, own or borrowed, with a scratch catalog."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from anonymizer.compile import SCRATCH, Statement, Table, lit, quote
from anonymizer.compile.sql import CREATES, INSERTS
from anonymizer.engines.base import Engine, EngineName, Rows
from anonymizer.engines.duckdb.encryption import (
    PROBE,
    WITH_KEY,
    can_encrypt,
    database_key,
    is_encrypted,
    refused,
    required_key,
)
from anonymizer.engines.duckdb.failures import CRASHES, translate
from anonymizer.errors import AnonymizerError, EngineError, TemplateError
from anonymizer.process import interrupts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# The catalogs that a run attaches to a user's connection, and the check that they are free.


RELEASE = "anon_published"
"""A release attached together with its source, for attacks and reports."""
EARLIER = "anon_earlier"
"""An earlier release attached together with both."""
CATALOGS = (
    SCRATCH,
    "anon_part",
    "anon_release",
    "anon_previous",
    "anon_ledger",
    "anon_vault",
    PROBE,
    RELEASE,
    EARLIER,
)
"""Catalogs that are attached to a user's connection, and detached again."""


def refuse_catalogs(connection: DuckDBPyConnection) -> None:
    """Raises EngineError if the connection already has a catalog with one of these names."""
    asked = "select lower(database_name) from duckdb_databases()"
    attached = {name for (name,) in connection.execute(asked).fetchall()}
    for name in CATALOGS:
        if name in attached:
            raise attached_already(name)


def attached_already(name: str) -> EngineError:
    """The error for an attached catalog whose name a run needs."""
    said = f"a catalog named {name} is attached already"
    return EngineError.at("connection", said, hint="another run uses this connection, or detach it")


# DuckDB: the engine on one connection, with a scratch catalog.


SOURCE = "anon_source"
"""Catalog under which a source database is attached."""
MOST_LISTED = 20_000
"""Rows that are loaded as lists, which saves the time that it takes to import pandas."""
FEW_ROWS = 50_000
"""Rows up to which one thread is used: two wake each other for steps that take less than that.

A scan of less than a row group (122,880 rows) is the work of one thread anyway.
"""


class IsolatedReads(Protocol):
    """Reads what runs SQL of the source on connections that can access only the source."""

    definitions: list[str]

    def view(self, view: Table, where: str) -> Table:
        """Copy the rows of a source view, and return the scratch view that reads the copy."""
        ...

    def query(self, query: str, name: Table, where: str) -> Table:
        """Copy the rows of a query over the source, and read the copy through the view `name`."""
        ...


KINDS = {
    "create": CREATES,
    "insert": INSERTS,
    "query": re.compile(r"\s*(--.*\s+)*(with|select|from|\()", re.IGNORECASE),
}
"""The beginnings of statements, by the kinds that templates render."""


@dataclass(slots=True)
class DuckDBEngine(Engine):
    """Executes statements on one connection; every error becomes one of ours.

    `owned` says whether the connection is ours (then it is sandboxed and closed at the end).
    A user's connection is used itself and left as it was found.
    """

    name: ClassVar[EngineName] = "duckdb"
    embedded: ClassVar[bool] = True

    connection: DuckDBPyConnection
    owns_connection: bool
    binds: Mapping[str, Any] = field(default_factory=dict)
    catalog: str | None = SOURCE
    """Catalog of the source; None where there is no source database."""
    schema: str | None = None
    """Default schema of a user's connection."""
    own_name: str | None = None
    free_threads: bool = False
    """True if the number of threads is left to us."""
    threads: int = 1
    """The number of threads with which the connection was opened."""
    most_threads: int = 1
    """Threads for laborious statements on a small table, where others get one."""
    isolated_reads: IsolatedReads | None = None
    """Reads what runs SQL of the source; None on a user's connection, which reads it itself."""
    databases: frozenset[Path] = frozenset()
    """Further database files that statements may attach; none is known of a user's connection."""
    encrypts: bool = False
    """Whether the source is encrypted: files that are made of it are then too."""
    can_encrypt: bool = True
    """Whether an encrypted file can be written; only known where the source is encrypted."""
    parts: Path | None = None
    """The folder in which parts of a large table are handed over; None on a user's connection."""

    def execute(self, statement: Statement, where: str, binds: Sequence[str] = ()) -> Rows:
        """Run one statement and fetch all of its (few) rows.

        Raises `TemplateError` (a defect of the tool) if the text is not one of its kind.
        """
        if not KINDS[statement.kind].match(statement.text):
            raise TemplateError(f"{where}: is not one {statement.kind}")
        values = {name: self.binds[name] for name in binds}
        return self.raw(statement.text, where, values)

    def raw(self, text: str, where: str, values: Mapping[str, Any] | None = None) -> Rows:
        import duckdb

        with interrupts.statement(self.interrupt):
            try:
                parsed = self.connection.extract_statements(text)
                if len(parsed) == 1:
                    # what was parsed is executed: the text is not parsed again
                    cursor = self.connection.execute(parsed[0], dict(values) if values else None)
                    return cursor.fetchall()
            except (duckdb.Error, *CRASHES) as error:
                raise translate(error, where) from error
        raise TemplateError(f"{where}: is not one statement")

    def attach(
        self, file: Path, catalog: str, mode: str, where: str, *, encrypted: bool | None = None
    ) -> None:
        """Attach a database file, with its key if it is encrypted. `encrypted`: whether a new one
        is to be; default: if the source is. Raises EncryptionError without the key, and where an
        encrypted file cannot be written.
        """
        if file.exists():
            encrypted = is_encrypted(file)
        elif encrypted is None:
            encrypted = self.encrypts
        text = f"attach {lit(str(file))} as {catalog}"
        if not encrypted:
            self.raw(f"{text} ({mode})", where)
            return
        key = required_key(file, where)
        try:
            self.raw(f"{text} ({mode}, {WITH_KEY})", where, {"key": key})
        except EngineError as error:
            found = refused(file, where, error.__cause__)
            raise found or error from error

    def expect(self, rows: int) -> None:
        if self.free_threads and rows <= FEW_ROWS:
            self.most_threads = self.threads
            self.raw("set threads = 1", "engine")

    @contextmanager
    def at_work(self, *, laborious: bool) -> Iterator[None]:
        if not laborious or self.most_threads <= 1:
            yield
            return
        self.raw(f"set threads = {self.most_threads}", "engine")
        try:
            yield
        finally:
            with afterwards("engine"):
                self.raw("set threads = 1", "engine")

    @contextmanager
    def second(self) -> Iterator[DuckDBEngine | None]:
        if not self.owns_connection:
            yield None
            return
        with self.connection.cursor() as cursor:
            cursor.execute(f"use {SCRATCH}.main")
            yield replace(self, connection=cursor, most_threads=1)

    @contextmanager
    def in_any_order(self) -> Iterator[None]:
        """Rows written meanwhile may lie in any order, so that no block waits for another.

        A user's connection is left alone: other cursors of its database have the setting as well.
        """
        if not self.owns_connection:
            yield
            return
        try:
            self.raw("set preserve_insertion_order = false", "--database")
            yield
        finally:
            with afterwards("--database"):
                self.raw("set preserve_insertion_order = true", "--database")

    @contextmanager
    def transaction(self, where: str) -> Iterator[None]:
        """Everything inside is done, or nothing of it."""
        self.raw("begin transaction", where)
        try:
            yield
            self.raw("commit", where)
        except BaseException:
            with afterwards(where):
                self.raw("rollback", where)
            raise

    def describe(self, relation: str, where: str) -> list[tuple[str, str]]:
        """Name and type of every column of a relation given as SQL."""
        rows = self.raw(f"describe select * from {relation}", where)
        return [(str(row[0]), str(row[1])) for row in rows]

    @property
    def column_names(self) -> list[str]:
        return [str(column[0]) for column in self.connection.description or []]

    def tables(self, where: str) -> list[Table]:
        rows = self.raw(
            "select database_name, schema_name, table_name from duckdb_tables() union all"
            " select database_name, schema_name, view_name from duckdb_views() where not internal",
            where,
        )
        return [Table(str(name), str(schema), str(catalog)) for catalog, schema, name in rows]

    def load(
        self, target: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]], where: str
    ) -> None:
        if len(rows) <= MOST_LISTED:
            names = [f"c{number}" for number, _ in enumerate(columns)]
            listed = ", ".join(f"unnest(${name})" for name in names)
            values = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
            self.raw(f"insert into {target} select {listed}", where, values)
            return
        import pandas as pd

        self.connection.register("anon_frame", pd.DataFrame(rows, columns=list(columns)))
        try:
            self.raw(f"insert into {target} select * from anon_frame", where)
        finally:
            self.connection.unregister("anon_frame")

    def is_view(self, table: Table, where: str) -> bool:
        """Return whether a relation is a view, which runs SQL of its own when it is read."""
        rows = self.raw(
            "select count(*) from duckdb_views()"
            f" where view_name = {lit(table.name)} and schema_name = {lit(table.schema)}"
            f" and database_name = {lit(table.catalog)}",
            where,
        )
        return bool(rows[0][0])

    def readable_relation(self, table: Table, where: str) -> Table:
        if self.isolated_reads is None or not self.is_view(table, where):
            return table
        return self.isolated_reads.view(table, where)

    def view_definitions(self) -> tuple[str, ...]:
        return tuple(self.isolated_reads.definitions) if self.isolated_reads is not None else ()

    @contextmanager
    def names_of(self, catalog: str, schema: str | None = None) -> Iterator[None]:
        """Find the tables of another catalog by bare names, for a statement of the user's."""
        self.raw(f"set search_path = {lit(self.search_path(catalog, schema))}", "source")
        try:
            yield
        finally:
            with afterwards("source"):
                self.raw(f"use {SCRATCH}.main", "source")

    def search_path(self, catalog: str, schema: str | None = None) -> str:
        """The schemas of a catalog, for the setting of this name.

        Built-in functions come first: a macro there that is called like one is not called.
        """
        rows = self.raw(
            f"select schema_name from duckdb_schemas() where database_name = {lit(catalog)}"
            " and schema_name not in ('information_schema', 'pg_catalog')"
            f" order by schema_name <> {lit(schema or 'main')},"
            " schema_name <> 'main', schema_name",
            "source",
        )
        # a schema is found by its bare name only if the search path contains it
        path = ["system.main", *(f"{quote(catalog)}.{quote(str(name))}" for (name,) in rows)]
        return ",".join(path)

    @property
    def embedded_duckdb(self) -> DuckDBEngine:
        return self

    def interrupt(self) -> None:
        self.connection.interrupt()

    @property
    def version(self) -> str:
        return str(self.raw("select version()", "engine")[0][0])


@contextmanager
def afterwards(where: str) -> Iterator[None]:
    """Clean-up at the end of a block. After a failure the clean-up may fail as well, for example
    on a damaged database; the first failure is the one to report.
    """
    import duckdb

    failed = sys.exc_info()[1] is not None
    try:
        yield
    except AnonymizerError:
        if not failed:
            raise
    except duckdb.Error as error:
        if not failed:
            raise translate(error, where) from error


@contextmanager
def detaching(engine: Engine, catalog: str, where: str) -> Iterator[None]:
    """Detach a catalog at the end of a block."""
    try:
        yield
    finally:
        with afterwards(where):
            engine.raw(f"detach {catalog}", where)


@contextmanager
def scratch(connection: DuckDBPyConnection) -> Iterator[None]:
    """Attach the in-memory scratch catalog, make it the default, and undo both at the end.

    Built-in functions are looked up beside the default catalog, so a macro of the source that
    shadows one is not found.
    """
    import duckdb

    before = connection.execute("select current_catalog(), current_schema()").fetchone()
    attach_scratch(connection)
    try:
        yield
    finally:
        assert before is not None
        # after a failure inside our transaction the connection has to be usable again
        with suppress(duckdb.Error):
            connection.execute("rollback")
        with afterwards("connection"):
            connection.execute(f"use {quote(before[0])}.{quote(before[1])}")
            connection.execute(f"detach {SCRATCH}")


def attach_scratch(connection: DuckDBPyConnection) -> None:
    """Attach the in-memory scratch catalog, and make it the default."""
    import duckdb

    try:
        # (where the user's database was opened read-only, everything is, unless it is said)
        connection.execute(f"attach ':memory:' as {SCRATCH} (read_write); use {SCRATCH}.main")
    except duckdb.BinderException as error:
        raise attached_already(SCRATCH) from error
    except duckdb.Error as error:
        raise EngineError.at(
            "connection",
            "cannot hold a scratch database, as one that was opened read-only",
            hint="give the path of the database instead: it is opened read-only as well",
        ) from error


# A user's open connection as the engine of a run.


CLOCK = 0.001
"""Seconds in which every clock moves on."""


@contextmanager
def borrowed_connection(connection: DuckDBPyConnection) -> Iterator[DuckDBEngine]:
    """A user's open connection, used itself: its settings stay, the scratch catalog goes."""
    refuse_transaction(connection)
    refuse_catalogs(connection)
    row = connection.execute("select current_catalog(), current_schema()").fetchone()
    assert row is not None
    found = connection.execute("select bool_or(encrypted) from duckdb_databases()").fetchone()
    encrypts = bool(found and found[0])
    able = False
    if encrypts and database_key() is not None:
        with TemporaryDirectory() as folder:
            able = can_encrypt(connection, Path(folder))
    with scratch(connection):
        yield DuckDBEngine(
            connection,
            owns_connection=False,
            catalog=str(row[0]),
            schema=str(row[1]),
            encrypts=encrypts,
            can_encrypt=able or not encrypts,
        )


def refuse_transaction(connection: DuckDBPyConnection) -> None:
    """A connection inside a transaction is refused: a rollback would take the release along.

    Two statements have the same time of transaction only inside one, whatever the default catalog
    is: a number of the transaction exists in DuckDB's own catalogs only. (Beginning another one
    would also show it, but the failure would abort the user's.)
    """
    import duckdb

    def began() -> object:
        asked = "select epoch_us(transaction_timestamp())"
        return connection.execute(asked).fetchone()

    try:
        first = began()
        time.sleep(CLOCK)
        second = began()
    except duckdb.TransactionException:
        first = second = None  # an aborted transaction fails every query
    if first == second:
        raise EngineError.at(
            "connection", "is inside a transaction", hint="commit or roll back before the run"
        )
