"""The rows of a release and its manifest; DuckDB is used only to fetch them.

A file of unknown origin is attached read-only to an empty database in memory, and the engine is
locked before any object of the file is touched: no other file, no network, no extension, no
setting. No view of the file is ever executed, and no macro of it can shadow a built-in
function, since the file is not the default database. Rows are read from the frozen base table that
the manifest names; the view over it is compared as text.

Every value is fetched as the text of its SQL type (lists as lists of texts) and read in Python.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from anonymizer.independent.cells import Raw
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.manifest import Layout, Manifest, read_manifest

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CATALOG = "release"
SUFFIXES = (".parquet", ".csv")
MANIFEST = ".manifest.json"
Name: TypeAlias = tuple[str, str]
"""Schema and name."""


@dataclass(frozen=True, slots=True)
class Table:
    """Names, types (None where the file has none) and rows of a published table."""

    columns: tuple[str, ...]
    types: tuple[str | None, ...]
    rows: tuple[tuple[Raw, ...], ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """A release as it was read."""

    manifest: Manifest
    rows: Table
    tables: Mapping[str, Table]
    """msb: source column to the table of its values."""
    view: str | None = None
    """The definition of the published view; None where there is none (an export)."""
    frozen: Name | None = None
    """The table behind the view."""


def open_release(path: Path, view: str | None = None) -> Opened:
    """Read a DuckDB file, an exported file, or a folder with one export. Raises UnreadableError."""
    import duckdb

    if not path.exists():
        raise UnreadableError(f"{path.name}: there is no such file")
    try:
        if path.is_dir():
            return _export(_exported(path))
        return _export(path) if path.suffix.lower() in SUFFIXES else _database(path, view)
    except (duckdb.Error, OSError, RuntimeError, ValueError) as error:
        # messages of the engine, and decoding errors, may contain values
        raise UnreadableError(f"{path.name}: {type(error).__name__} while it was read") from None


def read_file(path: Path) -> Table:
    """Read a Parquet or CSV file without access to anything else."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES or not path.is_file():
        raise UnreadableError(f"{path.name}: is no Parquet or CSV file")
    with closing(_locked(allowed=path)) as connection:
        place = _literal(path)
        if suffix == ".parquet":
            relation = f"read_parquet({place})"
        else:
            relation = (
                f"read_csv({place}, header = true, all_varchar = true, delim = ',', quote = '\"',"
                " escape = '\"', allow_quoted_nulls = false, null_padding = false)"
            )
        described = connection.execute(f"describe select * from {relation}").fetchall()
        columns = [(str(row[0]), str(row[1])) for row in described]
        found = _fetch(connection, relation, columns)
    if suffix == ".csv":
        return Table(found.columns, (None,) * len(found.columns), found.rows)
    return found


def _database(path: Path, view: str | None) -> Opened:
    with closing(_locked(attached=path)) as connection:
        tables = _tables(connection)
        schema, name = _chosen(tables, view)
        manifest = _manifest(connection, tables, (schema, f"{name}_manifest"))
        if manifest.view != f"{schema}.{name}":
            raise UnreadableError("manifest.view: names another release")
        frozen = (schema, f"_{name}_{manifest.run_id}")
        if frozen not in tables:
            if (schema, name) not in tables:
                raise UnreadableError(
                    "release: the frozen rows that the manifest tells of are gone"
                )
            frozen = (schema, name)
        separate = {}
        for column, named in manifest.layout.tables.items():
            if (schema, named) not in tables:
                raise UnreadableError(f"release: the table of values of {column} is gone")
            separate[column] = _read(connection, tables, (schema, named))
        definitions = connection.execute(
            "select sql from system.main.duckdb_views() where database_name = ? and schema_name = ?"
            " and view_name = ?",
            [CATALOG, schema, name],
        ).fetchall()
        if not definitions and frozen != (schema, name):
            raise UnreadableError("release: the published view is gone")
        return Opened(
            manifest,
            _read(connection, tables, frozen),
            separate,
            str(definitions[0][0]) if definitions else None,
            frozen,
        )


def _locked(*, attached: Path | None = None, allowed: Path | None = None) -> DuckDBPyConnection:
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
            place = _literal(attached)
            connection.execute(f"attach {place} as {CATALOG} (type duckdb, read_only)")
        if allowed is not None:
            connection.execute(f"set allowed_paths = [{_literal(allowed)}]")
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def _literal(path: Path) -> str:
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def _tables(connection: DuckDBPyConnection) -> dict[Name, list[tuple[str, str]]]:
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


