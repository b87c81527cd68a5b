"""Random queries, drawn from hashes of the seed inside the database, and answered in batches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from anonymizer.compile import Sql, lit, render
from anonymizer.contract.checks import RunSql
from anonymizer.measure.staging import QueryTables, Staged

A = TypeVar("A")
Answered = Callable[[list[Staged], list[Sql]], dict[int, A]]
"""Answers, by their draws, to the queries of a batch, which are over the same attributes."""

BATCH = 16
"""Queries per statement: bounds the rows that one statement joins."""

ROUNDS = 50
"""How often queries are drawn again before fewer have to do."""


def answers(
    run_sql: RunSql,
    tables: QueryTables,
    attributes: list[Staged],
    answered: Answered[A],
    *,
    queries: int,
    predicates: int,
    seed: int,
) -> tuple[list[A], int]:
    """The answers to `queries` random queries, and how many were drawn again for want of one."""
    found: dict[int, A] = {}
    first = redrawn = 0
    for _ in range(ROUNDS):
        missing = queries - len(found)
        if missing == 0:
            break
        draws = {"seed": str(seed), "first": first, "last": first + missing}
        _draw(run_sql, tables, attributes, {**draws, "predicates": predicates})
        new: dict[int, A] = {}
        for used, some in _batches(run_sql, tables, attributes):
            new |= answered(used, some)
        found |= new
        redrawn += missing - len(new)
        first += missing
    return [found[draw] for draw in sorted(found)], redrawn


def _draw(
    run_sql: RunSql, tables: QueryTables, attributes: list[Staged], drawn: dict[str, Any]
) -> None:
    domains = tuple(a.domain for a in attributes)
    drawing = {**drawn, "draws": tables.draws, "attributes": attributes, "domains": domains}
    run_sql(render("measure/query_draws.sql.j2", drawing).text)
    for a in attributes:
        of_one = {"draws": tables.draws, "seed": drawn["seed"], "i": a.index, "ordered": a.ordered}
        of_one |= {"domain": a.domain, "truth": a.truth, "members": a.members}
        of_one |= {"spans": a.spans, "shares": a.shares}
        run_sql(render("measure/query_truth.sql.j2", of_one).text)
        run_sql(render("measure/query_shares.sql.j2", of_one).text)


def _batches(
    run_sql: RunSql, tables: QueryTables, attributes: list[Staged]
) -> Iterator[tuple[list[Staged], list[Sql]]]:
    """The queries of the current draws, with the attributes that they have predicates on."""
    patterns: dict[int, list[Sql]] = defaultdict(list)
    text = render("measure/query_patterns.sql.j2", {"draws": tables.draws}).text
    for draw, pattern in run_sql(text):
        patterns[pattern].append(lit(draw))
    for pattern, members in sorted(patterns.items()):
        used = [a for a in attributes if pattern >> a.index & 1]
        for start in range(0, len(members), BATCH):
            yield used, members[start : start + BATCH]
