"""The sandbox for untrusted databases and files: a connection that can access nothing else."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from anonymizer.compile import Table, as_pattern, ident, lit, work
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.connection import SOURCE, DuckDBEngine, attach_scratch
from anonymizer.engines.duckdb.encryption import (
    WITH_KEY,
    can_encrypt,
    is_encrypted,
    load_cipher,
    refused,
    required_key,
)
from anonymizer.errors import EngineError, Problem, SourceError, no_file
from anonymizer.policy.values import file_format
from anonymizer.policy.yaml_text import begins_as_database
from anonymizer.process import run_folder
from anonymizer.source.files import refuse_renamed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Reading views and queries of a source in a sandbox that can access only the source.
#
# A view executes SQL written by the database's author. The connection of a run can open releases,
# the ledger and files of the policy, so it never reads a view: a separate connection copies the
# view's rows into a private file, which the run then reads. (Access cannot be enabled again once it
# is disabled, so one connection cannot do both.) Base tables execute nothing and are read in place.


COPY = "anon_copy"
"""Catalog of the file into which a view or query is read."""
COPIED = Table("copied", "main", COPY)


def make_table(engine: DuckDBEngine, table: Table, query: str, where: str) -> None:
    """Make a table of a query. Raises SourceError for columns that it would rename."""
    named, made = engine.raw(f"describe {query}", where), ident(table)
    engine.raw(f"create table {made} as {query}", where)
    seen = [name for name, _ in engine.describe(made.text, where)]
    refuse_renamed([name for name, *_ in named], seen, where)


@dataclass(slots=True)
class IsolatedReads:
    """Reads views and queries of `database` for `engine`, each on a connection of its own."""

    engine: DuckDBEngine
    database: Path
    private: Path
    limits: Limits
    definitions: list[str] = field(default_factory=list)
    """The definitions of the scratch views, as statements that run on the source."""
    _views: dict[Table, Table] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._spill.mkdir(mode=0o700, exist_ok=True)

    @property
    def folder(self) -> Path:
        """The folder of the copies, the only one that `engine` has to open."""
        return self.private / "copies"

    @property
    def _spill(self) -> Path:
        """The spill folder of the reading connections, which can read it; it holds nothing else."""
        return self.private / "reading"

    def view(self, view: Table, where: str) -> Table:
        """Copy the rows of a source view, and return the scratch view that reads the copy."""
        if view not in self._views:
            name = work(f"source_view_{len(self._views) + 1}")
            self._read(name, f"from {ident(view)}", where, bare_names=False)
            self.definitions.append(f"create view {ident(name)} as from {ident(view)}")
            self._views[view] = name
        return self._views[view]

    def query(self, query: str, name: Table, where: str) -> Table:
        """Copy the rows of a query over the source, and read the copy through the view `name`."""
        self._read(name, query, where, bare_names=True)
        return name

    def _read(self, name: Table, query: str, where: str, *, bare_names: bool) -> None:

        number = sum(1 for _ in self.folder.iterdir()) + 1
        file = self.folder / f"{number}.duckdb"
        with own_connection(
            self.database, spill=self._spill, copy=file, limits=self.limits
        ) as reader:
            with reader.in_any_order():
                if bare_names:
                    with reader.names_of(SOURCE):
                        make_table(reader, COPIED, query, where)
                else:
                    make_table(reader, COPIED, query, where)
            reader.raw(f"detach {COPY}", where)
        catalog = f"anon_read_{number}"
        self.engine.attach(file, catalog, "read_only", where)
        copied = Table(COPIED.name, COPIED.schema, catalog)
        self.engine.raw(f"create view {ident(name)} as from {ident(copied)}", where)


# The sandbox for untrusted databases and files: a connection that can access nothing else.
#
# Every command opens sources and releases here. Their views and macros may be malicious; in the
# sandbox they have no access to files, the network or settings.


SETTINGS = {
    "threads": "--threads",
    "memory_limit": "--memory-limit",
    "max_temp_directory_size": "--temp-size",
}
"""The command-line option for each setting."""
ZONE = {"TimeZone": "UTC"}
"""The time zone, as on the other engines, so that a release does not depend on the machine's."""
LAKES = ("ducklake", "delta", "iceberg")
"""Prefixes of the addresses of lakes. DuckDB opens them with extensions that it downloads at run
time, and that read files to which the sandbox denies access."""
RESERVED = ("main", "temp", "system")
"""Catalog names that the engine does not give to a file."""
LOGS = ("", ".wal", ".wal.checkpoint", ".wal.recovery")
"""Suffixes that the engine appends to the path of a database for the files that belong to it."""


