"""Generalizing and masking single values."""

from __future__ import annotations

import hashlib
import hmac
import math
from datetime import date, timedelta
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

VALUES = [
    ("anon_interval(34, 10)", "[30, 39]"),
    ("anon_interval(-1, 10)", "[-10, -1]"),
    ("anon_interval(-10, 10)", "[-10, -1]"),
    ("anon_interval(0, 10)", "[0, 9]"),
    ("anon_interval(17, 10, origin := 5)", "[15, 24]"),
    ("anon_interval(4, 10, origin := 5)", "[-5, 4]"),
    ("anon_interval(-0.25, 0.5)", "[-0.50, 0.00)"),
    ("anon_interval(2.5::double, 2)", "[2.0, 4.0)"),
    ("anon_interval(9223372036854775795, 10)", "[9223372036854775790, 9223372036854775799]"),
    ("anon_interval(null::integer, 10)", None),
    ("anon_interval(9223372036854775807, 10)", "[9223372036854775800, 9223372036854775809]"),
    (
        "anon_interval((-9223372036854775807 - 1)::bigint, 10)",
        "[-9223372036854775810, -9223372036854775801]",
    ),
    ("anon_interval(127::tinyint, 100)", "[100, 199]"),
    ("anon_interval(5, 10::utinyint, origin := 7::utinyint)", "[-3, 6]"),
    (
        "anon_interval(18446744073709551615::ubigint, 10)",
        "[18446744073709551610, 18446744073709551619]",
    ),
    ("anon_interval('-infinity'::double, 10)", "-inf"),
    ("anon_interval('nan'::double, 10)", "nan"),
    ("anon_date_interval(date '1969-12-31', 'month')", "[1969-12-01, 1969-12-31]"),
    ("anon_date_interval(date '2024-02-29', 'quarter')", "[2024-01-01, 2024-03-31]"),
    ("anon_date_interval(date '2024-02-29', 'week')", "[2024-02-26, 2024-03-03]"),
    ("anon_date_interval(timestamp '1958-05-23 23:59:59', 'decade')", "[1950-01-01, 1959-12-31]"),
    ("anon_date_interval(date '1958-05-23', 'day')", "[1958-05-23, 1958-05-23]"),
    ("anon_date_interval(null::date, 'year')", None),
    ("anon_prefix('21345', 3)", "213**"),
    ("anon_prefix(21345, 3)", "213**"),
    ("anon_prefix('Zürich', 2, fill := '.')", "Zü...."),
    ("anon_prefix('ab', 3)", "ab"),
    ("anon_prefix('abc', 0)", "***"),
    ("anon_prefix(null, 2)", None),
    ("anon_top_code(90, 90)", ">= 90"),
    ("anon_top_code(89, 90)", "89"),
    ("anon_top_code(date '2020-05-01', date '2020-01-01')", ">= 2020-01-01"),
    ("anon_top_code(null::integer, 90)", None),
    ("anon_bottom_code(17, 18)", "< 18"),
    ("anon_bottom_code(18, 18)", "18"),
    ("anon_bottom_code(-5, 0)", "< 0"),
    ("anon_bottom_code(null::integer, 18)", None),
    ("anon_round(1234, 50)", 1250),
    ("anon_round(-1234, 50)", -1250),
    ("anon_round(25, 50)", 50),
    ("anon_round(9007199254740993, 1)", 9007199254740993),
    ("anon_round(9007199254740993, 2)", 9007199254740994),
    ("anon_round(-9007199254740993, 2)", -9007199254740994),
    ("anon_round(9223372036854775807, 1)", 9223372036854775807),
    ("anon_round(9223372036854775804, 10)", 9223372036854775800),
    ("anon_round(127::tinyint, 10)", 130),
    ("anon_round(2.5, 1)", 3),
    ("anon_round(-25, 50)", -50),
    ("anon_round(1.237, 0.05)::varchar", "1.25"),
    ("anon_round(null::integer, 5)", None),
    ("anon_zip3('02139')", "021"),
    ("anon_zip3(2139)", "021"),
    ("anon_zip3('02139-4307')", "021"),
    ("anon_zip3(21394307)", "021"),
    ("anon_zip3('03601')", "000"),
    ("anon_zip3('89301')", "000"),
    ("anon_zip3('89301', sparse := ['021'])", "893"),
    ("anon_zip3('SW1A 1AA')", "000"),
    ("anon_zip3(null::varchar)", None),
    ("anon_age89(89)", "89"),
    ("anon_age89(90)", "90+"),
    ("anon_age89(89.5)", "89.5"),
    ("anon_age89(null::integer)", None),
    ("anon_pseudonym(null, repeat('s', 32))", None),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[e for e, _ in VALUES])
def test_values(sql: duckdb.DuckDBPyConnection, expression: str, expected: Any) -> None:
    assert sql.execute(f"select {expression}").fetchall() == [(expected,)]


@given(st.integers(-(10**12), 10**12), st.integers(1, 10**6), st.integers(-1000, 1000))
@settings(max_examples=30)
def test_intervals_cover_their_number_and_tile_the_line(
    value: int, width: int, origin: int
) -> None:
    low = (value - origin) // width * width + origin
    assert loaded().execute(
        "select anon_interval(?::bigint, ?::bigint, origin := ?::bigint)", [value, width, origin]
    ).fetchall() == [(f"[{low}, {low + width - 1}]",)]


@given(st.dates(date(1, 1, 1), date(9000, 1, 1)), st.sampled_from(["month", "quarter", "year"]))
@settings(max_examples=30)
def test_periods_cover_their_day(day: date, period: str) -> None:
    ((text,),) = (
        loaded().execute(f"select anon_date_interval(?::date, '{period}')", [day]).fetchall()
    )
    low, high = (date.fromisoformat(part) for part in text.strip("[]").split(", "))
    assert low <= day <= high
    assert low.day == 1
    assert (high + timedelta(days=1)).day == 1
    assert math.ceil((high - low).days / 31) == {"month": 1, "quarter": 3, "year": 12}[period]


@pytest.mark.parametrize("secret", ["k" * 32, "Schlüssel " * 9, "x" * 64, "y" * 65])
def test_pseudonyms_are_hmac_sha256(sql: duckdb.DuckDBPyConnection, secret: str) -> None:
    for value in ("Ann", "", "Zoë 🙂", "42"):
        expected = hmac.new(secret.encode(), value.encode(), hashlib.sha256).hexdigest()
        found = sql.execute("select anon_pseudonym(?, ?)", [value, secret]).fetchall()
        assert found == [(expected,)]
    assert sql.execute(
        "select count(distinct anon_pseudonym(i, ?)) from range(1000) as numbers(i)", [secret]
    ).fetchall() == [(1000,)]


_LOADED: list[duckdb.DuckDBPyConnection] = []


@pytest.fixture(autouse=True, scope="module")
def _loaded(sql: duckdb.DuckDBPyConnection) -> None:
    """Generated tests cannot take a connection as an argument."""
    _LOADED[:] = [sql]


def loaded() -> duckdb.DuckDBPyConnection:
    return _LOADED[0]
