"""Random SUM queries against the oracle, predicate by predicate, on text and typed cells."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.errors import SourceError
from anonymizer.measure import query_error
from anonymizer.measure.queries import answer_queries
from tests.duckdb.test_verify_form import (
    KINDS,
    VIEW,
    domains,
    lgb_layout,
    random_release,
    store,
)
from tests.oracle.queries import (
    AnyOf,
    Compare,
    Predicate,
    expected_interval,
    sure_interval,
    true_sum,
)
from tests.selection import some

OPERATORS = ("=", "<>", "<", "<=", ">", ">=")


def in_main(name: str) -> Table:
    return Table(name, "main")


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def predicates(connection: duckdb.DuckDBPyConnection, draw: int) -> dict[str, Predicate]:
    """The predicates of a query, read from the work tables."""
    names = list(KINDS)
    found: dict[str, Predicate] = {}
    rows = connection.execute(
        "select attribute, operator, code from query_draws where draw = ?", [draw]
    ).fetchall()
    for attribute, operator, code in rows:
        domain, column = f"query_domain_{attribute}", names[attribute - 1]
        if KINDS[column] == "categorical":
            values = connection.execute(
                f"select value from {domain} join query_truth_{attribute} using (code) "
                "where draw = ?",
                [draw],
            ).fetchall()
            found[column] = AnyOf(frozenset(value for (value,) in values))
        else:
            row = connection.execute(
                f"select value from {domain} where code = ?", [code]
            ).fetchone()
            assert row is not None
            found[column] = Compare(OPERATORS[operator], row[0])
    return found


@some(1)
@pytest.mark.parametrize("typed", [False, True])
def test_intervals_are_those_of_the_oracle(
    connection: duckdb.DuckDBPyConnection, typed: bool
) -> None:
    draw, seen = random.Random(31), 0
    for seed in range(6):
        source, release = random_release(draw)
        originals = store(connection, source, release, typed)
        every = domains(source)
        answers, redrawn = answer_queries(
            lambda text: connection.execute(text).fetchall(),
            VIEW, lgb_layout(typed), originals, "pay",
            queries=12, predicates=draw.randint(1, 4), seed=seed, table=in_main,
        )  # fmt: skip
        assert len(answers) == 12
        assert answers[-1].draw <= 12 + redrawn - 1
        # the tables hold the predicates of the last round only
        last = {row[0] for row in connection.execute("select draw from query_draws").fetchall()}
        for answer in answers:
            if answer.draw not in last:
                continue
            query = predicates(connection, answer.draw)
            assert answer.actual == true_sum(source, "pay", query, every) != 0
            expected = expected_interval(release, "pay", query, every)
            sure = sure_interval(release, "pay", query, every)
            assert answer.expected == expected
            assert answer.sure == sure
            assert sure[0] <= answer.actual <= sure[1]
            width = (expected[1] - expected[0]) / abs(answer.actual)
            assert answer.expected_error == pytest.approx(float(width))
            seen += 1
    assert seen > 12


@pytest.mark.slow
def test_reproducible_by_seed(connection: duckdb.DuckDBPyConnection) -> None:
    source, release = random_release(random.Random(32))
    originals = store(connection, source, release)

    def error(seed: int, **options: Any) -> dict[str, float | int]:
        return query_error(
            lambda text: connection.execute(text).fetchall(),
            VIEW, lgb_layout(), originals, "pay",
            queries=20, predicates=2, seed=seed, table=in_main,
        ).as_dict()  # fmt: skip

    assert error(1) == error(1) != error(2)
    found = error(1)
    assert found["queries"] == 20
    assert found["redrawn"] >= 0
    assert 0 <= found["expected_mean"] <= found["sure_mean"]
    drawn = "select attribute, operator, code, many from query_draws order by all"
    before = connection.execute(drawn).fetchall()
    connection.execute("set threads = 1")
    error(1)
    assert connection.execute(drawn).fetchall() == before


@pytest.mark.slow
def test_a_source_without_answers(connection: duckdb.DuckDBPyConnection) -> None:
    source, release = random_release(random.Random(33))
    originals = store(connection, [{**row, "pay": 0} for row in source], release)
    with pytest.raises(SourceError, match="other than 0"):
        query_error(
            lambda text: connection.execute(text).fetchall(),
            VIEW, lgb_layout(), originals, "pay", queries=3, table=in_main,
        )  # fmt: skip
