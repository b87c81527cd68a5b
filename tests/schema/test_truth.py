"""The tests' own judgement of the truth of a release: a coarse one passes, planted lies do not."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import pytest

from tests.runs import fill
from tests.schema import truth
from tests.schema.columns import Drawn
from tests.schema.random_schemas import PERSON, TAG, Schema, draw, owned
from tests.selection import some

Rows = dict[str, list[dict[str, Any]]]


def coarse(schema: Schema, r: random.Random) -> Rows:
    """All persons in one class, with nothing but `*` and ranges, and keys that are drawn."""
    drawn: dict[str, dict[Any, int]] = {}
    made: Rows = {}
    for name, pairs in owned(schema).items():
        table = schema.tables[name]
        numbers = list(range(1, len(pairs) + 1))
        r.shuffle(numbers)
        if table.key is not None:
            keys = [row[table.key] for row, _ in pairs]
            drawn[name] = dict(zip(keys, numbers, strict=True))
        made[name] = []
        for row, _ in r.sample(pairs, len(pairs)):
            shown = {"class_id": 1} if table.parent is None else {}
            if table.key is not None:
                shown[table.key] = drawn[name][row[table.key]]
            if table.parent is not None and table.link is not None:
                shown[table.link] = drawn[table.parent][row[table.link]]
            for one in table.of("quasi", "event"):
                shown[one.name] = _widest(one)
            for one in table.of("sensitive", "keep"):
                shown[one.name] = row[one.name]
            made[name].append(shown)
    return made


def _widest(column: Drawn) -> Any:
    if column.sql_type == "VARCHAR":
        return "* or NULL"
    low, high = min(column.values), max(column.values)
    return f"{low} or NULL" if low == high else f"[{low}, {high}] or NULL"


def publish(schema: Schema, rows: Rows, connection: duckdb.DuckDBPyConnection) -> None:
    schema_name = schema.policy["publish"].get("schema", "main")
    connection.execute(f'create schema if not exists "{schema_name}"')
    connection.execute(f'use "{schema_name}"')
    for name, listed in rows.items():
        table = schema.tables[name]
        types: dict[str, str] = {"class_id": "BIGINT"} if table.parent is None else {}
        types |= dict.fromkeys([one for one in (table.key, table.link) if one], "BIGINT")
        types |= {one.name: "VARCHAR" for one in table.of("quasi", "event")}
        types |= {one.name: one.sql_type for one in table.of("sensitive", "keep")}
        view = schema.view(name).partition(".")[2].strip('"')
        fill(connection, types, [tuple(row[one] for one in types) for row in listed], view)


def holds(schema: Schema, rows: Rows) -> bool:
    with duckdb.connect(config={"threads": 1}) as connection:
        publish(schema, rows, connection)
        published = truth.read(schema, connection)
    return truth.pairs(
        schema, truth.published_persons(schema, published), truth.source_persons(schema)
    )


@cache
def text_cells() -> list[int]:
    """Seeds of small schemas with cells as text."""
    found = []
    for seed in range(60):
        made = draw(seed)
        rows = sum(len(table.rows) for table in made.tables.values())
        if not made.typed and rows < 400 and len(made.tables) > 1:
            found.append(seed)
    return found[:12]


def _first_child(schema: Schema) -> str:
    return next(name for name in schema.tables if name != PERSON)


def a_row_less(schema: Schema, rows: Rows) -> None:
    leaf = list(schema.tables)[-1]
    rows[leaf].pop()


def a_row_more(schema: Schema, rows: Rows) -> None:
    leaf = list(schema.tables)[-1]
    rows[leaf].append(rows[leaf][0])


def a_person_more(schema: Schema, rows: Rows) -> None:
    key = str(schema.tables[PERSON].key)
    rows[PERSON].append(rows[PERSON][0] | {key: len(rows[PERSON]) + 1})


def another_value(schema: Schema, rows: Rows) -> None:
    rows[PERSON][0][TAG] = 1


def a_tag_of_somebody_else(schema: Schema, rows: Rows) -> None:
    """Persons whose rows are not the same exchange a column."""
    counts = {row[TAG]: 0 for row in rows[PERSON]}
    key = schema.tables[PERSON].key
    name = _first_child(schema)
    link = str(schema.tables[name].link)
    for person in rows[PERSON]:
        counts[person[TAG]] = sum(row[link] == person[str(key)] for row in rows[name])
    most, least = max(counts, key=lambda tag: counts[tag]), min(counts, key=lambda tag: counts[tag])
    assert counts[most] > counts[least]
    for person in rows[PERSON]:
        person[TAG] = {most: least, least: most}.get(person[TAG], person[TAG])


def a_cell_that_does_not_admit(schema: Schema, rows: Rows) -> None:
    column = schema.tables[PERSON].of("quasi")[0]
    rows[PERSON][0][column.name] = {
        "VARCHAR": "Zagreb",
        "INTEGER": "[1, 2]",
        "DATE": "1800-01-01",
        "DOUBLE": "0.125",
    }[column.sql_type]


LIES: list[Callable[[Schema, Rows], None]] = [
    a_row_less,
    a_row_more,
    a_person_more,
    another_value,
    a_tag_of_somebody_else,
    a_cell_that_does_not_admit,
]


@some(3)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(lie: Callable[[Schema, Rows], None]) -> None:
    told = 0
    for seed in text_cells():
        schema = draw(seed)
        leaf = list(schema.tables)[-1]
        if not schema.tagged or not schema.tables[leaf].rows:
            continue
        if lie is a_row_less and truth.may_lose(schema, leaf):
            continue
        rows = coarse(schema, random.Random(seed))
        lie(schema, rows)
        assert not holds(schema, rows), seed
        told += 1
    assert told > 1
