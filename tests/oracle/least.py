"""The least loss of all groupings of a small table into classes of k rows, by trying them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

from tests.oracle.attributes import Attribute


def least_loss(
    columns: Sequence[Sequence[Any]], attributes: Sequence[Attribute], k: int
) -> Fraction:
    """Mean loss of a cell; `columns[j][row]` is a value of `attributes[j]`."""
    count = len(columns[0])

    @cache
    def lost(rows: tuple[int, ...]) -> Fraction:
        pairs = zip(columns, attributes, strict=True)
        return len(rows) * sum((a.loss(column[r] for r in rows) for column, a in pairs), Fraction())

    best = min(sum(map(lost, classes), Fraction()) for classes in partitions(range(count), k))
    return best / (count * len(attributes))


def partitions(rows: Sequence[int], k: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to part the rows into classes of at least k."""
    if not rows:
        yield ()
        return
    first, others = rows[0], rows[1:]
    for size in range(k - 1, len(others) + 1):
        for chosen in combinations(others, size):
            rest = [row for row in others if row not in chosen]
            for classes in partitions(rest, k):
                yield ((first, *chosen), *classes)
