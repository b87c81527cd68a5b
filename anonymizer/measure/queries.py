"""The error of random aggregate queries on a release (Li and He 2022, §4.2; Zhang et al. 2007).

`SELECT sum(value) WHERE pred(A1) AND … AND pred(A4)` over random quasi-identifiers: a categorical
predicate is an OR of m different random values (m uniform), an ordered one a random operator of
= <> < <= > >= with a random value of the domain. Everything is drawn from hashes of the seed inside
the database; queries whose true answer is 0 are drawn again and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from anonymizer.compile import Sql, Table, lit, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import Layout
from anonymizer.contract.originals import Originals
from anonymizer.errors import Problem, SourceError
from anonymizer.measure.draws import answers
from anonymizer.measure.staging import QueryTables, Staged, stage

BATCH = 16
"""Queries per statement: bounds the rows that one statement joins."""
ROUNDS = 50
"""How often queries are drawn again before fewer have to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One query: its true answer and the two intervals that the release allows for it."""

    draw: int
    actual: float
    expected: tuple[float, float]
    sure: tuple[float, float]

    @property
    def expected_error(self) -> float:
        """Width of the expected interval over the size of the true answer."""
        return (self.expected[1] - self.expected[0]) / abs(self.actual)

    @property
    def sure_error(self) -> float:
        """Width of the sure interval over the size of the true answer."""
        return (self.sure[1] - self.sure[0]) / abs(self.actual)


@dataclass(frozen=True, slots=True)
class QueryError:
    """Relative errors over all queries."""

    queries: int
    redrawn: int
    """Queries drawn again because their true answer was 0."""
    expected_mean: float
    """Mean relative width of the paper's interval, which is an estimate and no bound."""
    expected_median: float
    sure_mean: float
    """Mean relative width of the interval that holds the answer in every possible world."""
    sure_median: float

    def as_dict(self) -> dict[str, float | int]:
        return asdict(self)


def query_error(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    summed: str,
    *,
    queries: int = 1000,
    predicates: int = 4,
    seed: int = 0,
    table: Callable[[str], Table] = work,
) -> QueryError:
    """Mean relative error of random SUM queries over the source column `summed`.

    `table` names the work tables, which the caller drops. Raises `SourceError` if no query over
    these columns selects anything.
    """
    made, redrawn = answer_queries(
        run_sql,
        view,
        layout,
        originals,
        summed,
        queries=queries,
        predicates=predicates,
        seed=seed,
        table=table,
    )
    if not made:
        raise SourceError(Problem("queries", "no random query has an answer other than 0"))
    expected = [answer.expected_error for answer in made]
    sure = [answer.sure_error for answer in made]
    return QueryError(
        len(made), redrawn, fmean(expected), median(expected), fmean(sure), median(sure)
    )


def answer_queries(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    summed: str,
    *,
    queries: int,
    predicates: int,
    seed: int,
    table: Callable[[str], Table] = work,
) -> tuple[list[Answer], int]:
    """The answers to `queries` random queries, and how many were drawn again."""
    tables = QueryTables(table)
    attributes = stage(run_sql, view, layout, originals, summed, tables)

    def answered(used: list[Staged], some: list[Sql]) -> dict[int, Answer]:
        return {answer.draw: answer for answer in _batch(run_sql, tables, used, some)}

    return answers(
        run_sql, tables, attributes, answered, queries=queries, predicates=predicates, seed=seed
    )


def _batch(
    run_sql: RunSql, tables: QueryTables, used: list[Staged], some: list[Sql]
) -> Iterator[Answer]:
    """The answers of those queries whose true answer is not 0."""
    parameters: dict[str, Any] = {
        "attributes": used,
        "source": tables.source,
        "truths": tuple(a.truth for a in used),
        "some": some,
        "persons": False,
    }
    true = run_sql(render("measure/query_actual.sql.j2", parameters).text)
    actual = {draw: value for draw, value, _ in true if value}
    if not actual:
        return
    parameters |= {"rows": tables.rows, "help": tables.help, "some": [*map(lit, sorted(actual))]}
    parameters["shares"] = tuple(a.shares for a in used)
    found = run_sql(render("measure/query_bounds.sql.j2", parameters).text)
    bounds = {draw: ends for draw, *ends in found}
    for draw, value in actual.items():
        # no row of the release can match: the recipient is sure of 0
        low, high, least, most = bounds.get(draw, [0.0] * 4)
        yield Answer(draw, value, (low, high), (least, most))
