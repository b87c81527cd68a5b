"""What an observer learns about a person who has several rows."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

import anonymizer
from anonymizer.compile import Sql, Table, render
from anonymizer.contract.layout import PublishedColumn, type_sql
from anonymizer.review.attack import attack
from tests import runs
from tests.duckdb.test_persons_figures import PERSONS
from tests.runs import source


def test_the_chance_of_a_value_is_the_share_of_persons_who_have_it(tmp_path: Path) -> None:
    """All of a class have flu, and something else each: half of the pairs, and all persons."""
    types = {"id": "bigint", "patient": "varchar", "age": "integer", "ill": "varchar"}
    rows = [
        (i, f"p{i // 2}", 20 + i // 16, "Flu" if i % 2 == 0 else f"v{i // 2 % 8}")
        for i in range(64)
    ]
    database = source(tmp_path, types, rows)
    columns = PERSONS | {"ill": {"role": "sensitive", "protect": {"alpha": 0.5}}}
    policy = runs.policy(tmp_path, columns, 4, key="id", person="patient")
    anonymizer.run(policy, database)
    found = attack(policy, database, share=1)
    assert found.inference[0].most_confident == 1
    assert found.holds


def test_rows_in_buckets_are_as_likely_as_the_ways_to_fill_them(tmp_path: Path) -> None:
    """Of every way to deal the values of two buckets to their rows, those with the value count."""
    buckets = {1: ["x", "y", "z"], 2: ["x", "w", "w"]}
    # person and bucket of every row; the rows of one person have different tuples of cells
    rows = [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (4, 2)]
    every = list(product(permutations(buckets[1]), permutations(buckets[2])))
    of_bucket = {b: [row for row in rows if row[1] == b] for b in buckets}
    expected: Counter[str] = Counter()
    for one, two in every:
        has = {(row[0], v) for row, v in zip(of_bucket[1] + of_bucket[2], one + two, strict=True)}
        expected.update(value for _, value in has)
    column = PublishedColumn(column="ill", name="ill", role="sensitive", kind="categorical",
                             sql_type="VARCHAR")  # fmt: skip
    with duckdb.connect() as connection:
        connection.execute("create schema s")
        connection.execute("create table s.data (bucket bigint, ill varchar)")
        pairs = [(b, v) for b, values in buckets.items() for v in values]
        connection.executemany("insert into s.data values (?, ?)", pairs)
        connection.execute("create table s.rows (k1 bigint, e1 bigint, e2 bigint)")
        cells = [(bucket, bucket, person) for person, bucket in rows]
        connection.executemany("insert into s.rows values (?, ?, ?)", cells)
        connection.execute("create table s.combos as from (values (1, 1), (2, 2)) t(combo_id, k1)")
        connection.execute("create table s.candidates as select 7 tuple_id, combo_id from s.combos")
        parameters = {
            name: Table(name, "s")
            for name in ("candidates", "combos", "rows", "data", "weights", "beliefs")
        } | {
            "attributes": [SimpleNamespace(index=1)],
            "bucket": "bucket",
            "column": column,
            "type": type_sql("VARCHAR"),
            "carried": Sql("e1"),
            "person": Sql("e2"),
        }
        for template in ("weights", "beliefs_persons"):
            connection.execute(render(f"attack/{template}", parameters).text)
        found = dict(connection.execute("select value, chance from s.beliefs").fetchall())
    assert found == pytest.approx({v: n / len(every) / 4 for v, n in expected.items()})
