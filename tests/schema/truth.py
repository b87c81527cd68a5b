"""Whether published tables say nothing but the truth of their source, and nothing of the hidden.

Keys are drawn anew, so that nothing tells which row was which: there has to be some way to give
every published person one of the source, so that all that is published is true of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import duckdb

from anonymizer.independent.cells import (
    Cell,
    Raw,
    read_bounds,
    read_list,
    read_node,
    read_text_cell,
)
from tests.schema.columns import Drawn
from tests.schema.oracle import Child, Published, fits_by_matching
from tests.schema.random_schemas import PERSON, Schema, Source, owned

KINDS = {"VARCHAR": "categorical", "DATE": "date"}
MANY = 200
"""Rows alike in what is kept beyond which it is only asked whether each may be true."""


@dataclass
class Record:
    """A row with what hangs on it: as published, or as in the source."""

    cells: tuple[Any, ...]
    """Generalized cells, or the values."""
    kept: tuple[str | None, ...]
    key: Any = None
    below: dict[str, list[Record]] = field(default_factory=dict)


def read(schema: Schema, connection: duckdb.DuckDBPyConnection) -> Published:
    """The published tables as texts, with `select *` and nothing else."""
    rows, children = {}, {}
    for table in schema.tables.values():
        view = schema.view(table.name)
        described = connection.execute(f"describe select * from {view}").fetchall()
        listed = ", ".join(
            f'"{name}"::varchar{"[]" if kind.endswith("[]") else ""}'
            for name, kind, *_ in described
        )
        names = [str(name) for name, *_ in described]
        found = connection.execute(f"select {listed} from {view}").fetchall()
        rows[table.name] = [
            {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in zip(names, row, strict=True)
            }
            for row in found
        ]
        if table.parent is not None:
            assert table.link is not None
            events = tuple(part for one in table.of("event") for part in parts(schema, one))
            children[table.name] = Child(table.link, table.parent, table.key, events)
    quasi = tuple(part for one in schema.tables[PERSON].of("quasi") for part in parts(schema, one))
    key = schema.tables[PERSON].key
    assert key is not None
    return Published(PERSON, key, rows, children, quasi)


def parts(schema: Schema, column: Drawn) -> tuple[str, ...]:
    """The published columns of a generalized one."""
    name = column.name
    if not schema.typed:
        return (name,)
    if column.sql_type != "VARCHAR":
        return (f"{name}_lo", f"{name}_hi", f"{name}_nullable")
    if column.role == "quasi" and "hierarchy" not in column.described:
        return (name,)
    return (name, f"{name}_nullable")


def cell(schema: Schema, column: Drawn, row: Mapping[str, Raw]) -> Cell:
    """What a published row says of a generalized column. Raises CellError."""
    raw = [row[part] for part in parts(schema, column)]
    if len(raw) == 3:
        return read_bounds(raw[0], raw[1], raw[2], column.sql_type)
    if len(raw) == 2 and "hierarchy" in column.described:
        return read_node(raw[0], raw[1])
    if len(raw) == 2:
        # a label is a value as text cells have it
        assert raw[0] is None or isinstance(raw[0], str)
        shown = read_text_cell(raw[0], "categorical", column.sql_type, hierarchy=False)
        return replace(shown, nullable=raw[1] == "true")
    if schema.typed:
        return read_list(raw[0], column.sql_type)
    kind = KINDS.get(column.sql_type, "numeric")
    assert raw[0] is None or isinstance(raw[0], str)
    return read_text_cell(raw[0], kind, column.sql_type, "hierarchy" in column.described)


def expected_columns(schema: Schema, table: Source) -> set[str]:
    """The columns that the view of a table has."""
    names = {one for one in (table.key, table.link) if one is not None}
    names |= {one.name for one in table.of("sensitive", "keep")}
    names |= {part for one in table.of("quasi", "event") for part in parts(schema, one)}
    return names | ({"class_id"} if table.parent is None else set())


def published_persons(schema: Schema, published: Published) -> list[Record]:
    """Every published person with all rows."""

    def record(table: Source, row: Mapping[str, Raw]) -> Record:
        cells = tuple(cell(schema, one, row) for one in table.of("quasi", "event"))
        kept = tuple(row[one.name] for one in table.of("sensitive", "keep"))
        return Record(cells, kept, row[table.key] if table.key else None)  # type: ignore[arg-type]

    rows = {name: [(row, row) for row in some] for name, some in published.rows.items()}
    return _records(schema, rows, record)


def source_persons(schema: Schema) -> list[Record]:
    """Every person of the source with all rows that lead to them."""

    def record(table: Source, row: Mapping[str, Any]) -> Record:
        cells = tuple(row[one.name] for one in table.of("quasi", "event"))
        values = [row[one.name] for one in table.of("sensitive", "keep")]
        kept = tuple(None if value is None else str(value) for value in values)
        return Record(cells, kept, row[table.key] if table.key else None)

    return _records(schema, owned(schema), record)


def _records(
    schema: Schema,
    rows: Mapping[str, Sequence[tuple[Any, Any]]],
    record: Callable[[Source, Any], Record],
) -> list[Record]:
    by_key: dict[str, dict[Any, Record]] = {}
    persons: list[Record] = []
    for table in schema.tables.values():
        by_key[table.name] = {}
        for row, _ in rows[table.name]:
            made = record(table, row)
            if table.key is not None:
                by_key[table.name][row[table.key]] = made
            if table.parent is None:
                persons.append(made)
            else:
                parent = by_key[table.parent][row[table.link]]
                parent.below.setdefault(table.name, []).append(made)
    return persons


def pairs(schema: Schema, published: Sequence[Record], source: Sequence[Record]) -> bool:
    """Whether all published persons can be persons of the source, each another one."""
    may: dict[tuple[int, int], bool] = {}

    def may_be(one: Record, other: Record) -> bool:
        pair = id(one), id(other)
        if pair not in may:
            may[pair] = _true_of(schema, PERSON, one, other)
        return may[pair]

    return _each_another(published, source, may_be)


def _each_another(
    shown: Sequence[Record], real: Sequence[Record], may_be: Callable[[Record, Record], bool]
) -> bool:
    """Whether every published row can be another one of the source, by what is kept at first."""
    there = _by_kept(real)
    for kept, some in _by_kept(shown).items():
        others = there.get(kept, [])
        if len(some) > len(others):
            return False
        if len(some) > MANY:
            if not all(any(may_be(one, other) for other in others) for one in some):
                return False
        elif not fits_by_matching(some, others, may_be):
            return False
    return True


def _by_kept(rows: Sequence[Record]) -> dict[Any, list[Record]]:
    found: dict[Any, list[Record]] = {}
    for row in rows:
        found.setdefault(row.kept, []).append(row)
    return found


def _true_of(schema: Schema, table: str, shown: Record, real: Record) -> bool:
    """Whether a published row, and all below it, may be this row of the source."""
    columns = schema.tables[table].of("quasi", "event")
    for column, one, value in zip(columns, shown.cells, real.cells, strict=True):
        if not column.admits(one, value):
            return False
    for name in shown.below.keys() | real.below.keys():
        some, others = shown.below.get(name, []), real.below.get(name, [])
        if len(some) < len(others) and not may_lose(schema, name):
            return False
        if not _each_another(some, others, partial(_true_of, schema, name)):
            return False
    return True


def may_lose(schema: Schema, table: str) -> bool:
    """Whether single rows may be suppressed: those that too few persons have, what hangs on them,
    and those by which the number of somebody's rows is their own.
    """
    own = schema.tables[table]
    if own.parent is None:
        return False
    if schema.knows.get("rows"):
        return True
    if not schema.knows.get("events"):
        return False
    return bool(own.of("event")) or may_lose(schema, own.parent)
