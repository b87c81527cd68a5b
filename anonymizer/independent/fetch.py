"""Tables of one file, fetched by a locked engine without other files, network, or settings."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from anonymizer.independent.cells import Raw

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# The errors of this package.


class UnreadableError(Exception):
    """The release or its manifest cannot be judged; the message contains no value of the data."""


class ChangedError(UnreadableError):
    """The release is not what was published, by a digest of its manifest."""


# Tables of one file, fetched by a locked engine without other files, network, or settings.
#
# Every value is fetched as the text of its SQL type (lists as lists of texts) and parsed in Python.


CATALOG = "release"
FLAGS = 20
"""The byte of a database file whose last bit says whether it is encrypted."""
SUFFIXES = (".parquet", ".csv")
Name: TypeAlias = tuple[str, str]
"""Schema and name."""


@dataclass(frozen=True, slots=True)
class Table:
    """Names, types (None if the file has none) and rows of a published table."""

    columns: tuple[str, ...]
    types: tuple[str | None, ...]
    rows: tuple[tuple[Raw, ...], ...]


def read_file(path: Path) -> Table:
    """Read a Parquet or CSV file without access to anything else."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES or not path.is_file():
        raise UnreadableError(f"{path.name}: is no Parquet or CSV file")
    with closing(locked_database(allowed=path)) as connection:
        place = _literal(_pattern(path))
        if suffix == ".parquet":
            relation = f"read_parquet({place}, hive_partitioning = false)"
        else:
            relation = (
                f"read_csv({place}, header = true, all_varchar = true, delim = ',', quote = '\"',"
                " escape = '\"', allow_quoted_nulls = false, null_padding = false,"
                " hive_partitioning = false, max_line_size = 100000000)"
            )
        described = connection.execute(f"describe select * from {relation}").fetchall()
        columns = [(str(row[0]), str(row[1])) for row in described]
        found = _fetch(connection, relation, columns)
    if suffix == ".csv":
        return Table(found.columns, (None,) * len(found.columns), found.rows)
    return found


def locked_database(
    *, attached: Path | None = None, allowed: Path | None = None
) -> DuckDBPyConnection:
    """An empty database that can access one file only, with locked settings."""
    import duckdb

    settings: dict[str, Any] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "threads": 1,
    }
    connection = duckdb.connect(":memory:", config=settings)
    try:
        connection.execute("set TimeZone = 'UTC'")
        if attached is not None:
            log = attached.with_name(f"{attached.name}.wal")
            if os.path.lexists(log) and not log.is_file():  # a pipe would be waited for
                raise UnreadableError(f"{log.name}: is not a file")
            place, key = _literal(attached), _key(attached)
            given = ", encryption_key $key" if key is not None else ""
            connection.execute(
                f"attach {place} as {CATALOG} (type duckdb, read_only{given})",
                {"key": key} if key is not None else None,
            )
        if allowed is not None:
            both = f"{_literal(allowed)}, {_literal(_pattern(allowed))}"
            connection.execute(f"set allowed_paths = [{both}]")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def _key(file: Path) -> str | None:
    """The key of an encrypted file, from the environment; None for one that is not encrypted."""
    try:
        with file.open("rb") as handle:
            head = handle.read(FLAGS + 1)
    except OSError:
        return None  # (the engine says why it cannot be read)
    if head[8:12] != b"DUCK" or not head[-1] & 1:
        return None
    key = os.environ.get("ANONYMIZER_DATABASE_KEY")
    named = os.environ.get("ANONYMIZER_DATABASE_KEY_FILE")
    if not key and named:
        try:
            key = Path(named).read_text(encoding="utf-8").strip("\r\n")
        except (OSError, UnicodeError):
            raise UnreadableError("ANONYMIZER_DATABASE_KEY_FILE: is no text file") from None
    if not key:
        raise UnreadableError(f"{file.name}: is encrypted, and ANONYMIZER_DATABASE_KEY has no key")
    return key


def _pattern(path: Path) -> Path:
    """The pattern that matches this file alone: the engine reads a path as a pattern."""
    return Path(re.sub(r"[*?\[]", r"[\g<0>]", str(path)))


def _literal(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def tables(connection: DuckDBPyConnection) -> dict[Name, list[tuple[str, str]]]:
    """Base tables of the file with the names and types of their columns."""
    found: dict[Name, list[tuple[str, str]]] = {}
    for schema, name in connection.execute(
        "select schema_name, table_name from system.main.duckdb_tables() where database_name = ?",
        [CATALOG],
    ).fetchall():
        found[str(schema), str(name)] = []
    for schema, name, column, kind in connection.execute(
        "select schema_name, table_name, column_name, data_type from system.main.duckdb_columns()"
        " where database_name = ? order by schema_name, table_name, column_index",
        [CATALOG],
    ).fetchall():
        if (str(schema), str(name)) in found:
            found[str(schema), str(name)].append((str(column), str(kind)))
    return found


def read_table(
    connection: DuckDBPyConnection, tables: Mapping[Name, list[tuple[str, str]]], name: Name
) -> Table:
    """The rows of one of the tables."""
    relation = ".".join(_quote(part) for part in (CATALOG, *name))
    return _fetch(connection, relation, tables[name])


def _fetch(connection: DuckDBPyConnection, relation: str, columns: list[tuple[str, str]]) -> Table:
    if not columns:
        raise UnreadableError("release: a table has no columns")
    listed = ", ".join(
        f"cast({_quote(name)} as varchar{'[]' if kind.endswith('[]') else ''})"
        for name, kind in columns
    )
    rows = connection.execute(f"select {listed} from {relation}").fetchall()
    return Table(
        tuple(name for name, _ in columns),
        tuple(kind for _, kind in columns),
        tuple(tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in rows),
    )


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