def _chosen(tables: Mapping[Name, object], view: str | None) -> Name:
    """The release that is meant: its schema and the name of its view."""
    there = [
        (schema, name.removesuffix("_manifest"))
        for schema, name in sorted(tables)
        if name.endswith("_manifest") and name != "_manifest"
    ]
    if view is not None:
        there = [one for one in there if view in (f"{one[0]}.{one[1]}", one[1])]
        exact = [one for one in there if view == f"{one[0]}.{one[1]}" or one[0] == "main"]
        there = exact if len(there) > 1 else there
    if not there:
        raise UnreadableError("release: has no manifest" + (" of that name" if view else ""))
    if len(there) > 1:
        listed = ", ".join(f"{schema}.{name}" for schema, name in there[:10])
        raise UnreadableError(f"--view: names none of the releases of the file ({listed})")
    return there[0]


def _manifest(
    connection: DuckDBPyConnection, tables: Mapping[Name, list[tuple[str, str]]], name: Name
) -> Manifest:
    kept = [("manifest", "VARCHAR"), ("signature", "VARCHAR")]
    if tables[name] not in (kept[:1], kept):
        raise UnreadableError("manifest: is not one column of text")
    rows = _read(connection, tables, name).rows
    if len(rows) != 1 or not isinstance(rows[0][0], str):
        raise UnreadableError("manifest: is not one row")
    return read_manifest(rows[0][0])


def _read(
    connection: DuckDBPyConnection, tables: Mapping[Name, list[tuple[str, str]]], name: Name
) -> Table:
    relation = ".".join(_quoted(part) for part in (CATALOG, *name))
    return _fetch(connection, relation, tables[name])


def _fetch(connection: DuckDBPyConnection, relation: str, columns: list[tuple[str, str]]) -> Table:
    if not columns:
        raise UnreadableError("release: a table has no columns")
    listed = ", ".join(
        f"cast({_quoted(name)} as varchar{'[]' if kind.endswith('[]') else ''})"
        for name, kind in columns
    )
    rows = connection.execute(f"select {listed} from {relation}").fetchall()
    return Table(
        tuple(name for name, _ in columns),
        tuple(kind for _, kind in columns),
        tuple(tuple(tuple(v) if isinstance(v, list) else v for v in row) for row in rows),
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _exported(folder: Path) -> Path:
    found = sorted(folder.glob(f"*{MANIFEST}"))
    exports = [one for one in found if one.name.removesuffix(MANIFEST).endswith(SUFFIXES)]
    if len(exports) != 1:
        raise UnreadableError(f"{folder.name}: holds {len(exports)} exports with a manifest")
    return exports[0].with_name(exports[0].name.removesuffix(MANIFEST))


def _export(path: Path) -> Opened:
    beside = path.with_name(f"{path.name}{MANIFEST}")
    try:
        text = beside.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UnreadableError(f"{beside.name}: cannot be read") from None
    manifest = read_manifest(text)
    layout = manifest.layout
    separate = {}
    for column in layout.tables:
        if Path(column).name != column:
            raise UnreadableError("manifest.layout.tables: names what no file name can hold")
        own = path.with_name(f"{path.stem}_{column}{path.suffix}")
        separate[column] = _with_lists(read_file(own), layout)
    return Opened(manifest, _with_lists(read_file(path), layout), separate)


def _with_lists(table: Table, layout: Layout) -> Table:
    """Lists, which CSV holds as JSON, as lists again."""
    listed = {one.name for one in layout.columns if one.list_cells}
    places = [i for i, name in enumerate(table.columns) if name in listed and not table.types[i]]
    if not places:
        return table
    rows = []
    for row in table.rows:
        made = list(row)
        for i in places:
            made[i] = _json_list(row[i])
        rows.append(tuple(made))
    return Table(table.columns, table.types, tuple(rows))


def _json_list(text: Raw) -> Raw:
    """The members as texts; what is not such a list stays a text, which no check accepts."""
    if not isinstance(text, str):
        return text
    try:
        found = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return text
    if not isinstance(found, list):
        return text
    made: list[str | None] = []
    for one in found:
        if isinstance(one, bool):
            made.append("true" if one else "false")
        elif one is None or isinstance(one, str):
            made.append(one)
        else:
            return text
    return tuple(made)
