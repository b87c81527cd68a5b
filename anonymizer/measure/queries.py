"""The error of random aggregate queries on a release (Li and He 2022, §4.2; Zhang et al. 2007).

`SELECT sum(value) WHERE pred(A1) AND … AND pred(A4)` over random quasi-identifiers: a categorical
predicate is an OR of m different random values (m uniform), an ordered one a random operator of =
<> < <= > >= with a random value of the domain. Everything is drawn from hashes of the seed inside
the database; queries whose true answer is 0 are redrawn and counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from statistics import fmean, median
from typing import Any

from anonymizer.compile import Sql, Table, lit, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import Layout
from anonymizer.contract.originals import Originals
from anonymizer.errors import Problem, SourceError
from anonymizer.measure.staging import QueryTables, Staged, stage

BATCH = 16
"""Queries per statement; limits the rows that one statement joins."""
ROUNDS = 50
"""Largest number of redraws before fewer queries are accepted."""


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
    """Queries redrawn because their true answer was 0."""
    expected_mean: float
    """Mean relative width of the paper's interval, which is an estimate, not a bound."""
    expected_median: float
    sure_mean: float
    """Mean relative width of the interval that contains the answer in every possible world."""
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
    answers, redrawn = answer_queries(
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
    if not answers:
        raise SourceError(Problem("queries", "no random query has an answer other than 0"))
    expected = [answer.expected_error for answer in answers]
    sure = [answer.sure_error for answer in answers]
    return QueryError(
        len(answers), redrawn, fmean(expected), median(expected), fmean(sure), median(sure)
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
    """The answers to `queries` random queries, and the number of redrawn queries."""
    tables = QueryTables(table)
    attributes = stage(run_sql, view, layout, originals, summed, tables)
    answers: list[Answer] = []
    first = redrawn = 0
    for _ in range(ROUNDS):
        missing = queries - len(answers)
        if missing == 0:
            break
        shared = {"draws": tables.draws, "seed": str(seed)}
        drawing = {**shared, "attributes": attributes, "predicates": predicates}
        drawing |= {"first": first, "last": first + missing}
        drawing["domains"] = tuple(a.domain for a in attributes)
        run_sql(render("measure/query_draws.sql.j2", drawing).text)
        for a in attributes:
            of_one = {**shared, "i": a.index, "ordered": a.ordered, "domain": a.domain}
            of_one |= {"truth": a.truth, "members": a.members, "spans": a.spans}
            of_one["shares"] = a.shares
            run_sql(render("measure/query_truth.sql.j2", of_one).text)
            run_sql(render("measure/query_shares.sql.j2", of_one).text)
        found = list(_answers(run_sql, tables, attributes))
        answers += found
        redrawn += missing - len(found)
        first += missing
    return sorted(answers, key=lambda answer: answer.draw), redrawn


def _answers(
    run_sql: RunSql, tables: QueryTables, attributes: Sequence[Staged]
) -> Iterator[Answer]:
    """Every query of the current draws whose true answer is not 0."""
    patterns: dict[int, list[int]] = defaultdict(list)
    draws = _select(run_sql, "measure/query_patterns.sql.j2", {"draws": tables.draws})
    for draw, pattern in draws:
        patterns[pattern].append(draw)
    for pattern, members in patterns.items():
        used = [a for a in attributes if pattern >> a.index & 1]
        rest = iter(members)
        while batch := list(islice(rest, BATCH)):
            yield from _batch(run_sql, tables, used, batch)


def _batch(
    run_sql: RunSql, tables: QueryTables, used: Sequence[Staged], batch: Sequence[int]
) -> Iterator[Answer]:
    parameters = {
        "attributes": used,
        "source": tables.source,
        "truths": tuple(a.truth for a in used),
        "some": _literals(batch),
        "persons": False,
    }
    actual = {
        draw: value
        for draw, value, _ in _select(run_sql, "measure/query_actual.sql.j2", parameters)
        if value
    }
    if not actual:
        return
    parameters |= {"rows": tables.rows, "help": tables.help, "some": _literals(sorted(actual))}
    parameters["shares"] = tuple(a.shares for a in used)
    found = _select(run_sql, "measure/query_bounds.sql.j2", parameters)
    bounds = {draw: ends for draw, *ends in found}
    for draw, value in actual.items():
        # no row of the release can match: the recipient knows that the answer is 0
        low, high, least, most = bounds.get(draw, [0.0] * 4)
        yield Answer(draw, value, (low, high), (least, most))


def _literals(draws: Sequence[int]) -> list[Sql]:
    return [lit(draw) for draw in draws]


def _select(run_sql: RunSql, template: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    return run_sql(render(template, parameters).text)
