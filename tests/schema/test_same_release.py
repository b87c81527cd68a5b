"""The same tables make the same release, whatever the order of their rows and the threads."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.engines.base import Limits
from tests.schema import truth
from tests.schema.oracle import Row
from tests.schema.random_schemas import Schema, draw
from tests.selection import some


def rows(schema: Schema, folder: Path, threads: int) -> dict[str, list[Row]]:
    """The published rows of every table in their order."""
    folder.mkdir()
    database = schema.write(folder)
    policy = Policy.model_validate(schema.policy, context={"base": folder})
    anonymizer.run(policy, database, seed=schema.seed, limits=Limits(threads=threads))
    path = folder / "release.duckdb"
    with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
        return {name: list(some) for name, some in truth.read(schema, connection).rows.items()}


@some(0)
@pytest.mark.parametrize("seed", [9, 24])
def test_order_and_threads_make_no_difference(seed: int, tmp_path: Path) -> None:
    schema = draw(seed)
    before = rows(schema, tmp_path / "before", 1)
    for table in schema.tables.values():
        random.Random(seed).shuffle(table.rows)
    assert rows(schema, tmp_path / "after", 2) == before


@some(0)
@pytest.mark.parametrize("seed", [7, 49])
def test_hidden_columns_make_no_difference(seed: int, tmp_path: Path) -> None:
    """Of tables with a key: the draws of rows without one hang on all of their values."""
    schema = draw(seed)
    before = rows(schema, tmp_path / "before", 1)
    changed = 0
    for table in schema.tables.values():
        for column in table.of("identifier", "drop") if table.key is not None else []:
            for number, row in enumerate(table.rows):
                row[column.name] = f"another {number}"
                changed += 1
    assert changed
    assert rows(schema, tmp_path / "after", 1) == before
