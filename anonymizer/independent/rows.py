"""The rows of a release, decoded; DuckDB is used only to fetch them."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from anonymizer.independent import fetch
from anonymizer.independent.cells import (
    BUCKETED,
    Cell,
    CellError,
    Raw,
    Value,
    ValueFormError,
    read_bounds,
    read_list,
    read_member,
    read_node,
    read_text_cell,
    read_value,
)
from anonymizer.independent.fetch import (
    CATALOG,
    SUFFIXES,
    ChangedError,
    Name,
    Table,
    UnreadableError,
)
from anonymizer.independent.layout import Column, Layout
from anonymizer.independent.manifest import Manifest, read_manifest, refuse_changed

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# The rows of a release and its manifest; DuckDB is used only to fetch them.
#
# A file of unknown origin is attached read-only to an empty in-memory database, and the engine is
# locked before any object of the file is accessed: no other file, no network, no extension, no
# setting. No view of the file is ever executed, and no macro of it can shadow a built-in function,
# since the file is not the default database. Rows are read from the frozen base table that the
# manifest names; the view over it is compared as text.


MANIFEST = ".manifest.json"
RECORDS = "_anonymizer"
"""The schema with the tool's record of its objects."""


@dataclass(frozen=True, slots=True)
class Part:
    """One published table of a release of several."""

    rows: Table
    view: str | None = None
    frozen: Name | None = None


@dataclass(frozen=True, slots=True)
class OpenRelease:
    """An opened release."""

    manifest: Manifest
    rows: Table
    tables: Mapping[str, Table]
    """For msb: the table of values of each source column."""
    view: str | None = None
    """The definition of the published view; None without one (an export)."""
    frozen: Name | None = None
    """The table behind the view."""
    linked: Mapping[str, Part] = field(default_factory=dict)
    """The tables besides the persons', by their names in the policy."""

    def texts(self, column: Column) -> tuple[str | None, ...]:
        """The values, as text, of a column that is published value by value."""
        place = self.rows.columns.index(str(column.name))
        return tuple(None if row[place] is None else str(row[place]) for row in self.rows.rows)


def open_release(path: Path, view: str | None = None) -> OpenRelease:
    """Read a DuckDB file, an exported file, or a folder with one export. Raises UnreadableError."""
    import duckdb

    if not path.exists():
        raise UnreadableError(f"{path.name}: there is no such file")
    try:
        if path.is_dir():
            return _folder(path)
        return _export(path) if path.suffix.lower() in SUFFIXES else _database(path, view)
    except (duckdb.Error, OSError, RuntimeError, ValueError) as error:
        # messages of the engine and decoding errors may contain values
        raise UnreadableError(f"{path.name}: {type(error).__name__} while it was read") from None


def _database(path: Path, view: str | None) -> OpenRelease:
    with closing(fetch.locked_database(attached=path)) as connection:
        tables = fetch.tables(connection)
        schema, name = _choose_release(tables, view)
        manifest = _manifest(connection, tables, (schema, f"{name}_manifest"))
        if manifest.view != f"{schema}.{name}":
            raise UnreadableError("manifest.view: names another release")
        separate = {}
        for column, named in manifest.layout.tables.items():
            if (schema, named) not in tables:
                raise UnreadableError(f"release: the table of values of {column} is gone")
            separate[column] = fetch.read_table(connection, tables, (schema, named))
        linked = {}
        if manifest.linked is not None:
            _refuse_unlisted(connection, tables, schema, manifest)
            for one in manifest.linked.children:
                linked[one.table] = _part(connection, tables, (schema, one.name), manifest)
        own = _part(connection, tables, (schema, name), manifest)
        return OpenRelease(manifest, own.rows, separate, own.view, own.frozen, linked)


def _part(
    connection: DuckDBPyConnection,
    tables: Mapping[Name, list[tuple[str, str]]],
    published: Name,
    manifest: Manifest,
) -> Part:
    """The frozen rows of a published name, and the definition of the view over them."""
    schema, name = published
    frozen = (schema, f"_{name}_{manifest.run_id}")
    if frozen not in tables:
        if published not in tables:
            raise UnreadableError("release: the frozen rows that the manifest tells of are gone")
        frozen = published
    definitions = connection.execute(
        "select sql from system.main.duckdb_views() where database_name = ? and schema_name = ?"
        " and view_name = ?",
        [CATALOG, schema, name],
    ).fetchall()
    if not definitions and frozen != published:
        raise UnreadableError("release: the published view is gone")
    rows = fetch.read_table(connection, tables, frozen)
    return Part(rows, str(definitions[0][0]) if definitions else None, frozen)


