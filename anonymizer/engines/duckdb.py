"""DuckDB: a connection with a scratch catalog, sandboxed where the connection is ours."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from anonymizer import interrupts
from anonymizer.compile import SCRATCH, Statement, Table, lit, quote
from anonymizer.engines.base import Engine, EngineName, Limits, Rows
from anonymizer.engines.failures import translate
from anonymizer.errors import EngineError, Problem, SourceError, no_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SOURCE = "anon_source"
"""Catalog under which a source database is attached."""
MOST_LISTED = 20_000
"""Rows that are loaded as lists, which saves the time that it takes to import pandas."""
SETTINGS = {
    "threads": "--threads",
    "memory_limit": "--memory-limit",
    "max_temp_directory_size": "--temp-size",
}
"""Option of the command that gives a setting."""
FEW_ROWS = 50_000
"""Rows up to which one thread is used: two wake each other for steps that take less than that.

A scan of less than a row group (122,880 rows) is the work of one thread anyway.
"""

__all__ = ["SOURCE", "DuckDBEngine", "Limits", "Rows", "borrowed_connection", "own_connection"]


@dataclass(slots=True)
class DuckDBEngine(Engine):
    """Executes statements on one connection; every error becomes one of ours.

    `owned` says whether the connection is ours (then it is sandboxed and closed at the end).
    A user's connection is used itself and left as it was found.
    """

    name: ClassVar[EngineName] = "duckdb"

    connection: DuckDBPyConnection
    owned: bool
    binds: Mapping[str, Any] = field(default_factory=dict)
    catalog: str | None = SOURCE
    """Catalog of the source; None where there is no source database."""
    schema: str | None = None
    """Default schema of a user's connection."""
    free_threads: bool = False
    """Whether the number of threads is left to us."""

    def execute(self, statement: Statement, where: str, binds: Sequence[str] = ()) -> Rows:
        """Run one statement and fetch all of its (few) rows."""
        values = {name: self.binds[name] for name in binds}
        return self.raw(statement.text, where, values)

    def raw(self, text: str, where: str, values: Mapping[str, Any] | None = None) -> Rows:
        import duckdb

        with interrupts.statement(self.interrupt):
            try:
                cursor = self.connection.execute(text, dict(values) if values else None)
                return cursor.fetchall()
            except duckdb.Error as error:
                raise translate(error, where) from error

    def expect(self, rows: int) -> None:
        if self.free_threads and rows <= FEW_ROWS:
            self.connection.execute("set threads = 1")

    @contextmanager
    def in_any_order(self) -> Iterator[None]:
        """Rows written meanwhile may lie in any order, so that no block waits for another.

        A user's connection is left alone: other cursors of its database have the setting as well.
        """
        if not self.owned:
            yield
            return
        try:
            self.raw("set preserve_insertion_order = false", "--database")
            yield
        finally:
            self.raw("set preserve_insertion_order = true", "--database")

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

    @contextmanager
    def default_catalog(self, catalog: str, schema: str | None = None) -> Iterator[None]:
        """Make another catalog the default for a statement of the user's."""
        target = quote(catalog) + (f".{quote(schema)}" if schema else "")
        self.raw(f"use {target}", "source")
        try:
            yield
        finally:
            self.raw(f"use {SCRATCH}.main", "source")

    def interrupt(self) -> None:
        self.connection.interrupt()

    @property
    def version(self) -> str:
        return str(self.raw("select version()", "engine")[0][0])


@contextmanager
def scratch(connection: DuckDBPyConnection) -> Iterator[None]:
    """Attach the in-memory scratch catalog, make it the default, and undo both at the end.

    Built-in functions are looked up beside the default catalog, so a macro of the source that
    shadows one is not found.
    """
    import duckdb

    before = connection.execute("select current_catalog(), current_schema()").fetchone()
    try:
        connection.execute(f"attach ':memory:' as {SCRATCH}")
    except duckdb.BinderException as error:
        raise EngineError(
            Problem(
                "connection",
                f"a catalog named {SCRATCH} is attached already",
                hint="another run uses this connection, or detach it",
            )
        ) from error
    except duckdb.Error as error:
        raise EngineError(
            Problem(
                "connection",
                "cannot hold a scratch database, as one that was opened read-only",
                hint="give the path of the database instead: it is opened read-only as well",
            )
        ) from error
    try:
        connection.execute(f"use {SCRATCH}.main")
        yield
    finally:
        assert before is not None
        # after a failure inside a transaction of ours the connection has to be usable again
        with suppress(duckdb.Error):
            connection.execute("rollback")
        connection.execute(f"use {quote(before[0])}.{quote(before[1])}")
        connection.execute(f"detach {SCRATCH}")


