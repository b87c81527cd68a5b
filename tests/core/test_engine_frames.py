"""Frames of the engines that read rows as Python values have the types of DuckDB's."""

from __future__ import annotations

import duckdb
import pandas as pd
import pytest

from anonymizer.engines.base import FRAME_TYPES, frame_of

EXACT = {"BIGINT": 9007199254740993, "BOOLEAN": True}


@pytest.mark.parametrize("kind", FRAME_TYPES)
@pytest.mark.parametrize("nulls", [(), (1,), (0, 1)], ids=["none", "some", "all"])
def test_types_are_those_of_duckdb(kind: str, nulls: tuple[int, ...]) -> None:
    rows = [(None if n in nulls else EXACT.get(kind, 1),) for n in range(2)]
    frame = frame_of([("a column", kind)], rows)
    with duckdb.connect() as connection:
        connection.execute(f"create table t (x {kind})")
        connection.executemany("insert into t values (?)", rows)
        other = connection.execute("from t").df()
    assert frame["a column"].dtype == other["x"].dtype
    assert [None if pd.isna(x) else x for x in frame["a column"]] == [x for (x,) in rows]


def test_a_frame_without_rows_has_its_columns() -> None:
    frame = frame_of([("b", "BIGINT"), ("a", "VARCHAR")], [])
    assert list(frame.columns) == ["b", "a"]
    assert frame["b"].dtype == "int64"
    assert frame.empty
