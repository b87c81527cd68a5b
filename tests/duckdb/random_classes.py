"""Random classes of persons with one value, and the release that they are."""

from __future__ import annotations

import random
from typing import Any

import duckdb

from anonymizer.contract.layout import Layout, PublishedColumn

HIERARCHY = {
    "a": ("vowel", "*"),
    "e": ("vowel", "*"),
    "b": ("consonant", "*"),
    "c": ("consonant", "*"),
    "d": ("consonant", "*"),
}


def layout(sql_type: str, person: bool = False) -> Layout:
    kind = "categorical" if sql_type == "VARCHAR" else "numeric"
    columns = (
        PublishedColumn("zone", "quasi", "categorical", "VARCHAR", name="zone"),
        PublishedColumn("value", "sensitive", kind, sql_type, name="value"),  # type: ignore[arg-type]
    )
    return Layout("mondrian", "text", columns, person_id="person_id" if person else None)


def publish(
    connection: duckdb.DuckDBPyConnection,
    classes: dict[int, list[Any]],
    sql_type: str,
    people: dict[int, list[int]] | None = None,
) -> None:
    connection.execute(
        "create or replace table release "
        f"(class_id integer, person_id integer, zone varchar, value {sql_type})"
    )
    rows = [
        [name, people[name][at] if people else None, f"zone {name}", value]
        for name, values in classes.items()
        for at, value in enumerate(values)
    ]
    if rows:
        connection.executemany("insert into release values (?, ?, ?, ?)", rows)


def random_classes(draw: random.Random, sql_type: str) -> dict[int, list[Any]]:
    pool: list[Any] = list("abcde") if sql_type == "VARCHAR" else [-3, 0, 1, 7, 20]
    pool = pool[: draw.randint(1, 5)] + [None] * draw.randint(0, 1)
    return {name: draw.choices(pool, k=draw.randint(1, 7)) for name in range(1, draw.randint(2, 9))}


def random_people(draw: random.Random, classes: dict[int, list[Any]]) -> dict[int, list[int]]:
    """Persons stay in one class."""
    return {
        name: [name * 100 + draw.randint(1, max(1, len(values) - 1)) for _ in values]
        for name, values in classes.items()
    }
