"""Every privacy model against the naive oracle, on hundreds of tables with NULLs and ties."""

from __future__ import annotations

import math
from dataclasses import replace

import duckdb
import pytest

from anonymizer.compile import Sql, Table
from anonymizer.guarantees.closeness import TEqual, THierarchical, TOrdered
from anonymizer.guarantees.diversity import DistinctL, EntropyL, RecursiveCL
from anonymizer.guarantees.frequency import (
    Alpha,
    AlphaOfK,
    BetaLikeness,
    DeltaDisclosure,
)
from anonymizer.guarantees.rule import Rule
from tests.judging import judge_sql

SPARSE, DENSE = Table("sparse"), Table("dense")


def test_no_rows_at_all() -> None:
    empty = Sql(
        "select 1 as value, 1::bigint as n, 1::bigint as q, 1::bigint as q_known,"
        " 1::bigint as q_size, 1 as m, 1 as a1, 1 as a2 where false"
    )
    rules: list[Rule] = [
        DistinctL("v", 2), EntropyL("v", 2), RecursiveCL("v", 1, 2), Alpha("v", 0.5),
        BetaLikeness("v", 1), DeltaDisclosure("v", 1),
    ]  # fmt: skip
    with duckdb.connect() as connection:
        for rule in rules:
            (row,) = connection.execute(judge_sql(empty, [], [rule]).text).fetchall()
            assert row[0] is False
        for rule in [TEqual("v", 0.1), TOrdered("v", 0.1), THierarchical("v", 0.1, 2)]:
            (row,) = connection.execute(judge_sql(empty, [], [rule]).text).fetchall()
            assert row == (True, 0.0)


BIG = 10**8


@pytest.mark.parametrize("off", [0, 1])
def test_counts_of_a_hundred_million_are_decided_to_the_unit(off: int) -> None:
    """Two values, half and half of the reference; the class is off by a row, or exact."""
    half = BIG // 2
    rows = [(1, half + off, half), (2, half - off, half)]
    listed = ", ".join(str((v, n, q, BIG, BIG, 2, 0, "x", "*")) for v, n, q in rows)
    histogram = Sql(
        f"select value, n::bigint as n, q::bigint as q, q_known::bigint as q_known,"
        " q_size::bigint as q_size, m, a1, a2"
        f" from (values {listed}) as h (value, n, q, q_known, q_size, m, z, a1, a2)"
    )
    edge = [
        Alpha("v", 0.5), TEqual("v", 0.0), TOrdered("v", 0.0), THierarchical("v", 0.0, 2),
        BetaLikeness("v", 1e-9),
    ]  # fmt: skip
    with duckdb.connect() as connection:
        for rule in edge:
            (row,) = connection.execute(judge_sql(histogram, [], [rule]).text).fetchall()
            assert row[0] is (off == 0), rule
        wide: list[Rule] = [
            RecursiveCL("v", 1.000000001, 2), RecursiveCL("v", 1e300, 2), Alpha("v", 0.500000011),
            BetaLikeness("v", 1e300), DeltaDisclosure("v", 700), TOrdered("v", 0.999999999999),
            EntropyL("v", 1.999999999999),
        ]  # fmt: skip
        for rule in wide:
            (row,) = connection.execute(judge_sql(histogram, [], [rule]).text).fetchall()
            assert row[0] is (off == 0 or getattr(rule, "c", None) != 1.000000001), rule
            assert math.isfinite(row[1])


def test_many_values_and_rows_do_not_overflow() -> None:
    """A million values, 10^8 rows: one class of the rarest against the rest."""
    values = 1_000_000
    with duckdb.connect() as connection:
        connection.execute(
            "create table h as select (i + 1)::integer as value, 100::bigint as q,"
            f" {BIG}::bigint as q_known, {BIG}::bigint as q_size, {values} as m,"
            f" case when i < 500000 then 100 else 0 end::bigint as n, '*' as a1"
            f" from range({values}) as t (i)"
        )
        for rule, distance in (
            (TEqual("v", 0.5), 0.5),
            (TOrdered("v", 0.25000025), 0.25000025),
            (THierarchical("v", 0.5, 1), 0.5),
        ):
            query = judge_sql(Table("h"), [], [rule]).text
            (row,) = connection.execute(query).fetchall()
            assert row[1] == pytest.approx(distance, rel=1e-9)
            assert row[0] is (row[1] <= rule.t)


@pytest.mark.parametrize(
    "rule",
    [
        Alpha("v", 1.0), AlphaOfK("v", 1.0), BetaLikeness("v", 1000), DeltaDisclosure("v", 27),
        DistinctL("v", 1), EntropyL("v", 1.0), RecursiveCL("v", 1000, 1),
    ],
    ids=lambda rule: rule.name,
)  # fmt: skip
def test_a_class_without_any_value_holds_no_rule(rule: Rule) -> None:
    """However weak the parameter: there is nothing that could be diverse."""
    nulls = Sql(
        "select 0 as value, 5::bigint as n, 5::bigint as q, 20::bigint as q_known,"
        " 25::bigint as q_size, 2 as m"
    )
    with duckdb.connect() as connection:
        ((holds, _),) = connection.execute(judge_sql(nulls, [], [rule]).text).fetchall()
        assert holds is False
        counted = replace(rule, null_as_value=True)
        ((holds, _),) = connection.execute(judge_sql(nulls, [], [counted]).text).fetchall()
        assert holds is (rule.name != "delta_disclosure")  # which wants every value in every class
