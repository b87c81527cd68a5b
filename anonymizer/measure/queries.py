"""The error of random count and aggregate queries on a release."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count, islice
from math import ceil
from statistics import fmean, median
from types import MappingProxyType
from typing import Any

from anonymizer.compile import Sql, Table, lit, render, work
from anonymizer.contract.checks import RunSql
from anonymizer.contract.layout import Layout, Originals, PublishedColumn, quasi, type_sql
from anonymizer.contract.rounding import finest
from anonymizer.errors import Problem, SourceError

# Work tables of the query error: source and release as codes, created once for all queries.


WHOLE = frozenset(
    {f"{sign}{kind}" for sign in ("", "U") for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")}
    | {"HUGEINT", "UHUGEINT", "DATE"}
)
"""Types of whole numbers or days: the largest value below a bottom code is one less."""

_NO_NUMBERS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class QueryTables:
    """Physical names of the tables that all attributes share."""

    table: Callable[[str], Table]

    @property
    def source(self) -> Table:
        """The source as codes."""
        return self.table("query_source")

    @property
    def rows(self) -> Table:
        """The release with numbered cells."""
        return self.table("query_rows")

    @property
    def help(self) -> Table:
        """Sums of the smallest and largest values of every bucket."""
        return self.table("query_help")

    @property
    def draws(self) -> Table:
        """The queries of the current round."""
        return self.table("query_draws")


@dataclass(frozen=True, slots=True)
class QueryAttribute:
    """One attribute that queries may restrict, and its tables."""

    index: int
    column: PublishedColumn
    physical: str
    type: Sql
    table: Callable[[str], Table]

    @property
    def ordered(self) -> bool:
        return self.column.kind != "categorical"

    @property
    def parts(self) -> list[tuple[Sql, str]]:
        """The published columns of the generalized cell, each with its kind."""
        c = self.column
        named = {"name": c.name, "lo": c.lo, "hi": c.hi, "nullable": c.nullable}
        return [(Sql(part), name) for part, name in named.items() if name is not None]

    @property
    def domain(self) -> Table:
        """Values and their codes."""
        return self.table(f"query_domain_{self.index}")

    @property
    def members(self) -> Table:
        """The values covered by categorical cells and by buckets."""
        return self.table(f"query_members_{self.index}")

    @property
    def spans(self) -> Table | None:
        """The intervals of an ordered column."""
        return self.table(f"query_spans_{self.index}") if self.ordered else None

    @property
    def template_names(self) -> dict[str, Any]:
        """Its number and the tables of its values, under the names used in templates."""
        tables = {"domain": self.domain, "members": self.members, "spans": self.spans}
        return {"i": self.index, **tables}

    @property
    def truth(self) -> Table:
        """The codes that satisfy each predicate."""
        return self.table(f"query_truth_{self.index}")

    @property
    def shares(self) -> Table:
        """The part of each cell that satisfies each predicate."""
        return self.table(f"query_shares_{self.index}")


def stage(
    run_sql: RunSql,
    view: Table,
    layout: Layout,
    originals: Originals,
    summed: str | None,
    tables: QueryTables,
    carried: Sequence[str] = (),
    numbers: Mapping[str, int] = _NO_NUMBERS,
) -> list[QueryAttribute]:
    """Create the tables that do not depend on the queries; return the attributes they may use.

    Without `summed`, rows are counted, and there is no help table. `carried`: published columns
    that the rows keep. `numbers`: the index that a column already has in another release.
    """
    further = count(max(numbers.values(), default=0) + 1)
    attributes = [
        QueryAttribute(
            numbers[column.column] if column.column in numbers else next(further),
            column,
            originals.values[column.column],
            type_sql(column.sql_type),
            tables.table,
        )
        for column in quasi(layout)
    ]
    target = next((column for column in layout.columns if column.column == summed), None)
    common: dict[str, Any] = {
        "original": originals.table,
        "data": view,
        "rows": tables.rows,
        "source": tables.source,
        "help": tables.help,
        "attributes": attributes,
        "carried": carried,
        "domains": tuple(a.domain for a in attributes),
    }

    def make(name: str, **parameters: Any) -> None:
        run_sql(render(f"measure/{name}", {**common, **parameters}).text)

    for a in attributes:
        make("query_domain", **_of(a, originals))
    value = originals.values[summed] if summed is not None else None
    make("query_source", summed=value, person=originals.person)
    # without buckets, the rows of a class are as indistinguishable as those of a bucket
    bucket = target.bucket if target is not None else None
    name = target.name if target is not None else None
    make("query_rows", group=bucket or layout.class_id or layout.group_id, summed=name)
    if summed is not None:
        make("query_help")
    for a in attributes:
        make("query_members", **_of(a, originals))
        if a.ordered:
            make("query_spans", **_of(a, originals))
    return attributes


def _of(a: QueryAttribute, originals: Originals) -> dict[str, Any]:
    return {
        **a.template_names,
        "column": a.column,
        "type": a.type,
        "parts": a.parts,
        "physical": a.physical,
        "step": 1 if a.column.sql_type in WHOLE else 0,
        "nodes": originals.nodes.get(a.column.column) if a.column.hierarchy else None,
    }


# Errors that depend on hidden values, reported as one of a few steps.
#
# The error of a query is computed from exact figures of the source, and would disclose them if it
# were exact: an observer who knows the other ages of a class could derive the last one from the
# error of `sum(age)`. So only the step of an error is shown, and only if it is based on enough
# rows.


STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Upper bounds of the steps; anything above the last is reported as such."""
TINY = 1e-9
"""Tolerance for floating-point products."""
TIMES = 10
"""An error is shown from this many times the fewest units required for anything shown."""


