"""Columns of a draft that follow from others: published `like` them, they tell no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from anonymizer.compile import ident, join, sql
from anonymizer.review.assess.classes import AssessedTable
from anonymizer.review.draft.guess import Guess, Profile

MOST = 12
"""Quasi-identifiers that are compared with each other, at most: the work grows with the pairs."""
ROWS_A_VALUE = 10
"""Rows that a value has on average, so that another column follows from it by no chance."""


def followers(
    opened: AssessedTable, found: Sequence[Profile], guesses: Mapping[str, Guess]
) -> dict[str, str]:
    """Quasi-identifiers of which every value follows from the value of another one, with that one.

    A column that others follow from follows from none itself. One pass over the table.
    """
    listed = [p for p in found if guesses[p.column].role == "quasi" and (p.different or 0) > 1]
    counts = {p.column: p.different or 0 for p in listed}
    pairs = [
        (one.column, other.column)
        for other, one in permutations(listed, 2)
        if counts[one.column] <= counts[other.column] <= other.known / ROWS_A_VALUE
    ]
    if not pairs or len(listed) > MOST:
        return {}
    values = {
        name: sql("coalesce({v}, '')", v=sql("cast({c} as varchar)", c=ident(name)))
        for name in counts
    }
    tests = [
        sql("count(distinct {o} || chr(1) || {v}) = count(distinct {o})", o=values[o], v=values[v])
        for v, o in pairs
    ]
    text = sql("select {t} from {r}", t=join(tests), r=opened.relation.sql).text
    (row,) = opened.engine.raw(text, "TABLE")
    follows = [pair for pair, holds in zip(pairs, row, strict=True) if holds]
    chosen: dict[str, str] = {}
    # from the column with fewest values, and of two that follow from each other the first
    for name, other in sorted(follows, key=lambda pair: counts[pair[1]]):
        if name not in chosen and other not in chosen and name not in chosen.values():
            chosen[name] = other
    return chosen
