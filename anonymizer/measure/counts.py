"""The error of random COUNT queries on a release (Xiao and Tao 2006; Wang et al. 2018).

`SELECT count(*) WHERE pred(A1) AND …`, predicates as in `measure.queries`. A recipient expects, for
every row, the product over its cells of the part that satisfies the predicate; the error is the
relative difference of their sum from the true count. Queries with a true count of 0 are redrawn.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from anonymizer.compile import Table, lit, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import Layout
from anonymizer.contract.originals import Originals
from anonymizer.errors import SourceError
from anonymizer.measure.queries import BATCH, ROUNDS
from anonymizer.measure.staging import QueryTables, Staged, stage
from anonymizer.measure.steps import step


@dataclass(frozen=True, slots=True)
class CountError:
    """Relative errors of random counts, and the number of queries."""

    queries: int
    redrawn: int
    mean: float
    median: float
    within_ten_percent: float
    """Share of queries answered with an error of at most 0.1."""

    def as_dict(self) -> dict[str, float | int]:
        return asdict(self)


def count_error(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    *,
    queries: int = 200,
    predicates: int = 2,
    seed: int = 0,
    table: Callable[[str], Table] = work,
) -> CountError:
    """Relative error of random COUNT queries with up to `predicates` conditions each.

    The exact figures depend on hidden values and are only for owners of the source; `shown_errors`
    may be shown. Raises `SourceError` if no query over these columns selects anything.
    """
    tables = QueryTables(table)
    attributes = stage(run_sql, view, layout, originals, None, tables)
    draws = Draws(queries, predicates, seed)
    errors, redrawn = _drawn_errors(run_sql, tables, attributes, draws)
    if not errors:
        raise SourceError.at("queries", "no random query has an answer other than 0")
    close = sum(error <= 0.1 for error in errors) / len(errors)
    return CountError(len(errors), redrawn, fmean(errors), median(errors), close)


@dataclass(frozen=True, slots=True)
class ShownErrors:
    """Errors of random counts, as a reader of a report may see them."""

    queries: int
    """Number of queries requested."""
    least: int
    """Fewest rows (persons) that a query selects."""
    mean: str
    median: str


@dataclass(frozen=True, slots=True)
class Draws:
    """The random queries to be asked."""

    queries: int
    predicates: int
    """Largest number of conditions in a query."""
    seed: int
    least: int = 1
    """Fewest rows (persons) that a query selects; other queries are redrawn."""
    persons: bool = False


def shown_errors(
    run_sql: RunSql, tables: QueryTables, attributes: list[Staged], draws: Draws
) -> ShownErrors:
    """The errors of random queries, as steps.

    Raises `SourceError` if most of the random queries select fewer rows (persons) than allowed.
    """
    errors, _ = _drawn_errors(run_sql, tables, attributes, draws)
    if 2 * len(errors) < draws.queries:
        unit = "persons" if draws.persons else "rows"
        said = (
            f"most random counts are below {draws.least}: their error would tell of single {unit}"
        )
        raise SourceError.at("queries", said)
    mean, middle = step(fmean(errors)), step(median(errors))
    assert mean is not None
    assert middle is not None
    return ShownErrors(draws.queries, draws.least, mean, middle)


def _drawn_errors(
    run_sql: RunSql, tables: QueryTables, attributes: list[Staged], draws: Draws
) -> tuple[list[float], int]:
    """The errors of random queries, and the number of redrawn queries."""
    errors: list[float] = []
    first = redrawn = 0
    for _ in range(ROUNDS):
        missing = draws.queries - len(errors)
        if missing == 0:
            break
        _draw(run_sql, tables, attributes, draws, range(first, first + missing))
        found = _errors(run_sql, tables, attributes, draws)
        errors += found
        redrawn += missing - len(found)
        first += missing
    return errors, redrawn


def _draw(
    run_sql: RunSql, tables: QueryTables, attributes: list[Staged], draws: Draws, numbers: range
) -> None:
    shared: dict[str, Any] = {"draws": tables.draws, "seed": str(draws.seed)}
    drawing = {**shared, "attributes": attributes, "predicates": draws.predicates}
    drawing |= {"first": numbers.start, "last": numbers.stop}
    drawing["domains"] = tuple(a.domain for a in attributes)
    run_sql(render("measure/query_draws.sql.j2", drawing).text)
    for a in attributes:
        of_one = {**shared, **a.named, "ordered": a.ordered, "truth": a.truth, "shares": a.shares}
        run_sql(render("measure/query_truth.sql.j2", of_one).text)
        run_sql(render("measure/query_shares.sql.j2", of_one).text)


def _errors(
    run_sql: RunSql, tables: QueryTables, attributes: list[Staged], draws: Draws
) -> list[float]:
    patterns: dict[int, list[int]] = defaultdict(list)
    text = render("measure/query_patterns.sql.j2", {"draws": tables.draws}).text
    for draw, pattern in run_sql(text):
        patterns[pattern].append(draw)
    found: dict[int, float] = {}
    for pattern, members in sorted(patterns.items()):
        used = [a for a in attributes if pattern >> a.index & 1]
        for start in range(0, len(members), BATCH):
            some = [lit(draw) for draw in members[start : start + BATCH]]
            asked: dict[str, Any] = {"attributes": used, "some": some}
            true = {**asked, "source": tables.source, "truths": tuple(a.truth for a in used)}
            true["persons"] = draws.persons
            answers = {**asked, "rows": tables.rows, "shares": tuple(a.shares for a in used)}
            actual = run_sql(render("measure/query_actual.sql.j2", true).text)
            expected: dict[int, float] = dict(
                run_sql(render("measure/query_counts.sql.j2", answers).text)
            )
            for draw, count, units in actual:
                if units >= draws.least:
                    found[draw] = abs(expected.get(draw, 0.0) - count) / count
    return [found[draw] for draw in sorted(found)]
