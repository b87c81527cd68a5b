"""A decoded release: every published cell and value, and the numbers of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from anonymizer.independent.cells import (
    BUCKETED,
    Cell,
    CellError,
    Raw,
    read_bounds,
    read_list,
    read_member,
    read_node,
    read_text_cell,
)
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fetch import Table
from anonymizer.independent.layout import Column, Layout
from anonymizer.independent.rows import Opened
from anonymizer.independent.values import Value, ValueFormError, read_value

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


def decode(opened: Opened) -> Release:
    """Parse every cell. Cells that violate the grammar are kept as `malformed`."""
    layout = opened.manifest.layout
    places = {name: i for i, name in enumerate(opened.rows.columns)}
    if len(set(published(layout))) < len(published(layout)):
        raise UnreadableError("manifest.layout: one published column stands for two things")
    missing = sorted(set(published(layout)) - set(places))
    if missing:
        raise UnreadableError(f"release: lacks the column {missing[0]!r} of its manifest")
    faults = _Faults()
    rows = tuple(
        _row(layout, {name: raw[i] for name, i in places.items()}, place, faults)
        for place, raw in enumerate(opened.rows.rows)
    )
    separate = {}
    for name, table in opened.tables.items():
        column = layout.column(name)
        assert column is not None
        separate[name] = _separate(layout, column, table, faults)
    return Release(layout, rows, separate, faults.values, faults.contradicting, faults.numbers)


def published(layout: Layout) -> list[str]:
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
