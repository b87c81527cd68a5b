"""The least loss of any partition of a few rows into classes of k or more: dynamic programming.

Every set of rows is a number, with a bit for each row. The class of the first row of a set is one
of its subsets with that row, and the rest is divided in the best way.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from tests.oracle.attributes import Attribute
from tests.oracle.partition import partition_loss


def least_loss(
    table: Sequence[Sequence[Any]], attributes: Sequence[Attribute], k: int
) -> Fraction | None:
    """NCP summed over rows and attributes; None if there are fewer than k rows."""

    def members(rows: int) -> list[int]:
        return [row for row in range(len(table)) if rows >> row & 1]

    @cache
    def least(rows: int) -> Fraction | None:
        if not rows:
            return Fraction(0)
        first = rows & -rows
        others = part = rows ^ first
        found: list[Fraction] = []
        while True:
            if part.bit_count() + 1 >= k:
                rest = least(others ^ part)
                if rest is not None:
                    chosen = frozenset(members(part | first))
                    found.append(rest + partition_loss(table, attributes, frozenset({chosen})))
            if not part:
                return min(found, default=None)
            part = (part - 1) & others

    return least((1 << len(table)) - 1)
