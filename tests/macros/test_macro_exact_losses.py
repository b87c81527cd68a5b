"""Losses of values that are alike as doubles, and of those at the ends of a type."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pytest

CLOSE = 4 / 9
"""Four values at 0, 1, 2 and 9, two by two: (1/9 + 7/9) / 2."""
WIDE = 0.0
TOP, LOW = 2**127 - 1, -(2**127)
COLUMNS: dict[str, tuple[Sequence[int | str], float]] = {
    "hugeint": ([10**37 + i for i in (0, 1, 2, 9)], CLOSE),
    "hugeint at its end": ([TOP - i for i in (0, 1, 2, 9)], CLOSE),
    "hugeint from end to end": ([LOW, LOW + 1, TOP - 1, TOP], WIDE),
    "uhugeint": ([2**128 - 1 - i for i in (0, 1, 2, 9)], CLOSE),
    "uhugeint in the middle": ([2**127 - 2 + i for i in (0, 1, 2, 9)], CLOSE),
    "uhugeint from end to end": ([0, 1, 2**128 - 2, 2**128 - 1], WIDE),
    "ubigint": ([2**64 - 1 - i for i in (0, 1, 2, 9)], CLOSE),
    "bigint from end to end": ([-(2**63), 1 - 2**63, 2**63 - 2, 2**63 - 1], WIDE),
    "decimal(38,10)": ([f"-{'9' * 28}.{i:010}" for i in (0, 1, 2, 9)], CLOSE),
    "decimal(38,38)": ([f"0.{'9' * 37}{i}" for i in (0, 1, 2, 9)], CLOSE),
    "decimal(38,0) from end to end": ([f"-{'9' * 38}", f"-{'9' * 37}8", "9" * 38, "9" * 38], WIDE),
    "double from end to end": (["-1.7e308", "-1.6e308", "1.6e308", "1.7e308"], 1 / 34),
    "date": ([f"5881580-07-0{i}" for i in (1, 2, 3)] + ["5881580-07-10"], CLOSE),
    "date before Christ": ([f"44-03-{i} (BC)" for i in (10, 11, 12, 19)], CLOSE),
    "date with infinite ones": (["2000-01-01", "2000-01-02", "infinity", "-infinity"], 1),
    "timestamp": ([f"294000-01-01 00:00:00.00000{i}" for i in (0, 1, 2, 9)], CLOSE),
    "timestamp_ns": ([f"2000-01-01 00:00:00.00000000{i}" for i in (0, 1, 2, 9)], CLOSE),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_loss_of_values_that_are_close_or_far(
    name: str, sql: duckdb.DuckDBPyConnection
) -> None:
    values, loss = COLUMNS[name]
    kind = name.partition(" ")[0]
    rows = ", ".join(f"(cast('{v}' as {kind}), {i // 2})" for i, v in enumerate(values))
    sql.execute(f"create or replace table classes as from (values {rows}) as t(a, class_id)")
    ((ncp,),) = sql.execute("select ncp from anon_ncp('classes', ['a'])").fetchall()
    assert ncp == pytest.approx(loss, abs=1e-9)
    sql.execute("create or replace table source as select a from classes")
    ((rows_left,),) = sql.execute(
        "select count(*) from anon_mondrian('source', ['a'], 2)"
    ).fetchall()
    assert rows_left == 4


def test_an_interval_is_no_quasi_identifier(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute("create or replace table classes as select interval 1 day as a, 1 as class_id")
    with pytest.raises(duckdb.Error, match="anon_ncp: quasi: the column a is nested or binary"):
        sql.execute("from anon_ncp('classes', ['a'])")
