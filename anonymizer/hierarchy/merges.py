"""Merge values in pairs: which pair is next, and how a sequence of merges becomes levels.

A binary tree of merges is unbalanced and can be as high as its number of leaves. Levels of equal
depth are cut from it by the order of the merges: level L is the state with ceil(m / 2^L) nodes,
where m is the number of leaves. So every level halves the nodes, each level coarsens the one below,
and there are ceil(log2 m) levels.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

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
