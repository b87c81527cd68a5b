"""Converts the tree of coarse cuts from rows to an expression for a tuple's leaf, and to nodes.

A node has the number of its first leaf and a level; of the two halves of a cut the left one keeps
the number, and the right one starts after the sampled tuples of the left. Leaves are numbered from
left to right, so that a node is a range of leaves.

If no class may mix tuples of different groups (patterns), every group has a separate tree: rows of
level 0 have the group as `code`, and its first leaf as node. Above these trees are nodes that
contain several groups, down to the size of a part. Groups without sampled tuples share the leaf
before the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from anonymizer.compile import Sql, lit
from anonymizer.source.profile import Attribute
from anonymizer.steps import Row

FIRST = 1
LAST = (1 << 62) - 1
"""A number greater than every leaf."""
BEFORE = 0
"""Leaf of the groups without sampled tuples."""
DEEPEST = 200
"""Most levels of cuts that are used, since the nesting of expressions is limited."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One row of the tree."""

    attribute: int
    code: int
    single: bool
    """Whether one code is separated from all others, instead of lower from higher codes."""
    right: int
    """Number of the right half."""


@dataclass(frozen=True, slots=True)
class Group:
    """A set of tuples that no class mixes with others."""

    code: int
    first: int
    """Number of its first leaf."""
    sampled: int
    """Number of its tuples in the sample."""


def groups_of(rows: Sequence[Row]) -> list[Group]:
    """The groups of the sample, in the order of their leaves."""
    found = [Group(code, node, n) for level, node, _, code, _, n in rows if level == 0]
    return sorted(found, key=lambda group: group.first)


def cuts_of(rows: Sequence[Row]) -> dict[tuple[int, int], Cut]:
    """The cuts by level and node. `rows`: level, node, attribute, code, single, units left."""
    return {
        (level, node): Cut(attribute, code, single, node + left)
        for level, node, attribute, code, single, left in rows
        if 0 < level <= DEEPEST
    }


def leaf_sql(attributes: Sequence[Attribute], rows: Sequence[Row], apart: Sql | None = None) -> Sql:
    """The number of the leaf of a tuple of codes; `apart` is the column of its group."""
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

    groups = groups_of(rows)
    if apart is None or not groups:
        return Sql(f"cast({below(1, FIRST)} as bigint)")
    whens = " ".join(f"when {lit(g.code)} then {below(1, g.first)}" for g in groups)
    return Sql(f"cast(case {apart} {whens} else {lit(BEFORE)} end as bigint)")


def nodes_of(rows: Sequence[Row], sampled: int = 0) -> Iterator[Row]:
    """Every node: its number, its parent's, its first and its last leaf; the root comes first.

    Several groups are not divided if they have at most `sampled` tuples of the sample in total.
    """
    cuts = cuts_of(rows)
    groups = groups_of(rows)
    # the groups of a node, or its level if it is within one group or there are no groups
    start = BEFORE if groups else FIRST
    waiting: list[tuple[list[Group] | int, int, int, int]] = [(groups or 1, start, LAST, 0)]
    number = 0
    while waiting:
        within, first, last, parent = waiting.pop()
        number += 1
        yield (number, parent, first, last)
        if isinstance(within, list) and len(within) > 1:
            if sum(group.sampled for group in within) > sampled:
                middle = _middle(within)
                right = within[middle].first
                waiting.append((within[middle:], right, last, number))
                waiting.append((within[:middle], first, right - 1, number))
            continue
        level = within if isinstance(within, int) else 1
        node = within[0].first if isinstance(within, list) else max(first, FIRST)
        cut = cuts.get((level, node))
        if cut is not None:
            waiting.append((level + 1, cut.right, last, number))
            waiting.append((level + 1, first, cut.right - 1, number))


def _middle(groups: Sequence[Group]) -> int:
    """The index at which groups are divided, so that both halves have about as many tuples."""
    *left, whole = accumulate(group.sampled for group in groups)
    return 1 + min(range(len(left)), key=lambda i: abs(2 * left[i] - whole))


def parts_of(rows: Sequence[Row]) -> list[Row]:
    """The parts: the last nodes that are reached only by cuts whose halves both hold.

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
