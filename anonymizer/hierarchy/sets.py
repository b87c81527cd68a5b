"""Hierarchies of sets of values: listed, by affix, by merging, by frequency."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from anonymizer.compile import Sql, Table, lit
from anonymizer.contract.layout import value_text
from anonymizer.errors import Problem
from anonymizer.hierarchy.intervals import finish, line, refuse_infinite
from anonymizer.hierarchy.scale import Place, counts_text, exact, from_text
from anonymizer.policy.hierarchies import Order, Prefix, Suffix
from anonymizer.process.text import many
from anonymizer.steps import Compute, Row, Stage, Step

# Checks of hierarchies whose values are listed as text in a file, a table or the policy.


def coverage_stages(
    place: Place, listed: Table, *, option: str, spellings: bool = True
) -> tuple[Stage, ...]:
    """Stop unless every value of the source is listed, and no value is listed in two spellings.

    `spellings`: False if the listed texts are known to be different values.
    """
    path = f"{place.path}.{option}"
    typed = from_text(Sql("value"), place.sql_type)

    def lacking(row: Row) -> Problem:
        return Problem(
            path,
            f"lacks {counts_text(row[0], row[2])} of the column's {row[1]:,}",
            hint="add them; every value of the source needs its place",
        )

    def twice(row: Row) -> Problem:
        return Problem(
            path,
            f"lists {many(row[0], 'value')} of the column in two spellings",
            hint="keep one of them, such as 1 or 01",
        )

    once = place.guard("guard_listed_twice", {"listed": listed, "typed": typed}, twice)
    known = place.guard(
        "guard_lacking", {"values": place.values, "listed": listed, "typed": typed}, lacking
    )
    return (once, known) if spellings else (known,)


# Hierarchies of codes that keep the beginning, or the end.


KEPT = "kept"
"""Work table with the characters that each level keeps."""


def affix(place: Place, spec: Prefix | Suffix) -> tuple[Stage, ...]:
    """Keep fewer characters (code points) at each level; the others become `*`.

    Codes of different lengths are padded to the longest, so `213**` is every code that begins with
    213. A code shorter than what a level keeps is unchanged. Numbers are treated as text.
    """
    kept = place.table(KEPT)
    return (
        place.step(
            "affix_levels",
            values=place.values,
            kept=kept,
            lengths=spec.lengths,
            step=spec.step or 1,
        ),
        place.step(
            "affix",
            values=place.values,
            kept=kept,
            hierarchy=place.hierarchy,
            sql_type=Sql(place.sql_type),
            suffix=spec.builder == "suffix",
        ),
    )


# Merge values in pairs: which pair is next, and how a sequence of merges becomes levels.
#
# A binary tree of merges is unbalanced and can be as high as its number of leaves. Levels of equal
# depth are cut from it by the order of the merges: level L is the state with ceil(m / 2^L) nodes,
# where m is the number of leaves. So every level halves the nodes, each level coarsens the one
# below, and there are ceil(log2 m) levels.


Merge: TypeAlias = tuple[int, int, int]
"""Ordinal of the value, its leaf (both from 1), and the level at which this leaf and the next are
in one node."""


def heights(leaves: int) -> list[int]:
    """For the first, second, ... merge of `leaves` leaves: the lowest level that contains it."""
    found: list[int] = []
    level = 0
    while len(found) < leaves - 1:
        level += 1
        nodes = -(-leaves // 2**level)
        found += [level] * (leaves - nodes - len(found))
    return found


@dataclass(slots=True)
class _Gap:
    """The distance between two neighbouring nodes, compared without rounding."""

    above: int | Fraction
    """Numerator of the distance of the centres."""
    below: int
    """The denominator: the product of the weights."""
    left: int
    version: int

    def __lt__(self, other: _Gap) -> bool:
        mine, others = self.above * other.below, other.above * self.below
        return mine < others or (mine == others and self.left < other.left)


def merge_neighbours(points: Sequence[tuple[int | float, int]]) -> list[Merge]:
    """On-the-fly hierarchy: merge the two neighbours whose centres are closest, until one is left.

    `points` are distinct centres in ascending order with their weights (counts of rows). A merged
    node's centre is the weighted mean; among equal distances the leftmost is first. O(m log m).
    Source: Campan and Cooper 2010.
    """
    count = len(points)
    weight = [n for _, n in points]
    # floating-point centres are added as fractions, so that no sum is rounded
    total: list[int | Fraction] = [
        n * (at if isinstance(at, int) else Fraction(at)) for at, n in points
    ]
    following = [*range(1, count), -1]
    preceding = list(range(-1, count - 1))
    version = [0] * count
    joined = [1] * count
    order = heights(count)

    def gap(left: int) -> _Gap:
        right = following[left]
        above = total[right] * weight[left] - total[left] * weight[right]
        return _Gap(above, weight[left] * weight[right], left, version[left])

    heap = [gap(left) for left in range(count - 1)]
    heapq.heapify(heap)
    # the boundary between two nodes lies after the last leaf of the left one
    for level in order:
        nearest = heapq.heappop(heap)
        while nearest.version != version[nearest.left]:
            nearest = heapq.heappop(heap)
        left = nearest.left
        right = following[left]
        joined[right - 1] = level
        weight[left] += weight[right]
        total[left] += total[right]
        version[left] += 1
        version[right] = -1
        following[left] = following[right]
        if following[right] >= 0:
            preceding[following[right]] = left
            heapq.heappush(heap, gap(left))
        if preceding[left] >= 0:
            version[preceding[left]] += 1
            heapq.heappush(heap, gap(preceding[left]))
    return [(leaf + 1, leaf + 1, joined[leaf]) for leaf in range(count)]


def merge_rarest(counts: Sequence[int]) -> list[Merge]:
    """Frequency hierarchy: merge the two nodes with the fewest rows, until one is left.

    Among equal counts, the node listed or created first is merged first. Leaves are then numbered
    along the tree (the rarer child first), so that those of a node are consecutive. O(m log m).
    """
    count = len(counts)
    heap = [(n, node) for node, n in enumerate(counts)]
    heapq.heapify(heap)
    children: list[tuple[int, int, int]] = []
    for level in heights(count):
        first_n, first = heapq.heappop(heap)
        second_n, second = heapq.heappop(heap)
        heapq.heappush(heap, (first_n + second_n, count + len(children)))
        children.append((first, second, level))
    found: list[Merge] = []
    # (node, level of the boundary after its last leaf)
    stack = [(count + len(children) - 1, 1)] if count else []
    while stack:
        node, after = stack.pop()
        if node < count:
            found.append((node + 1, len(found) + 1, after))
        else:
            first, second, level = children[node - count]
            stack += [(second, after), (first, level)]
    return found


def pair_in_order(leaves: int) -> list[int]:
    """For each leaf in a given order: the level at which it and the next are in one node.

    Neighbours are paired: nodes contain 2, 4, 8, ... leaves.
    """
    return [(leaf ^ (leaf + 1)).bit_length() if leaf + 1 < leaves else 1 for leaf in range(leaves)]


# The on-the-fly hierarchy (OTF) of an ordered column.


MERGE_COLUMNS = (("ordinal", "BIGINT"), ("leaf", "BIGINT"), ("joined", "INTEGER"))


def on_the_fly(place: Place) -> tuple[Stage, ...]:
    """OTF: leaves are the distinct values, weighted by their rows; the closest neighbours merge.

    Bounds are the least and the greatest value of a node. Levels: see `merges`.
    """
    scale = line(place)
    merges = place.table("merges")

    def merge(rows: list[Row]) -> list[Row]:
        """Merge the closest neighbours until one node is left."""
        return [*merge_neighbours([(centre, n) for _, centre, n in rows])]

    return (
        *refuse_infinite(place),
        Compute(
            place.step("merge_values", values=place.values, centre=scale.centre(Sql("value"))),
            merge,
            merges,
            MERGE_COLUMNS,
        ),
        place.step("merged", values=place.values, merges=merges, bounds=place.table("bounds")),
        finish(place, points=False),
    )


# Hierarchies of sets of values: by frequency, or in a given order.


MOST_VALUES = 2_000
"""Largest number of values of a frequency hierarchy; each node's label lists all its members."""
MEMBER_COLUMNS = (("value", "VARCHAR"), ("leaf", "BIGINT"), ("joined", "INTEGER"))


