"""Columns of a source whose collations differ: DuckDB puts no two of them into one expression."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from tests.runs import policy
from tests.selection import some


@some(1)
@pytest.mark.parametrize("role", ["token", "identifier", "drop", "keep"])
def test_columns_of_different_collations(tmp_path: Path, role: str) -> None:
    columns: dict[str, Any] = {"age": "quasi", "town": "quasi", "who": role, "ill": "sensitive"}
    if role == "keep":
        columns["who"] = {"role": "keep", "acknowledge_unique": True}
    given = policy(tmp_path, columns, k=4)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute(
            "create table people (age integer, town varchar collate nocase,"
            " who varchar collate noaccent, ill varchar collate noaccent.nocase)"
        )
        connection.execute(
            "insert into people select i % 8, case when i % 2 = 0 then 'a' else 'A' end,"
            " 'w' || i, case when i % 3 = 0 then 'é' else 'E' end from range(64) t(i)"
        )
        assert anonymizer.run(given, connection, seed=1).verification.passed
