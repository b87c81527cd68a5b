"""anon_mondrian against the compiled algorithm, the naive one, and what cells and losses say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy

QI8 = [
    "age", "sex", "race", "marital_status",
    "education", "native_country", "workclass", "occupation",
]  # fmt: skip


def compiled(
    sql: duckdb.DuckDBPyConnection, quasi: Sequence[str], k: int, split: str
) -> anonymizer.Release:
    """The policy's run over table `source`, which has a column `id`; publishes `compiled`."""
    columns = [str(row[0]) for row in sql.execute("describe source").fetchall()]
    # of equally good cuts the first column's is made: the policy's order is that of the list
    roles: dict[str, Any] = {name: {"role": "quasi"} for name in quasi}
    roles |= {name: {"role": "drop"} for name in columns if name not in roles}
    roles["id"] = {"role": "keep", "acknowledge_unique": True}
    policy = Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "source"},
            "columns": roles,
            "privacy": {"k_anonymity": k},
            "algorithm": {"name": "mondrian", "split": split, "compare": 1, "refine": 0},
            "publish": {"name": "compiled"},
        }
    )
    return anonymizer.run(policy, sql, seed=1)


def differences(sql: duckdb.DuckDBPyConnection, quasi: Sequence[str]) -> tuple[int, ...]:
    """Classes of the macro, of the algorithm, of both together, and cells that differ."""
    cells = " or ".join(f'c."{name}" is distinct from r."{name}"' for name in quasi)
    found = sql.execute(
        "select count(distinct c.class_id), count(distinct r.class_id),"
        f" count(distinct (c.class_id, r.class_id)), count(*) filter (where {cells})"
        " from cells c join compiled r on r.id = c.id"
    ).fetchall()
    return tuple(found[0])


def partition(
    sql: duckdb.DuckDBPyConnection, quasi: Sequence[str], k: int, split: str
) -> anonymizer.Release:
    listed = ", ".join(f"'{name}'" for name in quasi)
    sql.execute(
        f"create or replace table classes as"
        f" from anon_mondrian('source', [{listed}], {k}, split := '{split}')"
    ).fetchall()
    sql.execute(f"create or replace table cells as from anon_cells('classes', [{listed}])")
    release = compiled(sql, quasi, k, split)
    macro, algorithm, both, cells = differences(sql, quasi)
    assert macro == algorithm == both
    assert cells == 0
    ((ncp, ncp_sum, _),) = sql.execute(f"from anon_ncp('classes', [{listed}])").fetchall()
    assert ncp == pytest.approx(release.measures["ncp"], abs=1e-12)
    assert ncp_sum == pytest.approx(release.measures["ncp_sum"], abs=1e-6)
    ((c_dm,),) = sql.execute("from anon_discernibility('classes', ['class_id'])").fetchall()
    assert c_dm == release.measures["c_dm"]
    return release


@pytest.mark.slow
@pytest.mark.parametrize("split", ["loss", "median"])
def test_random_tables_of_all_types(sql: duckdb.DuckDBPyConnection, split: str) -> None:
    draw = random.Random(11)
    for _ in range(2):
        rows, k = draw.randint(20, 150), draw.randint(2, 6)
        sql.execute(
            "create or replace table source (id integer, n integer, d double, m decimal(6, 2),"
            " w varchar, b boolean, day date, moment timestamp, e enum ('x', 'y', '{z}'), t time)"
        )

        def some(pool: list[Any]) -> Any:
            return draw.choice([*pool, None])

        sql.executemany(
            "insert into source values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    i,
                    some([-7, -3, 0, 5, 90]),
                    some([-0.0, 0.0, 0.1, 1e9, -2.5]),
                    some([0.01, 3.5, -9.99]),
                    some(["a", "B", "b", "é", "", "x, y", " s"]),
                    some([True, False]),
                    some(["1969-01-01", "2020-02-29", "2020-03-01"]),
                    some(["1969-01-01 00:00:01", "2020-02-29 23:59:59.5"]),
                    some(["x", "y", "{z}"]),
                    some(["10:00:00", "10:00:00.5"]),
                )
                for i in range(rows)
            ],
        )
        quasi = draw.sample(
            ["n", "d", "m", "w", "b", "day", "moment", "e", "t"], draw.randint(2, 5)
        )
        partition(sql, quasi, k, split)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [2_000, pytest.param(30_162, marks=pytest.mark.slow)])
def test_eight_columns_of_adult(
    sql: duckdb.DuckDBPyConnection, data_folder: Path, rows: int
) -> None:
    file = data_folder / "adult_complete.parquet"
    sql.execute(
        "create or replace table source as"
        f" select row_number() over () as id, * from '{file}' limit {rows}"
    )
    release = partition(sql, QI8, 5, "loss")
    assert release.measures["rows"] == rows


def test_all_rows_equal(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute("create or replace table few as select 1 as a from range(2)")
    assert sql.execute("from anon_mondrian('few', ['a'], 2)").fetchall() == [(1, 1), (1, 1)]
    sql.execute("create or replace table few as select null as a from range(9)")
    assert set(sql.execute("from anon_mondrian('few', ['a'], 2)").fetchall()) == {(None, 1)}
