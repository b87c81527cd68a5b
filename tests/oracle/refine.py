"""What could still be saved by swaps, naively: every pair of units of every pair of classes.

Two units of two classes change places, or one of them moves, if both classes keep k rows and l
values. gain = loss before - loss after, over both classes, all attributes, in whole cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.oracle.attributes import Attribute


def lost(
    units: set[int],
    tuples: Mapping[int, Sequence[Any]],
    sizes: Mapping[int, int],
    attributes: Sequence[Attribute],
) -> Fraction:
    """The loss of all rows of a class."""
    cells = (
        attribute.loss([tuples[unit][j] for unit in units])
        for j, attribute in enumerate(attributes)
    )
    return sum(sizes[unit] for unit in units) * sum(cells, Fraction())


def swaps(
    classes: Mapping[int, set[int]],
    loss: Callable[[set[int]], Fraction],
    holds: Callable[[set[int]], bool],
) -> Iterator[Fraction]:
    """What every swap and every move saves that leaves two classes which hold."""
    for one, other in combinations(classes.values(), 2):
        before = loss(one) + loss(other)
        for r in (None, *one):
            for q in (None, *other):
                mine = (one - {r}) | (set() if q is None else {q})
                theirs = (other - {q}) | (set() if r is None else {r})
                if mine and theirs and holds(mine) and holds(theirs):
                    yield before - loss(mine) - loss(theirs)