@contextmanager
def own_connection(
    database: Path | None,
    *,
    spill: Path | None = None,
    files: Sequence[Path] = (),
    writable: Sequence[Path] = (),
    databases: Sequence[Path] = (),
    copy: Path | None = None,
    read_only: bool = True,
    limits: Limits = Limits(),
    where: str = "--database",
    lends_memory: bool = False,
) -> Iterator[DuckDBEngine]:
    """Open a sandboxed connection: set limits, attach `database`, then close everything else.

    Statements may read and write the files in `files`, the folders in `writable` and the
    database files in `databases`, and nothing else: external access is off and the configuration
    locked. `spill` is a private folder (default: a new one). `copy` is a database file that is
    created and attached first. Views of `database` are read on separate connections that cannot
    access any of these. `lends_memory`: the memory limit stays changeable, to lend some to parts.
    """
    for path in databases:
        refuse_odd_logs(path, where)
    with ExitStack() as stack:
        if spill is None:
            folder = run_folder.create(secrets.token_hex(8))
            stack.callback(folder.remove)
            spill = folder.path
        connection = stack.enter_context(restricted(spill / "spilled", limits))
        encrypts = database is not None and is_encrypted(database)
        load_cipher(connection)
        if database is not None:
            _attach(connection, database, where, read_only)
        able = not encrypts or can_encrypt(connection, spill)
        if encrypts:
            spilled = "temp_file_encryption = true" if able else "temp_directory = ''"
            connection.execute(f"set {spilled}")
        engine = DuckDBEngine(
            connection,
            True,
            catalog=SOURCE if database else None,
            own_name=catalog_name(database) if database else None,
            free_threads=limits.threads is None,
            databases=frozenset(databases),
            encrypts=encrypts,
            can_encrypt=able,
        )
        if copy is not None:
            # columns are written uncompressed: the file is read once, immediately
            engine.raw("set force_compression = 'uncompressed'", where)
            engine.attach(copy, COPY, "storage_version 'latest'", where)
        engine.parts = spill / "parts"
        folders = [*writable, engine.parts]
        if database is not None and copy is None:
            engine.isolated_reads = apart = IsolatedReads(engine, database, spill, limits)
            folders.append(apart.folder)
        attach_scratch(connection)  # which the connection takes along when it closes
        logs = [Path(f"{path}{end}") for path in databases for end in LOGS]
        engine.threads = close_walls(
            connection, [*files, *logs], folders, lends_memory=lends_memory, settings=ZONE
        )
        yield engine


def open_for_good(database: Path) -> DuckDBPyConnection:
    """Open a sandboxed connection that outlives the call, without a spill folder."""
    connection = restricted(None, Limits())
    _attach(connection, database, "--database", read_only=True)
    close_walls(connection)
    return connection


def catalog_name(database: Path) -> str:
    """The name under which the engine would attach a file: the file's, up to the first dot."""
    name = database.name.lstrip(".").split(".")[0]
    return f"{name}_db" if name.lower() in RESERVED else name