def frequency(place: Place) -> tuple[Stage, ...]:
    """Merge the two rarest nodes until one is left, so that frequent values stay separate longest.

    Nodes are published as sets, `{a, b}`. Levels: see `merges`.
    """
    merges, members = place.table("merges"), place.table("members")

    def merge(rows: list[Row]) -> list[Row]:
        """Merge the two rarest nodes until one node is left."""
        return [*merge_rarest([n for _, n in rows])]

    return (
        place.guard(
            "guard_count",
            {"values": place.values, "most": lit(MOST_VALUES)},
            lambda row: Problem(
                place.path,
                f"the column has {row[0]:,} distinct values, too many to publish as sets",
                allowed=f"at most {MOST_VALUES:,} for builder frequency",
                hint="use prefix or a taxonomy",
            ),
        ),
        Compute(place.step("rarest", values=place.values), merge, merges, MERGE_COLUMNS),
        place.step("rare_members", values=place.values, merges=merges, members=members),
        _sets(place),
    )


def order(place: Place, spec: Order) -> tuple[Stage, ...]:
    """Pair neighbours in the given order: nodes of 2, 4, 8, ... values, published as sets."""
    members = place.table("members")
    texts = [value_text(value) for value in spec.values]
    listed = list(zip(texts, range(1, len(texts) + 1), pair_in_order(len(texts)), strict=True))

    def take(_: list[Row]) -> list[Row]:
        """The values in the order in which the policy lists them."""
        return [*listed]

    return (
        Compute(
            place.step("count_values", values=place.values),
            take,
            members,
            MEMBER_COLUMNS,
            given=True,
        ),
        *coverage_stages(place, members, option="values"),
        _sets(place),
    )


def _sets(place: Place) -> Step:
    return place.step(
        "sets",
        values=place.values,
        members=place.table("members"),
        hierarchy=place.hierarchy,
        sql_type=Sql(place.sql_type),
        typed=from_text(Sql("m.value"), place.sql_type),
        exact=exact(Sql("text")),
    )
