"""Random SUM queries against the oracle, predicate by predicate, on text and typed cells."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from anonymizer.compile import Table
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
