"""The tree of coarse cuts: as rows, as an expression for the leaf of a tuple, and as nodes.

A node has the number of its first leaf and a level; of the two halves of a cut the left one keeps
the number, and the right one starts after the sampled tuples of the left. Leaves are numbered from
left to right, so that a node is a range of leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anonymizer.compile import Sql, lit
from anonymizer.source.profile import Attribute
from anonymizer.steps import Row

FIRST = 1
LAST = (1 << 62) - 1
"""Beyond every leaf."""
DEEPEST = 200
"""Levels of cuts that are used: an expression may not be nested without end."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One row of the tree."""

    attribute: int
    code: int
    single: bool
    """Whether one code is cut off from all others, and not the lower codes from the higher."""
    right: int
    """Number of the right half."""


def cuts_of(rows: Sequence[Row]) -> dict[tuple[int, int], Cut]:
    """The cuts by level and node. `rows`: level, node, attribute, code, single, units left."""
    return {
        (level, node): Cut(attribute, code, single, node + left)
        for level, node, attribute, code, single, left in rows
        if level <= DEEPEST
    }


def leaf_sql(attributes: Sequence[Attribute], rows: Sequence[Row]) -> Sql:
    """The number of the leaf of a tuple of codes."""
    cuts = cuts_of(rows)
    codes = {a.index: str(a.c) for a in attributes}

    def below(level: int, node: int) -> str:
        cut = cuts.get((level, node))
        if cut is None:
            return lit(node).text
        sign = "=" if cut.single else "<="
        return (
            f"case when {codes[cut.attribute]} {sign} {lit(cut.code)}"
            f" then {below(level + 1, node)} else {below(level + 1, cut.right)} end"
        )

    return Sql(f"cast({below(1, FIRST)} as bigint)")


def nodes_of(rows: Sequence[Row]) -> Iterator[Row]:
    """Every node: its number, its parent's, its first and its last leaf; the root comes first."""
    cuts = cuts_of(rows)
    waiting = [(1, FIRST, LAST, 0)]
    number = 0
    while waiting:
        level, first, last, parent = waiting.pop()
        number += 1
        yield (number, parent, first, last)
        cut = cuts.get((level, first))
        if cut is not None:
            waiting.append((level + 1, cut.right, last, number))
            waiting.append((level + 1, first, cut.right - 1, number))


def parts_of(rows: Sequence[Row]) -> list[Row]:
    """The parts: nodes that are reached by cuts both of whose halves hold, and not cut any further.

    `rows`: node, parent, first leaf, last leaf, whether every guarantee holds. Returns number,
    first and last leaf.
    """
    halves: dict[int, list[Row]] = {}
    for row in rows:
        halves.setdefault(row[1], []).append(row)
    found: list[Row] = []
    waiting = list(halves.get(0, ()))
    while waiting:
        node, _, first, last, _ = waiting.pop()
        below = halves.get(node, [])
        if below and all(row[4] for row in below):
            waiting += sorted(below, key=lambda row: -row[2])
        else:
            found.append((len(found) + 1, first, last))
    return found