def _refuse_unlisted(
    connection: DuckDBPyConnection,
    tables: Mapping[Name, list[tuple[str, str]]],
    schema: str,
    manifest: Manifest,
) -> None:
    """Raise UnreadableError for tables and views that no manifest lists.

    Every table with the keys can be joined: one that is not judged could undo what was judged. If
    the release is in the database of its source, only tables of its own run are recognized.
    """
    there = set(tables)
    for one in connection.execute(
        "select schema_name, view_name from system.main.duckdb_views()"
        " where database_name = ? and not internal",
        [CATALOG],
    ).fetchall():
        there.add((str(one[0]), str(one[1])))
    listed = set(_objects(schema, manifest))
    if manifest.only_releases:
        for where, name in tables:
            if name.endswith("_manifest") and (where, name) not in listed:
                listed.update(_objects(where, _manifest(connection, tables, (where, name))))
        unknown = {one for one in there - listed if one[0] != RECORDS}
    else:
        unknown = {one for one in there - listed if one[1].endswith(f"_{manifest.run_id}")}
    if unknown:
        raise UnreadableError("release: the file holds a table that no manifest lists")


def _objects(schema: str, manifest: Manifest) -> Iterable[Name]:
    """Every table and view of a release."""
    view = manifest.view.removeprefix(f"{schema}.")
    names = [view]
    if manifest.linked is not None:
        names += [one.name for one in manifest.linked.children]
    for name in names:
        yield schema, name
        yield schema, f"_{name}_{manifest.run_id}"
    yield schema, f"{view}_manifest"
    for name in manifest.layout.tables.values():
        yield schema, name


def _choose_release(tables: Mapping[Name, object], view: str | None) -> Name:
    """The chosen release: its schema and the name of its view."""
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
        raise UnreadableError(f"release: the file holds several, and none is named ({listed})")
    return there[0]


def _manifest(
    connection: DuckDBPyConnection, tables: Mapping[Name, list[tuple[str, str]]], name: Name
) -> Manifest:
    kept = [("manifest", "VARCHAR"), ("signature", "VARCHAR")]
    if tables[name] not in (kept[:1], kept):
        raise UnreadableError("manifest: is not one column of text")
    rows = fetch.read_table(connection, tables, name).rows
    if len(rows) != 1 or not isinstance(rows[0][0], str):
        raise UnreadableError("manifest: is not one row")
    return read_manifest(rows[0][0])


def _folder(folder: Path) -> OpenRelease:
    """Open a folder with one export."""
    name = folder.resolve().name
    found = sorted(folder.glob(f"*{MANIFEST}"))
    exports = [one for one in found if one.name.removesuffix(MANIFEST).endswith(SUFFIXES)]
    if len(exports) != 1:
        raise UnreadableError(f"{name}: holds {len(exports)} exports with a manifest")
    path = exports[0].with_name(exports[0].name.removesuffix(MANIFEST))
    opened = _export(path)
    if opened.manifest.linked is not None:
        listed = {
            path.name,
            *(f"{one.name}{path.suffix}" for one in opened.manifest.linked.children),
        }
        if any(
            one.suffix.lower() in SUFFIXES and one.name not in listed for one in folder.iterdir()
        ):
            raise UnreadableError(f"{name}: holds a table that the manifest does not list")
    return opened


def _export(path: Path) -> OpenRelease:
    """Open an exported file with its manifest; linked tables are separate files next to it."""
    beside = path.with_name(f"{path.name}{MANIFEST}")
    try:
        if not beside.is_file():  # a pipe would be waited for
            raise OSError
        text = beside.read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UnreadableError(f"{beside.name}: cannot be read") from None
    manifest = read_manifest(text)
    refuse_changed(text)
    columns = manifest.layout.columns
    files = manifest.files
    separate = {
        column: _file(path, f"{path.stem}_{column}", columns, files)
        for column in manifest.layout.tables
    }
    linked = {}
    if manifest.linked is not None:
        for one in manifest.linked.children:
            linked[one.table] = Part(_file(path, one.name, one.columns, files))
    return OpenRelease(manifest, _file(path, path.stem, columns, files), separate, linked=linked)