def close_walls(
    connection: DuckDBPyConnection,
    files: Sequence[Path] = (),
    folders: Sequence[Path] = (),
    *,
    lends_memory: bool = False,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Permanently deny the connection access to everything but these files and folders.

    `settings` are set before. Returns the number of threads.
    """
    free = ["threads", "preserve_insertion_order", *(["memory_limit"] if lends_memory else [])]
    walls = {
        **{name: lit(value).text for name, value in settings.items()},
        "allowed_directories": _listed(one for path in folders for one in (path, as_pattern(path))),
        "allowed_paths": _listed(one for path in files for one in (path, as_pattern(path))),
        "enable_external_access": "false",
        "allowed_configs": _listed(free),
        "lock_configuration": "true",
    }
    text = "; ".join(f"set {name} = {value}" for name, value in walls.items())
    # (all rows: an unfinished result would keep the connection from other work)
    ((threads,),) = connection.execute(f"{text}; select current_setting('threads')").fetchall()
    return int(threads)


def _listed(names: Iterable[str | PurePath]) -> str:
    return f"[{', '.join(dict.fromkeys(lit(str(name)).text for name in names))}]"


def restricted(spill: Path | None, limits: Limits) -> DuckDBPyConnection:
    """A new connection with the limits and the folder for spilled data.

    What an extension, or a variable of the program, could do is turned off.
    """
    import duckdb

    off = (
        *("autoinstall_known_extensions", "autoload_known_extensions", "allow_persistent_secrets"),
        *("python_scan_all_frames", "python_enable_replacements"),
    )
    settings: dict[str, str | bool | int | float | list[str]] = dict.fromkeys(off, False)
    settings["temp_directory"] = str(spill) if spill else ""
    connection = duckdb.connect(":memory:", config=settings)
    given = (limits.threads, limits.memory, limits.temp_size)
    for name, value in zip(SETTINGS, given, strict=True):
        if value is not None:
            _set_option(connection, name, value)
    _count_progress(connection)
    return connection


def _count_progress(connection: DuckDBPyConnection) -> None:
    """Let the engine track the progress of a statement without printing it.

    In a notebook without ipywidgets the driver refuses this, and no progress is shown.
    """
    import duckdb

    with suppress(duckdb.Error, ImportError):
        connection.execute("set enable_progress_bar_print = false; set enable_progress_bar = true")


def _set_option(connection: DuckDBPyConnection, name: str, value: object) -> None:
    import duckdb

    try:
        connection.execute(f"set {name} = {lit(value).text}")
    except duckdb.Error as error:
        raise EngineError.at(
            SETTINGS.get(name, name),
            "is not a setting the engine accepts",
            allowed="a whole number" if name == "threads" else "a size, as in 4GB",
        ) from error


def _attach(connection: DuckDBPyConnection, database: Path, where: str, read_only: bool) -> None:
    import duckdb

    refuse_missing(database, where)
    if not read_only and not os.access(database, os.W_OK):
        said = f"{database.name} may not be written by this user"
        raise SourceError.at(where, said, hint="chmod u+w, or a copy of the file")
    # without the type the engine would treat a data file as a database, and lose its tables
    mode = "type duckdb, read_only" if read_only else "type duckdb"
    values = None
    if is_encrypted(database):
        mode, values = f"{mode}, {WITH_KEY}", {"key": required_key(database, where)}
    try:
        connection.execute(f"attach {lit(str(database)).text} as {SOURCE} ({mode})", values)
    except duckdb.Error as error:
        found = refused(database, where, error)
        if found is not None:
            raise found from error
        raise SourceError(open_problem(database, where, error)) from error


def refuse_missing(database: str | Path, where: str = "--database") -> None:
    """Raises SourceError, with the path as given, if a database is not a file."""
    kind, colon, _ = str(database).partition(":")
    if colon and kind.lower() in LAKES:
        raise SourceError.at(
            where,
            f"{kind}: is the address of a lake, which is not opened by address",
            allowed="a DuckDB file",
            hint="attach the lake to a connection of your own and call"
            " anonymizer.run(policy, connection), or name its Parquet copy in source.file:"
            " docs/how-to/lakehouse.md",
        )
    if not Path(database).is_file():
        raise SourceError.at(where, no_file(database))
    refuse_odd_logs(Path(database), where)


def refuse_odd_logs(database: Path, where: str) -> None:
    """Raises SourceError where a log beside a database, which is read with it, is no file: a pipe
    would be waited for.
    """
    for log in (database.with_name(f"{database.name}{end}") for end in LOGS[1:]):
        if not log.is_file() and os.path.lexists(log):
            raise SourceError.at(where, f"{log.name} beside it is not a file", hint="remove it")


def is_database(file: Path) -> bool:
    """Return whether a file is a DuckDB database; False if it cannot be read."""
    try:
        # (a pipe would wait for its writer)
        return file.is_file() and _begins_as_database(file)
    except OSError:
        return False


def _begins_as_database(file: Path) -> bool:
    with file.open("rb") as handle:
        return begins_as_database(handle.read(12))


def attach_problem(path: Path, hint: str) -> tuple[str, str]:
    """The problem of a file that could not be attached, and a hint; `hint`: if it is locked."""
    if path.exists() and not is_database(path):
        what = "a folder, not a file" if path.is_dir() else "not a DuckDB database"
        return f"{path.name} is {what}", "name another file"
    return f"{path.name} cannot be opened as a DuckDB database, or is locked", hint


def open_problem(path: Path, where: str, error: BaseException) -> Problem:
    """The problem of a database file that does not open; the engine's message is not quoted."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    try:
        readable, database = os.access(path, os.R_OK), _begins_as_database(path)
    except OSError:
        readable = database = False
    if not readable:
        said = f"{path.name} may not be read by this user"
        return Problem(where, said, hint="chmod u+r, or run as a user who may read it")
    if "OutOfMemoryException" in kinds:
        said = "the memory limit was reached before the database was open"
        return Problem(where, said, hint="raise --memory-limit")
    if kinds & {"ResourceInUseException", "ConnectionException"}:
        said = f"{path.name} is open in this process already"
        return Problem(where, said, hint="close that connection, or give it instead of the path")
    if database and "IOException" in kinds and "Could not read enough" not in str(error):
        return Problem(
            where,
            "the database is locked by another process",
            hint="close the process that has it open for writing, or copy the file",
        )
    said = f"{path.name} is not a DuckDB database that can be read"
    data = where == "--database" and file_format(path.name) is not None
    hint = "a data file is named in the policy, or in place of TABLE" if data else None
    return Problem(where, said, hint=hint)
