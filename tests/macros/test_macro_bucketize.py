"""anon_bucketize against the naive algorithm, and what it must not change or tell."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import duckdb

from tests.oracle import bucketize

SECRET = "0123456789abcdef0123456789abcdef"


def buckets(sql: duckdb.DuckDBPyConnection, l: int, secret: str = SECRET) -> list[tuple[Any, ...]]:
    return sql.execute(f"from anon_bucketize('t', 's', {l}, '{secret}')").fetchall()


def test_the_buckets_hold_what_the_naive_algorithm_puts_there(
    sql: duckdb.DuckDBPyConnection,
) -> None:
    draw = random.Random(5)
    done = 0
    while done < 12:
        values = draw.choices([*range(draw.randint(2, 9)), None], k=draw.randint(2, 80))
        l = draw.randint(2, 4)
        known = [v for v in values if v is not None]
        if not bucketize.eligible(known, l):
            continue
        done += 1
        sql.execute("create or replace table t (id integer, q integer, s integer)")
        sql.executemany(
            "insert into t values (?, ?, ?)", [(i, i % 3, v) for i, v in enumerate(values)]
        )
        expected = bucketize.bucketize(
            list(enumerate(values)), bucketize.Unique(l), {i: i for i in range(len(values))}
        )
        found: dict[int, list[Any]] = {}
        owners: dict[int, list[int]] = {}
        for row, q, value, bucket in buckets(sql, l):
            assert q == row % 3
            found.setdefault(bucket, []).append(value)
            owners.setdefault(bucket, []).append(row)
        assert set(found) == set(range(1, len(expected) + 1))
        wanted = Counter(tuple(sorted(v for _, v in b if v is not None)) for b in expected)
        shown = Counter(tuple(sorted(v for v in b if v is not None)) for b in found.values())
        assert shown == wanted
        nulls = Counter(len(b) for b in expected), Counter(len(b) for b in found.values())
        assert sum(nulls[0].elements()) == sum(nulls[1].elements()) == len(values)
        # a bucket holds the values of its own rows, and l different ones
        for bucket, rows in owners.items():
            assert Counter(values[row] for row in rows) == Counter(found[bucket])
            known = [v for v in found[bucket] if v is not None]
            assert len(known) == len(set(known)) >= l


def test_equal_secret_equal_result_whatever_the_order(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute(
        "create or replace table t as select i as id, i % 7 as s from range(300) as numbers(i)"
    )
    first = buckets(sql, 3)
    sql.execute("create or replace table t as from t order by hash(id)")
    sql.execute("set threads = 1")
    assert buckets(sql, 3) == first
    sql.execute("reset threads")
    assert buckets(sql, 3, SECRET[::-1]) != first
    assert [row[0] for row in first] != sorted(row[0] for row in first)


def test_copies_of_a_row_do_not_stay_together(sql: duckdb.DuckDBPyConnection) -> None:
    sql.execute("create or replace table t as select i % 4 as s from range(400) as numbers(i)")
    found = buckets(sql, 4)
    assert len({row[-1] for row in found}) == 100
    neighbours = sum(a[0] == b[0] for a, b in pairwise(found))
    assert neighbours < 160  # a quarter of 399, were it by chance


def test_a_column_with_the_name_of_one_row_changes_nothing(sql: duckdb.DuckDBPyConnection) -> None:
    """Rows that are equal in it are told apart by the others, in whatever order they come."""
    made = "select i as id, i // 9 as r, i % 4 as s from range(40) t(i)"
    sql.execute(f"create or replace table t as {made} order by i")
    first = buckets(sql, 2)
    sql.execute(f"create or replace table t as {made} order by -i")
    assert buckets(sql, 2) == first