def _file(path: Path, stem: str, columns: Iterable[Column], files: Mapping[str, str]) -> Table:
    """The rows of a file next to `path`, or of `path` itself, after comparing its digest.

    All files of an export may have been renamed together.
    """
    own = f"{stem}{path.suffix}"
    if Path(own).name != own:
        raise UnreadableError("manifest: names what no file name can hold")
    place = path.with_name(own)
    table = fetch.read_file(place)
    with place.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    if digest not in ([files[own]] if own in files else files.values()):
        raise ChangedError(f"{own}: is not the file that was exported: its digest differs")
    return _with_lists(table, columns)


def _with_lists(table: Table, columns: Iterable[Column]) -> Table:
    """Convert lists back from JSON, as which CSV stores them."""
    listed = {one.name for one in columns if one.list_cells}
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
    """The members as texts; any other text stays as it is, and fails every check."""
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


# A decoded release: every published cell and value, and the numbers of its rows.


Unit: TypeAlias = int
"""A counted unit: a person's number, or the position of a row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One published row."""

    place: int
    class_id: int | None
    person: int | None
    group: int | None
    cells: Mapping[str, Cell]
    """Published cell of each quasi-identifier, by source column."""
    values: Mapping[str, Value | None]
    """Sensitive values, bucketized or not, by source column."""
    buckets: Mapping[str, int | None]

    @property
    def tuple(self) -> tuple[Cell, ...]:
        """The published quasi-identifiers; all bucketized cells are equal."""
        return tuple(self.cells.values())


@dataclass(frozen=True, slots=True)
class Separate:
    """One row of the table of a sensitive column (msb)."""

    group: int | None
    value: Value | None


@dataclass(frozen=True, slots=True)
class Release:
    """All rows of a release."""

    layout: Layout
    rows: tuple[Row, ...]
    separate: Mapping[str, tuple[Separate, ...]]
    malformed_values: Mapping[str, int]
    """Number of values that are invalid for their type, by source column."""
    contradicting: Mapping[str, int]
    """Number of cells that are both generalized and bucketized, or neither, by source column."""
    numbers: Mapping[str, int]
    """Number of entries that are not whole numbers, by published column of numbers."""

    def unit(self, row: Row) -> Unit | None:
        """The unit of a row: its person if the release numbers persons, else the row itself."""
        return row.place if self.layout.person_id is None else row.person


@dataclass(slots=True)
class _Faults:
    values: Counter[str] = field(default_factory=Counter)
    contradicting: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)


def decode(opened: OpenRelease) -> Release:
    """Parse every cell. Cells that violate the grammar are kept as `malformed`."""
    layout = opened.manifest.layout
    places = {name: i for i, name in enumerate(opened.rows.columns)}
    if len(set(published_columns(layout))) < len(published_columns(layout)):
        raise UnreadableError("manifest.layout: one published column stands for two things")
    missing = sorted(set(published_columns(layout)) - set(places))
    if missing:
        raise UnreadableError(f"release: lacks the column {missing[0]!r} of its manifest")
    faults = _Faults()
    rows = tuple(
        _row(layout, {name: raw[i] for name, i in places.items()}, place, faults)
        for place, raw in enumerate(opened.rows.rows)
    )
    separate = {}
    for name, table in opened.tables.items() if layout.counts is None else ():
        column = layout.column(name)
        assert column is not None
        separate[name] = _separate(layout, column, table, faults)
    return Release(layout, rows, separate, faults.values, faults.contradicting, faults.numbers)


def published_columns(layout: Layout) -> list[str]:
    """Every column of the published rows."""
    names = [layout.class_id, layout.person_id, layout.group_id]
    for one in layout.columns:
        if one.column not in layout.tables:
            names += [one.name, one.lo, one.hi, one.nullable, one.value, one.bucket]
    return [name for name in names if name is not None]


