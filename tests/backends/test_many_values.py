"""The default algorithm on tables with many values: several hundred categories, and every type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import SourceError
from tests.backends.tables import load, on_duckdb, on_postgres, policy, rows_of, same_release
from tests.selection import some

TYPES = {"id": "INTEGER", "value": "VARCHAR", "age": "INTEGER", "ill": "VARCHAR"}
RULES: dict[str, dict[str, Any]] = {
    "no rule": {},
    "l": {"protect": {"l_diversity": 2}},
    "t": {"protect": {"t_closeness": 0.5}},
}
VALUES: dict[str, str] = {
    "TIME": "time '00:00' + v * interval '1 minute'",
    "TIMETZ": "cast(time '00:00' + v * interval '1 minute' as timetz)",
    "DATE": "date '2020-01-01' + v",
    "TIMESTAMP": "timestamp '2020-01-01' + v * interval '1 hour'",
    "TIMESTAMPTZ": "timestamptz '2020-01-01 00:00:00+00' + v * interval '1 hour'",
    "DECIMAL(12, 2)": "v / 4.0",
    "DOUBLE": "v / 3.0",
    "SMALLINT": "v",
    "BIGINT": "v * 5000000000",
    "BOOLEAN": "v % 2 = 0",
    "UUID": "cast(md5(cast(v as varchar)) as uuid)",
}
"""Values of a type, by a number."""
AS_TEXT = ("TIMETZ",)
"""Types that Postgres reads as text, and DuckDB as another type."""


UNREAD = ("TIME", "TIMETZ", "UUID")
"""Types in Parquet files that Spark does not read."""


def table(many: int, kind: str = "VARCHAR", value: str = "'c' || v") -> Any:
    """So many values with four rows of each, in DuckDB."""
    connection = duckdb.connect(config={"threads": 1})
    made = f"cast({value} as {kind}) as value, i * 11 % 60 as age"
    ills = "(['flu', 'cold', 'acne', 'gout'])[1 + i * 13 % 4] as ill"
    numbers = f"select cast(i as integer) as i, cast(i * 7 % {many} as integer) as v"
    connection.execute(
        f"create table many as select i as id, {made}, {ills}"
        f" from ({numbers} from range({4 * many}) t(i))"
    )
    return connection


def given(rule: str, kind: str = "VARCHAR", **rest: Any) -> Any:
    value = {"role": "quasi", "acknowledge": ["uuid"] if kind == "UUID" else []}
    columns = {"value": value, "age": "quasi", "ill": {"role": "sensitive", **RULES[rule]}}
    return policy(columns, {**TYPES, "value": kind}, "many", **rest)


def carry(connection: Any, address: str, kind: str = "VARCHAR") -> None:
    """Copy the table to Postgres, values as texts."""
    rows = connection.execute("select id, cast(value as varchar), age, ill from many").fetchall()
    load(address, {**TYPES, "value": kind}, rows, "many")


@some(5)
@pytest.mark.postgres
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("many", [248, 249, 257, 300, 1000])
def test_categories_on_postgres(postgres: str, many: int, rule: str) -> None:
    with table(many) as connection:
        carry(connection, postgres)
        made = on_postgres(given(rule), postgres)
        same_release(made, postgres, on_duckdb(given(rule), connection))


@some(6)
@pytest.mark.postgres
@pytest.mark.parametrize("rule", ["no rule", "l"])
@pytest.mark.parametrize("kind", VALUES)
def test_types_on_postgres(postgres: str, kind: str, rule: str) -> None:
    with table(300, kind, VALUES[kind]) as connection:
        carry(connection, postgres, kind)
        asked = given(rule, kind, engine="postgres")
        made = on_postgres(asked, postgres)
        assert made.verification.passed
        assert anonymizer.verify(asked, postgres).passed
        if kind not in AS_TEXT:
            assert rows_of(made, postgres) == rows_of(on_duckdb(given(rule, kind), connection))


ON_SPARK = [
    *((many, "VARCHAR", rule) for many in (300, 1000) for rule in RULES),
    *((300, kind, "l") for kind in VALUES if kind not in UNREAD),
]


@some(4)
@pytest.mark.spark
@pytest.mark.parametrize(("many", "kind", "rule"), ON_SPARK)
@pytest.mark.parametrize("rows_up_to", [0, 10_000], ids=["rows on Spark", "few rows in DuckDB"])
def test_values_on_spark(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    many: int,
    kind: str,
    rule: str,
    rows_up_to: int,
) -> None:
    monkeypatch.setattr("anonymizer.engines.spark.connection.ROWS_UP_TO", rows_up_to)
    file = tmp_path / "many.parquet"
    with table(many, kind, VALUES.get(kind, "'c' || v")) as connection:
        connection.execute(f"copy many to '{file}' (format parquet)")
        source = {"source": {"file": str(file)}, "key": "id"}
        place = {"name": "released", "database": str(tmp_path / "released")}
        made = anonymizer.run(given(rule, kind, **source, publish=place), spark, seed=7)
        other = on_duckdb(given(rule, kind, **source, publish={"name": "released"}), connection)
        expected = other.relation().fetchall()
    with duckdb.connect() as reading:
        found = reading.execute(f"from '{tmp_path}/released/released.parquet/*.parquet'").fetchall()
    assert found == expected
    assert made.verification.passed


@pytest.mark.spark
@pytest.mark.parametrize("kind", UNREAD)
def test_a_type_that_spark_does_not_read_is_named(spark: Any, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "many.parquet"
    with table(4, kind, VALUES[kind]) as connection:
        connection.execute(f"copy many to '{file}' (format parquet)")
    place = {"name": "released", "database": str(tmp_path / "released")}
    asked = given("l", kind, source={"file": str(file)}, key="id", publish=place)
    with pytest.raises(SourceError, match=r"a type that Spark does not read .*as text"):
        anonymizer.run(asked, spark)
