"""Exact hitting sets, for the classes that the bounds of EIR l-diversity leave undecided.

A hitting set of a family of sets intersects all of them. The search branches on the values of one
set that is not hit yet: O(r^size · n) for n sets of r values, in practice far less. A value whose
branch has failed is removed from the other branches. A branch is pruned if more pairwise disjoint
sets remain than values, or if the most widespread values cannot hit all sets. Exact, unlike the
reduction of Wang et al. (2018), algorithm 3, whose family of minimal sets is incomplete.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from functools import reduce
from operator import and_
from typing import TypeVar

V = TypeVar("V", bound=Hashable)

MANY = 16
"""Number of sets above which counting how widespread values are pays off."""


def has_hitting_set(sets: Iterable[Collection[Hashable]], size: int) -> bool:
    """Whether some set of at most `size` values hits every one of `sets`.

    Without sets, no values are needed. An empty set cannot be hit: omit persons without a value.
    """
    return size >= 0 and _search(_masks(sets)[0], size) is not None


def hitting_set(sets: Iterable[Collection[V]], size: int) -> frozenset[V] | None:
    """At most `size` values that hit every one of `sets`; None if more are needed."""
    masks, values = _masks(sets)
    found = _search(masks, size) if size >= 0 else None
    if found is None:
        return None
    return frozenset(values[bit.bit_length() - 1] for bit in _bits(found))


def _masks(sets: Iterable[Collection[V]]) -> tuple[list[int], list[V]]:
    """The different sets as bit masks over their values, small ones first; the values by bit."""
    bits: dict[V, int] = {}
    masks: set[int] = set()
    for one in sets:
        mask = 0
        for value in one:
            mask |= 1 << bits.setdefault(value, len(bits))
        masks.add(mask)
    return sorted(masks, key=int.bit_count), list(bits)


def _search(masks: list[int], size: int) -> int | None:
    """The values of a hitting set of at most `size`, as a mask; small sets must come first."""
    if not masks:
        return 0
    if size <= 0 or _apart(masks, size) > size:
        return None
    if size == 1:
        common = reduce(and_, masks)
        return common & -common or None
    # the most widespread values together must occur in as many sets as there are
    if len(masks) > MANY and _reach(masks, size) < len(masks):
        return None
    branches = [(bit, [mask for mask in masks if not mask & bit]) for bit in _bits(masks[0])]
    branches.sort(key=lambda branch: len(branch[1]))
    struck = 0
    for bit, rest in branches:
        if struck:
            rest = sorted({mask & ~struck for mask in rest}, key=int.bit_count)
        found = None if rest[:1] == [0] else _search(rest, size - 1)
        if found is not None:
            return found | bit
        # no hitting set of this size contains the value
        struck |= bit
    return None


def _apart(masks: list[int], most: int) -> int:
    """Greedily count pairwise disjoint sets, up to one above `most`.

    Each needs a separate value.
    """
    used = count = 0
    for mask in masks:
        if not mask & used:
            used |= mask
            count += 1
            if count > most:
                break
    return count


def _reach(masks: list[int], size: int) -> int:
    """Total number of sets that contain each of the `size` most widespread values."""
    held: dict[int, int] = {}
    for mask in masks:
        for bit in _bits(mask):
            held[bit] = held.get(bit, 0) + 1
    return sum(sorted(held.values(), reverse=True)[:size])


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low)
        mask ^= low
    return found
