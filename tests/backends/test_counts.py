"""The same table of counts on Postgres, on Spark and on DuckDB."""

from __future__ import annotations

import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import GuaranteeError, PolicyError
from anonymizer.policy import Policy
from anonymizer.run import verbs
from anonymizer.run.verify import verify
from tests.aggregate.releases import WORKED, grid, published

COLUMNS = "r varchar, c varchar, age integer, person varchar, cost double precision"
BY: dict[str, Any] = {
    "r": {"hierarchy": {"builder": "prefix", "lengths": [1]}},
    "c": {},
    "age": {"bands": [[0, 18, 65], [0, 65]]},
}
OPTIONS: dict[str, Any] = {"rest": {"limit": 1.0}}


def rows() -> list[tuple[Any, ...]]:
    """Persons with some rows, and groups of NULL."""
    found = [
        (
            None if i % 29 == 0 else r,
            c,
            (i * 7) % 90 if i % 5 else 30,
            f"p{i}",
            None if i % 17 == 0 else 900.5 if i % 41 == 0 else i % 13 + 0.1,
        )
        for i, (r, c) in enumerate(grid(WORKED))
    ]
    return [*found, *found[:20]]


def given(name: str, **options: Any) -> Any:
    return Policy.model_validate(
        {
            "version": 1,
            "source": {"table": name},
            "person": "person",
            "aggregate": {"by": BY, "measures": {"patients": {"count": "persons"}}},
            "protect": {"minimum": 5},
            "publish": {"name": f"{name}_counts"},
            **options,
        }
    )


def _sorted(frame: Any) -> list[tuple[Any, ...]]:
    text = frame.astype(object).where(frame.notna(), None)
    return sorted((tuple(map(_text, row)) for row in text.itertuples(index=False)), key=str)


def _text(value: Any) -> str:
    return f"{float(value):.9g}" if isinstance(value, Decimal | float) else str(value)


METHODS: tuple[dict[str, Any], ...] = (
    OPTIONS,
    {"rest": {"limit": 1.0, "list_hidden": True}},
    {"method": "round"},
    {
        **OPTIONS,
        "aggregate": {
            "by": {"r": {}, "c": {}},
            "measures": {
                "patients": {"count": "persons"},
                "visits": {"count": "rows"},
                "cost": {"sum": "cost", "nonnegative": True},
                "mean": {"ratio": ["cost", "visits"]},
            },
        },
        "protect": {"minimum": 5, "dominance": {"p": 150}, "groups": {"c": 0.6}},
    },
)


@pytest.mark.postgres
@pytest.mark.parametrize("options", METHODS)
def test_postgres(postgres: str, tmp_path: Path, options: dict[str, Any]) -> None:
    import psycopg

    name = f"t_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres, autocommit=True) as con:
        con.execute(f"create table {name} ({COLUMNS})")
        with con.cursor() as cursor:
            cursor.executemany(f"insert into {name} values (%s, %s, %s, %s, %s)", rows())
    made = given(name, **options)
    release = verbs.run(made, postgres, seed=1)
    wanted = published(tmp_path, rows(), COLUMNS, BY, person="person", **options)
    assert _sorted(release.df()) == _sorted(wanted.df())
    assert verify(made, postgres).passed
    plan = verbs.plan(made, postgres)
    assert "not to be handed over" in plan.title
    with pytest.raises(PolicyError, match=r"method: suppress is available on DuckDB only"):
        verbs.run(given(name, method="suppress"), postgres)


def remembered(ledger: Path) -> list[Any]:
    """Persons and cells, without the name of the release's table."""
    with duckdb.connect(str(ledger), read_only=True) as con:
        texts = (
            "select person, atom from anonymizer_ledger.counted_persons order by all",
            "select atom, cell, kind from anonymizer_ledger.counted_cells order by all",
        )
        return [con.execute(text).fetchall() for text in texts]


@pytest.mark.postgres
@pytest.mark.parametrize("options", METHODS[:2])
def test_postgres_ledger(postgres: str, tmp_path: Path, options: dict[str, Any]) -> None:
    """It remembers what it does on DuckDB, and refuses the same."""
    import psycopg

    name = f"t_{uuid.uuid4().hex[:8]}"
    ledgers = [tmp_path / "here.duckdb", tmp_path / "there.duckdb"]
    for ledger in ledgers:
        ledger.with_name(f"{ledger.name}.key").write_text("5" * 64 + "\n")
    with psycopg.connect(postgres, autocommit=True) as con:
        con.execute(f"create table {name} ({COLUMNS})")
        with con.cursor() as cursor:
            cursor.executemany(f"insert into {name} values (%s, %s, %s, %s, %s)", rows())
    made = given(name, **options, engine="postgres", ledger=str(ledgers[0]))
    verbs.run(made, postgres)
    published(tmp_path, rows(), COLUMNS, BY, person="person", **options, ledger=str(ledgers[1]))
    here, there = map(remembered, ledgers)
    assert here == there
    assert all(here)
    verbs.run(made, postgres)
    with psycopg.connect(postgres, autocommit=True) as con:
        con.execute(f"delete from {name} where person = 'p1'")
    with pytest.raises(GuaranteeError, match="differ from there by fewer than 5 persons"):
        verbs.run(made, postgres)


@pytest.mark.spark
@pytest.mark.parametrize("options", METHODS)
def test_spark(spark: Any, tmp_path: Path, options: dict[str, Any]) -> None:
    name = f"t_{uuid.uuid4().hex[:8]}"
    frame = spark.createDataFrame(
        rows(), COLUMNS.replace("varchar", "string").replace(" precision", "")
    )
    frame.createOrReplaceTempView(name)
    made = given(name, **options)
    release = verbs.run(made, spark, seed=1)
    wanted = published(tmp_path, rows(), COLUMNS, BY, person="person", **options)
    assert _sorted(release.df()) == _sorted(wanted.df())
    assert verify(made, spark).passed
