"""What classes publish: every type in both forms of cells, NULLs, hierarchies, suppression."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import GuaranteeError
from tests.oracle.cells import covers, domain_of, parse, problems, typed_cell
from tests.runs import Rows, policy, published, run, source
from tests.selection import some

KINDS: dict[str, tuple[str, str, list[Any]]] = {
    "whole": ("INTEGER", "numeric", [-3, -1, 0, 4, 4, None, 2**31 - 1, 12]),
    "huge": ("HUGEINT", "numeric", [2**100, -(2**100), 0, 1, 2, 3, None, 4]),
    "real": (
        "DOUBLE",
        "numeric",
        [0.1, 0.30000000000000004, -1e300, 1e300, 5e-324, 2.5, None, 0.0],
    ),
    "money": (
        "DECIMAL(12,3)",
        "numeric",
        [Decimal(n) / 1000 for n in (-1500, 10, 200, 3000, 3000, 12345, 999999999)] + [None],
    ),
    "day": (
        "DATE",
        "date",
        [dt.date(2024, 2, d) for d in (1, 5, 28, 29)]
        + [dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 2,
    ),
    "moment": (
        "TIMESTAMP",
        "date",
        [dt.datetime(2024, 2, 29, 23, 59, 59, n) for n in (0, 1, 999999, 500000)]
        + [dt.datetime(1970, 1, 1), None, dt.datetime(2030, 5, 5, 12), dt.datetime(2030, 5, 5)],
    ),
    "zoned": (
        "TIMESTAMPTZ",
        "date",
        [dt.datetime(2024, 3, 31, h, 30, tzinfo=dt.UTC) for h in range(8)],
    ),
    "yes": ("BOOLEAN", "categorical", [True, False, None, True, True, False, False, None]),
    "word": (
        "VARCHAR",
        "categorical",
        ["", "*", "NULL", "a or NULL", 'say "hi"', "{x, y}", " padded ", None],
    ),
    "grade": ("ENUM('low','mid','high')", "categorical", ["high", "low", "mid", "low"] * 2),
    "clock": ("TIME", "categorical", [dt.time(h, 30) for h in (1, 2, 3, 4, 1, 2, 3, 4)]),
}


def literal(value: Any) -> Any:
    """Values that `lit` has no literal for travel as text."""
    if isinstance(value, dt.time):
        return str(value)
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.isoformat()
    return value


def release(folder: Path, column: str, cells: str, **rest: Any) -> Rows:
    sql_type, _, values = KINDS[column]
    rows = [(number, literal(value)) for number, value in enumerate(values)]
    database = source(folder, {"id": "INTEGER", column: sql_type}, rows)
    columns = {"id": {"role": "keep", "acknowledge_unique": True}, column: "quasi"}
    return published(run(policy(folder, columns, publish={"cells": cells}, **rest), database))


USUAL = ("whole", "real", "day", "word")
"""Types of the fast suite; the others are slow by their number."""


@some(1, 3)
@pytest.mark.parametrize(
    "column",
    [name if name in USUAL else pytest.param(name, marks=pytest.mark.slow) for name in KINDS],
)
def test_cells_of_every_type_read_back_and_cover_their_originals(
    tmp_path: Path, column: str
) -> None:
    _, kind, values = KINDS[column]
    domain = domain_of(values, kind)
    (tmp_path / "text").mkdir()
    (tmp_path / "typed").mkdir()
    text = release(tmp_path / "text", column, "text")
    typed = release(tmp_path / "typed", column, "typed")
    assert [row["class_id"] for row in text] == [row["class_id"] for row in typed]
    for one, other in zip(text, typed, strict=True):
        assert problems(one[column], domain) == []
        cell = parse(one[column], kind)
        assert covers(cell, values[one["id"]], domain)
        assert covers(typed_cell(other, column, kind), values[other["id"]], domain)
        if kind != "categorical":
            assert typed_cell(other, column, kind) == cell


def test_a_class_of_nulls_publishes_null_and_a_mixed_one_says_so(tmp_path: Path) -> None:
    ages = [None, None, None, 30, 30, None, 50, 51]
    database = source(
        tmp_path, {"id": "INTEGER", "age": "INTEGER", "g": "VARCHAR"},
        [(i, age, "m" if i < 3 else "f") for i, age in enumerate(ages)],
    )  # fmt: skip
    columns = {"id": {"role": "keep", "acknowledge_unique": True}, "age": "quasi", "g": "quasi"}
    rows = published(run(policy(tmp_path, columns, k=3), database))
    cells = {row["id"]: row["age"] for row in rows}
    assert {cells[i] for i in (0, 1, 2)} == {None}
    assert {cells[i] for i in range(3, 8)} == {"[30, 51] or NULL"}


def test_rows_without_a_value_are_left_out_and_count_against_the_limit(tmp_path: Path) -> None:
    database = source(
        tmp_path,
        {"id": "INTEGER", "age": "INTEGER"},
        [(i, None if i < 2 else i) for i in range(10)],
    )
    columns = {
        "id": {"role": "keep", "acknowledge_unique": True},
        "age": {"role": "quasi", "nulls": "suppress"},
    }
    with pytest.raises(
        GuaranteeError, match=r"suppression_limit: 2 of 10 rows would be suppressed"
    ):
        run(policy(tmp_path, columns, suppression_limit=0.1), database)
    assert not (tmp_path / "release.duckdb").exists()
    made = run(policy(tmp_path, columns, suppression_limit=0.2), database)
    assert (made.measures["rows"], made.measures["suppressed"]) == (8, 2)
    assert {row["id"] for row in published(made)} == set(range(2, 10))


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_categories_with_a_hierarchy_publish_the_lowest_common_node(
    tmp_path: Path, cells: str
) -> None:
    codes = ["10115", "10117", "10119", "20095", "20097", "20099", None, None, None]
    database = source(
        tmp_path, {"id": "INTEGER", "zip": "VARCHAR"}, [(i, code) for i, code in enumerate(codes)]
    )
    columns = {
        "id": {"role": "keep", "acknowledge_unique": True},
        "zip": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
    }
    given = policy(tmp_path, columns, k=3, publish={"cells": cells})
    rows = {row["id"]: row for row in published(run(given, database))}
    assert [rows[i]["zip"] for i in range(9)] == ["1011*"] * 3 + ["2009*"] * 3 + [None] * 3
    if cells == "typed":
        assert [rows[i]["zip_nullable"] for i in range(9)] == [False] * 6 + [True] * 3


@some(2)
@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("mondrian", "text"),
        ("mondrian", "typed"),
        ("lgb", "text"),
        ("full_domain", "typed"),
        ("danonyir", "text"),
        ("geneir", "typed"),
    ],
)
def test_a_node_that_is_a_set_is_written_as_a_set(tmp_path: Path, name: str, cells: str) -> None:
    words = ["a", "b, c", " d", "{e}"]
    rows = [(n, words[n % 4], ["Flu", "Cold"][n // 4 % 2]) for n in range(24)]
    database = source(tmp_path, {"id": "INTEGER", "w": "VARCHAR", "d": "VARCHAR"}, rows)
    columns = {
        "id": "drop",
        "w": {"role": "quasi", "hierarchy": {"builder": "order", "values": words}},
        "d": {"role": "sensitive"},
    }
    rest: dict[str, Any] = {"algorithm": {"name": name}, "publish": {"cells": cells}}
    if name in ("danonyir", "geneir"):
        rest |= {"person": "id", "privacy": {"ir_k": 9}}
    given = policy(tmp_path, columns, None if "person" in rest else 9, **rest)
    found = {row["w"] for row in published(run(given, database))}
    assert found == {'{a, "b, c"}', '{" d", "{e}"}'}