@contextmanager
def own_connection(
    database: Path | None,
    *,
    spill: Path | None,
    readable: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    limits: Limits = Limits(),
    where: str = "--database",
) -> Iterator[DuckDBEngine]:
    """A connection of ours: limits, the source read-only, then everything else closed.

    `readable` are files that statements may read, `writable` the folders of the run and of
    the release. After that external access is off and the configuration locked.
    """
    import duckdb

    config: dict[str, Any] = {"enable_progress_bar": True, "enable_progress_bar_print": False}
    with duckdb.connect(":memory:") as connection:
        for name, value in {
            "temp_directory": str(spill) if spill else "",
            "threads": limits.threads,
            "memory_limit": limits.memory,
            "max_temp_directory_size": limits.temp_size,
            "preserve_insertion_order": None,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_scan_all_frames": False,
            "python_enable_replacements": False,
            **config,
        }.items():
            if value is not None:
                _set(connection, name, value)
        if database is not None:
            _attach(connection, database, where)
        folders = [str(path) for path in writable]
        files = [str(path) for path in readable]
        connection.execute(f"set allowed_directories = [{', '.join(lit(f).text for f in folders)}]")
        connection.execute(f"set allowed_paths = [{', '.join(lit(f).text for f in files)}]")
        with scratch(connection):
            connection.execute("set enable_external_access = false")
            connection.execute("set allowed_configs = ['threads', 'preserve_insertion_order']")
            connection.execute("set lock_configuration = true")
            yield DuckDBEngine(
                connection,
                True,
                catalog=SOURCE if database else None,
                free_threads=limits.threads is None,
            )


def _set(connection: DuckDBPyConnection, name: str, value: object) -> None:
    import duckdb

    try:
        connection.execute(f"set {name} = {lit(value).text}")
    except duckdb.Error as error:
        raise EngineError(
            Problem(
                SETTINGS.get(name, name),
                "is not a setting the engine accepts",
                allowed="a whole number" if name == "threads" else "a size, as in 4GB",
            )
        ) from error


def _attach(connection: DuckDBPyConnection, database: Path, where: str) -> None:
    import duckdb

    refuse_missing(database, where)
    try:
        connection.execute(f"attach {lit(str(database)).text} as {SOURCE} (read_only)")
    except duckdb.Error as error:
        raise SourceError(unopened(database, where, error)) from error


def refuse_missing(database: str | Path, where: str = "--database") -> None:
    """Raises SourceError, with the path as it is given, where a database is not a file."""
    if not Path(database).is_file():
        raise SourceError(Problem(where, no_file(database)))


def unopened(path: Path, where: str, error: BaseException) -> Problem:
    """Why the engine could not open a database file. Its words are looked at, not passed on."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    readable = os.access(path, os.R_OK)
    try:
        with path.open("rb") as handle:
            is_database = handle.read(12)[8:12] == b"DUCK"
    except OSError:
        readable = False
    if not readable:
        said = f"{path.name} may not be read by this user"
        return Problem(where, said, hint="chmod u+r, or run as a user who may read it")
    if kinds & {"ResourceInUseException", "ConnectionException"}:
        said = f"{path.name} is open in this process already"
        return Problem(where, said, hint="close that connection, or give it instead of the path")
    if is_database and "IOException" in kinds and "Could not read enough" not in str(error):
        return Problem(
            where,
            "the database is locked by another process",
            hint="close the process that has it open for writing, or copy the file",
        )
    return Problem(where, f"{path.name} is not a DuckDB database that can be read")


@contextmanager
def borrowed_connection(connection: DuckDBPyConnection) -> Iterator[DuckDBEngine]:
    """A user's open connection, used itself: its settings stay, the scratch catalog goes."""
    refuse_transaction(connection)
    row = connection.execute("select current_catalog(), current_schema()").fetchone()
    assert row is not None
    with scratch(connection):
        yield DuckDBEngine(connection, owned=False, catalog=str(row[0]), schema=str(row[1]))


def refuse_transaction(connection: DuckDBPyConnection) -> None:
    """A connection inside a transaction is refused: a rollback would take the release along.

    Two statements share a transaction's number only inside one. (To begin another would tell as
    well, but its failure would abort the user's.)
    """
    import duckdb

    try:
        first, second = (connection.execute("select txid_current()").fetchone() for _ in range(2))
    except duckdb.TransactionException:
        first = second = None  # an aborted transaction answers nothing
    if first == second:
        raise EngineError(
            Problem(
                "connection",
                "is inside a transaction",
                hint="commit or roll back before the run",
            )
        )
