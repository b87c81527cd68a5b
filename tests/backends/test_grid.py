"""Bounds on a grid on Postgres and Spark: the rows of DuckDB."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.policy import Policy
from anonymizer.run import verbs
from anonymizer.run.verify import verify

COLUMNS = (
    "id integer, x integer, money decimal(9,2), ratio double precision, born date, seen timestamp,"
    " c varchar"
)


def rows() -> list[tuple[Any, ...]]:
    return [
        (
            i,
            (i * 7919) % 3001 - 700,
            Decimal((i * 37) % 9000) / 100,
            float(i % 97) / 4,
            dt.date(1999, 12, 28) + dt.timedelta((i * 3) % 900),
            dt.datetime(2001, 2, 27, 23, 59, 30) + dt.timedelta(hours=i * 5),
            None if i % 31 == 0 else f"c{i % 3}",
        )
        for i in range(400)
    ]


def given(name: str, **publish: Any) -> Any:
    quasi: dict[str, Any] = {"role": "quasi"}
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": name},
            "key": "id",
            "columns": {
                "id": {"role": "drop"},
                "x": quasi,
                "money": {**quasi, "bounds": {"step": 0.5}},
                "ratio": {**quasi, "bounds": {"step": 0.25}},
                "born": quasi,
                "seen": {**quasi, "bounds": {"step": "quarter"}},
                "c": quasi,
            },
            "privacy": {"k_anonymity": 5},
            "publish": {"name": f"{name}_rel", "bounds": "grid", **publish},
        }
    )


def cells(release: Any) -> list[tuple[str, ...]]:
    frame = release.df()
    return sorted(tuple(map(str, row[1:])) for row in frame.itertuples(index=False))


def on_duckdb(folder: Path) -> list[tuple[str, ...]]:
    file = folder / "here.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(f"create table t ({COLUMNS})")
        con.executemany("insert into t values (?, ?, ?, ?, ?, ?, ?)", rows())
    return cells(verbs.run(given("t", database=str(folder / "rel.duckdb")), file, seed=1))


@pytest.mark.postgres
def test_postgres(postgres: str, tmp_path: Path) -> None:
    import psycopg

    name = f"t_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres, autocommit=True) as con:
        con.execute(f"create table {name} ({COLUMNS})")
        with con.cursor() as cursor:
            cursor.executemany(f"insert into {name} values (%s, %s, %s, %s, %s, %s, %s)", rows())
    made = given(name)
    assert cells(verbs.run(made, postgres, seed=1)) == on_duckdb(tmp_path)
    assert verify(made, postgres).passed


@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    name = f"t_{uuid.uuid4().hex[:8]}"
    types = COLUMNS.replace("varchar", "string").replace(" precision", "")
    types = types.replace("seen timestamp", "seen timestamp_ntz")
    spark.createDataFrame(rows(), types).createOrReplaceTempView(name)
    made = given(name)
    assert cells(verbs.run(made, spark, seed=1)) == on_duckdb(tmp_path)
    assert verify(made, spark).passed
