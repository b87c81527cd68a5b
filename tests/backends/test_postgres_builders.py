"""Every builder of hierarchies, and every type that it takes, gives on Postgres what it gives on
DuckDB; so do columns whose collations differ, and cells that change buckets."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import Any

import pytest

from anonymizer.engines.postgres.dialect import DIALECT
from tests.backends.tables import (
    embedded,
    load,
    on_duckdb,
    on_postgres,
    policy,
    query,
    same_release,
)
from tests.runs import fill
from tests.selection import some

pytestmark = pytest.mark.postgres

UTC = dt.UTC
TYPES = {
    "number": "INTEGER",
    "fine": "DECIMAL(18, 4)",
    "share": "DOUBLE",
    "seen": "TIMESTAMP",
    "moment": "TIMESTAMP WITH TIME ZONE",
    "born": "DATE",
    "member": "BOOLEAN",
    "ill": "VARCHAR",
}
ILL = {"role": "sensitive"}


def rows(count: int = 90) -> list[tuple[Any, ...]]:
    draw = random.Random(3)
    made = []
    for number in range(count):
        # before and after 1970, and so late that a double holds no microsecond
        at = dt.datetime(draw.choice((1901, 2020, 2790)), 5, 6) + dt.timedelta(
            microseconds=draw.randrange(10**13)
        )
        made.append(
            (
                draw.randrange(-20, 90),
                Decimal(draw.randrange(-900, 90000)).scaleb(-4),
                draw.randrange(100) / 8,
                at,
                at.replace(tzinfo=UTC),
                at.date(),
                number % 2 == 0,
                draw.choice(("flu", "cold", "gout")),
            )
        )
    return made


ROWS = rows()


@pytest.fixture(scope="module")
def typed(postgres: str) -> str:
    load(postgres, TYPES, ROWS, "typed")
    return postgres


def levels(column: str, **builder: Any) -> dict[str, Any]:
    hierarchy = {"role": "quasi", "hierarchy": builder}
    return {column: hierarchy, "member": "quasi", "ill": ILL}


TIMES = ("seen", "moment", "born")
CASES = [
    *((column, {"builder": "date"}) for column in TIMES),
    *((column, {"builder": "on_the_fly"}) for column in (*TIMES, "fine")),
    *((column, {"builder": "conventional", "min_width": 1000}) for column in TIMES),
    ("seen", {"builder": "cardinality", "min_width": 1000}),
    ("moment", {"builder": "intervals", "cuts": ["1901-01-01", "2020-05-07"]}),
    ("fine", {"builder": "intervals", "cuts": [0, 0.5, 3], "bottom": -0.05, "top": 7}),
    ("fine", {"builder": "cardinality", "min_width": 0.5}),
    ("fine", {"builder": "conventional", "min_width": 0.25}),
    ("share", {"builder": "conventional"}),
    *((column, {"builder": "divisor"}) for column in ("number", "fine")),
    ("number", {"builder": "divisor", "divisors": [5, 10, 50]}),
]


@some(4)
@pytest.mark.parametrize(
    ("column", "builder"),
    CASES,
    ids=lambda one: "-".join(map(str, one.values())) if isinstance(one, dict) else one,
)
def test_a_hierarchy_is_that_of_duckdb(typed: str, column: str, builder: dict[str, Any]) -> None:
    given = policy(levels(column, **builder), TYPES, "typed", suppression_limit=0.5)
    with embedded(TYPES, ROWS, "typed") as connection:
        same_release(on_postgres(given, typed), typed, on_duckdb(given, connection))


@pytest.mark.parametrize("column", ["number", "fine", "share", "born", "member", "ill"])
def test_a_hierarchy_in_a_table_is_that_of_duckdb(typed: str, column: str) -> None:
    leaves = sorted({row[list(TYPES).index(column)] for row in ROWS} - {None})
    lines = [(leaf, f"g{at // 4}", "*") for at, leaf in enumerate(leaves)]
    kinds = {"leaf": TYPES[column], "group": "VARCHAR", "all": "VARCHAR"}
    load(typed, kinds, lines, "codes")
    given = policy(
        {column: {"role": "quasi", "hierarchy": {"table": "codes"}}},
        TYPES,
        "typed",
        suppression_limit=0.5,
    )
    with embedded(TYPES, ROWS, "typed") as connection:
        fill(connection, kinds, lines, "codes")
        same_release(on_postgres(given, typed), typed, on_duckdb(given, connection))


def test_text_compares_by_code_point_wherever_a_value_becomes_text(postgres: str) -> None:
    (told,) = DIALECT.translate(
        "select cast(v as varchar) as t from (values ('b'), ('B'), ('a'), ('_')) as x(v)"
        " order by cast(v as varchar)"
    )
    assert [value for (value,) in query(postgres, told)] == ["B", "_", "a", "b"]
    (told,) = DIALECT.translate(
        "select cast(v as varchar) between cast('B' as varchar) and cast('Z' as varchar) as inside,"
        " strpos(lower(cast(v as varchar)), lower(cast('É' as varchar))) as at"
        " from (values ('a'), ('Bé')) as x(v) order by 1"
    )
    assert query(postgres, told) == [(False, 0), (True, 2)]


def test_columns_of_different_collations(postgres: str) -> None:
    names = ["Émile Zola", "ÉMILE ZOLA"]
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("drop table if exists collated cascade")
        connection.execute(
            'create table collated (age integer, who text collate "de-x-icu",'
            ' town text collate "C", note text collate "tr-x-icu")'
        )
        for number in range(40):
            values = (
                number % 8,
                f"{names[number % 2]} {number}",
                "ab"[number % 2],
                "AÄ_z"[number % 4],
            )
            connection.execute("insert into collated values (%s, %s, %s, %s)", values)
    columns = {"age": "quasi", "who": "token", "town": {"role": "sensitive"}, "note": "quasi"}
    types = {"age": "INTEGER", "who": "VARCHAR", "town": "VARCHAR", "note": "VARCHAR"}
    given = policy(columns, types, "collated")
    with embedded(types, query(postgres, "select * from collated"), "collated") as connection:
        same_release(on_postgres(given, postgres), postgres, on_duckdb(given, connection))