def step(error: float | None) -> str | None:
    """The step of a relative error (0 is exact, 1 is off by the whole figure)."""
    if error is None:
        return None
    for end in STEPS:
        if error < end:
            return f"< {end:.0%}".replace("%", " %")
    return f"{STEPS[-1]:.0%} or more".replace("%", " %")


def about(count: int) -> int:
    """A count of the source rounded to tens and two significant digits; 1 to 9 become ten."""
    if count >= 100:
        return int(float(f"{count:.2g}"))
    return max(10, (count + 5) // 10 * 10) if count else 0


def about_share(share: float, units: int) -> float:
    """A share of `units` of the source, rounded up to a percent, or to the share of ten of them."""
    step = max(0.01, float(finest(units)))
    return min(round(ceil(share / step - TINY) * step, 2), 1.0)


def enough(floor: int) -> int:
    """The fewest units behind a figure whose error is shown; `floor` is the limit for the rest."""
    return TIMES * floor


# The error of random aggregate queries on a release (Li and He 2022, §4.2; Zhang et al. 2007).
#
# `SELECT sum(value) WHERE pred(A1) AND … AND pred(A4)` over random quasi-identifiers: a categorical
# predicate is an OR of m different random values (m uniform), an ordered one a random operator of =
# <> < <= > >= with a random value of the domain. Everything is drawn from hashes of the seed inside
# the database; queries whose true answer is 0 are redrawn and counted.


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
        run_sql(render("measure/query_draws", drawing).text)
        for a in attributes:
            of_one = {**shared, "i": a.index, "ordered": a.ordered, "domain": a.domain}
            of_one |= {"truth": a.truth, "members": a.members, "spans": a.spans}
            of_one["shares"] = a.shares
            run_sql(render("measure/query_truth", of_one).text)
            run_sql(render("measure/query_shares", of_one).text)
        found = list(_answers(run_sql, tables, attributes))
        answers += found
        redrawn += missing - len(found)
        first += missing
    return sorted(answers, key=lambda answer: answer.draw), redrawn


def _answers(
    run_sql: RunSql, tables: QueryTables, attributes: Sequence[QueryAttribute]
) -> Iterator[Answer]:
    """Every query of the current draws whose true answer is not 0."""
    patterns: dict[int, list[int]] = defaultdict(list)
    draws = _select(run_sql, "measure/query_patterns", {"draws": tables.draws})
    for draw, pattern in draws:
        patterns[pattern].append(draw)
    for pattern, members in patterns.items():
        used = [a for a in attributes if pattern >> a.index & 1]
        rest = iter(members)
        while batch := list(islice(rest, BATCH)):
            yield from _batch(run_sql, tables, used, batch)


def _batch(
    run_sql: RunSql, tables: QueryTables, used: Sequence[QueryAttribute], batch: Sequence[int]
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
        for draw, value, _ in _select(run_sql, "measure/query_actual", parameters)
        if value
    }
    if not actual:
        return
    parameters |= {"rows": tables.rows, "help": tables.help, "some": _literals(sorted(actual))}
    parameters["shares"] = tuple(a.shares for a in used)
    found = _select(run_sql, "measure/query_bounds", parameters)
    bounds = {draw: ends for draw, *ends in found}
    for draw, value in actual.items():
        # no row of the release can match: the recipient knows that the answer is 0
        low, high, least, most = bounds.get(draw, [0.0] * 4)
        yield Answer(draw, value, (low, high), (least, most))


def _literals(draws: Sequence[int]) -> list[Sql]:
    return [lit(draw) for draw in draws]


def _select(run_sql: RunSql, template: str, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    return run_sql(render(template, parameters).text)


# The error of random COUNT queries on a release (Xiao and Tao 2006; Wang et al. 2018).
#
# `SELECT count(*) WHERE pred(A1) AND …`, predicates as in `measure.queries`. A recipient expects,
# for every row, the product over its cells of the part that satisfies the predicate; the error is
# the relative difference of their sum from the true count. Queries with a true count of 0 are
# redrawn.


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

    The exact figures depend on hidden values and are for its owners only; `rounded_errors`
    may be published. Raises `SourceError` if no query over these columns selects anything.
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
class RoundedErrors:
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


def rounded_errors(
    run_sql: RunSql, tables: QueryTables, attributes: list[QueryAttribute], draws: Draws
) -> RoundedErrors:
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
    return RoundedErrors(draws.queries, draws.least, mean, middle)


def _drawn_errors(
    run_sql: RunSql, tables: QueryTables, attributes: list[QueryAttribute], draws: Draws
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
    run_sql: RunSql,
    tables: QueryTables,
    attributes: list[QueryAttribute],
    draws: Draws,
    numbers: range,
) -> None:
    shared: dict[str, Any] = {"draws": tables.draws, "seed": str(draws.seed)}
    drawing = {**shared, "attributes": attributes, "predicates": draws.predicates}
    drawing |= {"first": numbers.start, "last": numbers.stop}
    drawing["domains"] = tuple(a.domain for a in attributes)
    run_sql(render("measure/query_draws", drawing).text)
    for a in attributes:
        of_one = {
            **shared,
            **a.template_names,
            "ordered": a.ordered,
            "truth": a.truth,
            "shares": a.shares,
        }
        run_sql(render("measure/query_truth", of_one).text)
        run_sql(render("measure/query_shares", of_one).text)


def _errors(
    run_sql: RunSql, tables: QueryTables, attributes: list[QueryAttribute], draws: Draws
) -> list[float]:
    patterns: dict[int, list[int]] = defaultdict(list)
    text = render("measure/query_patterns", {"draws": tables.draws}).text
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
            actual = run_sql(render("measure/query_actual", true).text)
            expected: dict[int, float] = dict(run_sql(render("measure/query_counts", answers).text))
            for draw, rows, units in actual:
                if units >= draws.least:
                    found[draw] = abs(expected.get(draw, 0.0) - rows) / rows
    return [found[draw] for draw in sorted(found)]
