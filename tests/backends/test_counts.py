"""The same table of counts on Postgres, on Spark and on DuckDB."""

from __future__ import annotations

import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.errors import GuaranteeError
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


def on_postgres(postgres: str) -> str:
    """The name of a table with the rows."""
    import psycopg

    name = f"t_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres, autocommit=True) as con:
        con.execute(f"create table {name} ({COLUMNS})")
        with con.cursor() as cursor:
            cursor.executemany(f"insert into {name} values (%s, %s, %s, %s, %s)", rows())
    return name


def on_spark(spark: Any) -> str:
    """The name of a view of the rows."""
    name = f"t_{uuid.uuid4().hex[:8]}"
    columns = COLUMNS.replace("varchar", "string").replace(" precision", "")
    spark.createDataFrame(rows(), columns).createOrReplaceTempView(name)
    return name


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


SUPPRESS: dict[str, Any] = {"method": "suppress"}
METHODS: tuple[dict[str, Any], ...] = (
    OPTIONS,
    {"rest": {"limit": 1.0, "list_hidden": True}},
    {"method": "round"},
    SUPPRESS,
    {
        **SUPPRESS,
        "aggregate": {
            "by": {"r": {}, "c": {}},
            "measures": {"patients": {"count": "persons"}, "cost": {"sum": "cost"}},
        },
        "protect": {"minimum": 5, "dominance": {"p": 150}},
    },
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
    name = on_postgres(postgres)
    made = given(name, **options)
    release = verbs.run(made, postgres, seed=1)
    wanted = published(tmp_path, rows(), COLUMNS, BY, person="person", **options)
    assert _sorted(release.df()) == _sorted(wanted.df())
    assert verify(made, postgres).passed
    plan = verbs.plan(made, postgres)
    assert "not to be handed over" in plan.title


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

    name = on_postgres(postgres)
    ledgers = [tmp_path / "here.duckdb", tmp_path / "there.duckdb"]
    for ledger in ledgers:
        ledger.with_name(f"{ledger.name}.key").write_text("5" * 64 + "\n")
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
    name = on_spark(spark)
    made = given(name, **options)
    release = verbs.run(made, spark, seed=1)
    wanted = published(tmp_path, rows(), COLUMNS, BY, person="person", **options)
    assert _sorted(release.df()) == _sorted(wanted.df())
    assert verify(made, spark).passed


DOMAINS: dict[str, Any] = {
    "r": {"domain": ["r1", "r2", "r3", "r4", "r5", None], **BY["r"]},
    "c": {"domain": [f"c{i}" for i in range(1, 6)]},
    "age": BY["age"],
}


def zeros(name: str, **options: Any) -> Any:
    """A policy whose groups come from a domain."""
    measures = {"patients": {"count": "persons"}}
    aggregate = {"by": DOMAINS, "measures": measures, "zeros": "list"}
    return given(name, aggregate=aggregate, method="round", **options)


def noisy(name: str, folder: Path, epsilon: float = 1) -> Any:
    """A policy of counts with noise, with a ledger of one release."""
    aggregate = {"by": DOMAINS, "measures": {"patients": {"count": "persons"}}}
    options = {"dp": {"epsilon": epsilon}, "ledger": str(folder / "l.duckdb"), "protect": {}}
    return given(name, aggregate=aggregate, method="dp", **options)


def _wanted(folder: Path) -> Any:
    """The rows of `zeros` on DuckDB."""
    aggregate = {"zeros": "list"}
    return published(
        folder, rows(), COLUMNS, DOMAINS, person="person", method="round", aggregate=aggregate
    ).df()


def _near(found: Any, wanted: Any) -> None:
    """Noise changes the figures, and not which groups there are."""
    a, b = ([row[:-2] for row in _sorted(frame)] for frame in (found, wanted))
    assert sorted(a) == sorted(b)
    assert list(found["patients"]) != list(wanted["patients"])


@pytest.mark.postgres
def test_domains_on_postgres(postgres: str, tmp_path: Path) -> None:
    name = on_postgres(postgres)
    wanted = _wanted(tmp_path)
    assert _sorted(verbs.run(zeros(name), postgres, seed=1).df()) == _sorted(wanted)
    made = noisy(name, tmp_path)
    _near(verbs.run(made, postgres).df(), wanted)
    assert verify(made, postgres).passed
    with pytest.raises(GuaranteeError, match="0 is left"):
        verbs.run(made, postgres)


@pytest.mark.spark
def test_domains_on_spark(spark: Any, tmp_path: Path) -> None:
    name = on_spark(spark)
    wanted = _wanted(tmp_path)
    assert _sorted(verbs.run(zeros(name), spark, seed=1).df()) == _sorted(wanted)
    made = noisy(name, tmp_path)
    _near(verbs.run(made, spark).df(), wanted)
    assert verify(made, spark).passed
    with pytest.raises(GuaranteeError, match="0 is left"):
        verbs.run(made, spark)