def _row(layout: Layout, raw: Mapping[str, Raw], place: int, faults: _Faults) -> Row:
    cells: dict[str, Cell] = {}
    values: dict[str, Value | None] = {}
    buckets: dict[str, int | None] = {}
    for column in layout.columns:
        if column.column in layout.tables:
            continue
        bucketed = False
        if column.bucket is not None:
            buckets[column.column] = _number(raw[column.bucket], column.bucket, faults)
            bucketed = raw[column.bucket] is not None
        if column.quasi:
            cells[column.column] = _cell(layout, column, raw, bucketed, faults)
        if column.role == "sensitive" or bucketed:
            values[column.column] = _value(column, raw, faults)
        if column.role == "sensitive" and column.bucket is not None and not bucketed:
            faults.contradicting[column.column] += 1
    return Row(
        place,
        _optional(layout.class_id, raw, faults),
        _optional(layout.person_id, raw, faults),
        _optional(layout.group_id, raw, faults),
        cells,
        values,
        buckets,
    )


def _cell(
    layout: Layout, column: Column, raw: Mapping[str, Raw], bucketed: bool, faults: _Faults
) -> Cell:
    parts = [one for one in (column.name, column.lo, column.hi, column.nullable) if one is not None]
    texts = tuple(raw[part] for part in parts)
    if column.value is not None:
        # typed: a generalized cell has no value, a bucketized one has neither bounds nor node
        told = [raw[part] for part in parts if part != column.nullable]
        if column.nullable is not None and raw[column.nullable] == "true":
            told.append("true")
        wrong = any(one is not None for one in told) if bucketed else raw[column.value] is not None
        if wrong:
            faults.contradicting[column.column] += 1
    if bucketed:
        return BUCKETED
    try:
        if column.lo is not None and column.hi is not None:
            return read_bounds(texts[0], texts[1], texts[2], column.sql_type)
        if column.list_cells:
            return read_list(texts[0], column.sql_type)
        if layout.cells == "typed":
            return read_node(texts[0], texts[1])
        if not (texts[0] is None or isinstance(texts[0], str)):
            raise CellError("is a list")
        return read_text_cell(texts[0], column.kind, column.sql_type, column.hierarchy)
    except CellError:
        return Cell("malformed", raw=texts)


def _value(column: Column, raw: Mapping[str, Raw], faults: _Faults) -> Value | None:
    """The sensitive value of a row: unchanged, or (text, semi-sensitive) written as a member.

    An invalid value counts as NULL, so that it never counts towards l.
    """
    text = raw[column.value or column.name or ""]
    if text is None:
        return None
    try:
        if not isinstance(text, str):
            return str(text)
        if column.role == "semi" and column.value is None:
            return read_member(text, column.kind, column.sql_type)
        return read_value(text, column.sql_type)
    except (CellError, ValueFormError):
        counts = faults.contradicting if column.role == "semi" else faults.values
        counts[column.column] += 1
        return None


def _separate(
    layout: Layout, column: Column, table: Table, faults: _Faults
) -> tuple[Separate, ...]:
    assert layout.group_id is not None
    assert column.name is not None
    places = {name: i for i, name in enumerate(table.columns)}
    for name in (layout.group_id, column.name):
        if name not in places:
            raise UnreadableError(f"release: the table of {column.column} lacks a column")
    made = []
    for raw in table.rows:
        named = {name: raw[i] for name, i in places.items()}
        group = _number(named[layout.group_id], layout.group_id, faults)
        made.append(Separate(group, _value(column, named, faults)))
    return tuple(made)


def _optional(name: str | None, raw: Mapping[str, Raw], faults: _Faults) -> int | None:
    return None if name is None else _number(raw[name], name, faults)


def _number(text: Raw, name: str, faults: _Faults) -> int | None:
    found = number(text)
    if found is None and text is not None:
        faults.numbers[name] += 1
    return found


def number(text: Raw) -> int | None:
    """Parse a whole number; None for anything else."""
    plain = isinstance(text, str) and text.isascii() and text.isdigit() and len(text) < 30
    return int(text) if plain else None  # type: ignore[arg-type]
