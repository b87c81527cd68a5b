"""Tables that both engines hold, policies over them, and releases compared row by row."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.compile import quote
from anonymizer.engines.base import Limits
from anonymizer.release.published import Release
from tests.runs import fill

POSTGRES_TYPES = {"DOUBLE": "double precision", "FLOAT": "real", "VARCHAR": "text"}
PEOPLE = {
    "age": "INTEGER",
    "born": "DATE",
    "seen": "TIMESTAMP",
    "zip": "VARCHAR",
    "town": "VARCHAR",
    "wage": "DECIMAL(9, 2)",
    "weight": "DOUBLE",
    "member": "BOOLEAN",
    "ill": "VARCHAR",
    "person": "BIGINT",
    "hidden": "BOOLEAN",
}
TOWNS = ("Zürich", "Łódź", "d'Or", 'say "hi"', "a, b", "", "*", "NULL", "東京", "🂡", "Ärger", "aä")
WEIGHTS = (0.0, 1.0, 1e16, 1234567890123456.5, 0.1, 1e-7, -2.5)
ILLNESSES = ("flu", "cold", "HIV", "asthma", "émigré", "gout")


def people(rows: int = 240, seed: int = 5) -> list[tuple[Any, ...]]:
    """Rows with NULLs, ties, copies, negatives, quotes, and text beyond ASCII."""
    draw = random.Random(seed)

    def maybe(value: Any, share: float = 0.06) -> Any:
        return None if draw.random() < share else value

    made = []
    for number in range(rows):
        born = dt.date(1940, 1, 1) + dt.timedelta(days=draw.randrange(25000))
        made.append(
            (
                maybe(draw.randrange(-3, 70)),
                maybe(born),
                maybe(dt.datetime(2020, 1, 1) + dt.timedelta(minutes=draw.randrange(600000))),
                maybe(f"{draw.randrange(10, 30)}{draw.randrange(10)}"),
                maybe(draw.choice(TOWNS)),
                maybe(Decimal(draw.randrange(-500, 90000)).scaleb(-2)),
                maybe(
                    draw.choice([0.0, 1.0, 1e16, 0.1, 1e-7, -2.5, float(draw.randrange(90)) / 7])
                ),
                maybe(draw.random() < 0.5),
                maybe(draw.choice(ILLNESSES), 0.03),
                number // 2,
                maybe(draw.random() < 0.3, 0.02),
            )
        )
    return made + made[:3]  # copies


def load(address: str, types: Mapping[str, str], rows: Iterable[Sequence[Any]], table: str) -> None:
    """The table in a Postgres database."""
    import psycopg

    columns = ", ".join(
        f"{quote(name)} {POSTGRES_TYPES.get(kind, kind)}" for name, kind in types.items()
    )
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"drop table if exists {quote(table)} cascade")
        connection.execute(f"create table {quote(table)} ({columns})")
        with connection.cursor().copy(f"copy {quote(table)} from stdin") as copy:
            for row in rows:
                copy.write_row(row)


def load_into_spark(
    spark: Any,
    folder: Path,
    types: Mapping[str, str],
    rows: Iterable[Sequence[Any]],
    table: str = "people",
) -> None:
    """The table in Spark's catalog, by way of a Parquet file in the folder."""
    path = folder / "rows.parquet"
    with duckdb.connect() as connection:
        fill(connection, types, rows, table)
        connection.execute(f"copy {quote(table)} to '{path}' (format parquet)")
    spark.read.parquet(str(path)).write.mode("overwrite").saveAsTable(table)


def embedded(types: Mapping[str, str], rows: Sequence[Sequence[Any]], table: str) -> Any:
    """The table in a DuckDB database in memory."""
    connection = duckdb.connect(config={"threads": 1})
    fill(connection, types, rows, table)
    return connection


def policy(
    columns: Mapping[str, Any],
    types: Mapping[str, str] = PEOPLE,
    table: str = "people",
    **rest: Any,
) -> Policy:
    """A policy over the table in which columns that are not named are dropped."""
    given = {name: {"role": "drop"} for name in types}
    for name, column in columns.items():
        given[name] = {"role": column} if isinstance(column, str) else dict(column)
    whole = {"version": 1, "source": {"table": table}, "columns": given, **rest}
    whole.setdefault("privacy", {"k_anonymity": 4})
    return Policy.model_validate(whole)


def plain(value: Any) -> Any:
    """A published value as it is; a list in its order, whatever holds it."""
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def rows_of(release: Release, address: str | None = None) -> list[Any]:
    """The published rows in their order, from DuckDB, or from Postgres at `address`."""
    if address is None:
        return list(plain(release.relation().fetchall()))
    import psycopg

    schema, name = release.view.split(".", 1)
    with psycopg.connect(address) as connection:
        rows = connection.execute(f"select * from {quote(schema)}.{quote(name)}").fetchall()
    return list(plain(rows))


def same_release(one: Release, address: str, other: Release) -> None:
    """A release in Postgres has the rows, order, checks and measures of one in DuckDB."""
    assert rows_of(one, address) == rows_of(other)
    assert [c.name for c in one.verification.checks] == [c.name for c in other.verification.checks]
    for mine, theirs in zip(one.verification.checks, other.verification.checks, strict=True):
        assert close(mine.achieved, theirs.achieved), mine.name
    ours = {k: v for k, v in one.measures.items() if not k.startswith("seconds")}
    for name, value in ours.items():
        assert close(value, other.measures[name]), name


def close(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of a sum of doubles."""
    if isinstance(one, Mapping):
        return set(one) == set(other) and all(close(one[k], other[k]) for k in one)
    if isinstance(one, float) or isinstance(other, float):
        return bool(one == other) or bool(abs(one - other) <= 1e-9 * max(abs(one), abs(other)))
    return bool(one == other)


def on_duckdb(given: Policy, connection: Any, seed: int = 7) -> Release:
    return anonymizer.run(given, connection, seed=seed, engine="duckdb", limits=Limits(threads=1))


def on_postgres(given: Policy, address: str, seed: int = 7) -> Release:
    return anonymizer.run(given, address, seed=seed, engine="postgres")


def query(address: str, text: str, role: str | None = None) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        if role is not None:
            connection.execute(f'set role "{role}"')
        cursor = connection.execute(text)
        return cursor.fetchall() if cursor.description else []
