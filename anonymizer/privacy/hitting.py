"""Exact hitting sets, for the classes that the bounds of EIR l-diversity leave undecided.

A hitting set of a family of sets meets every one of them. The search branches on the values of one
set that is not met yet: O(r^size · n) for n sets of r values, in practice far less, since a value
whose branch has failed is struck from the rest, and a branch is cut where the most widespread
values cannot reach all sets. Exact, unlike the reduction of Wang et al. (2018), algorithm 3, whose
family of minimal sets is incomplete.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

V = TypeVar("V", bound=Hashable)


def has_hitting_set(sets: Iterable[Collection[Hashable]], size: int) -> bool:
    """Whether some set of at most `size` values meets every one of `sets`.

    No set needs no value. An empty set cannot be met: leave persons without a value out.
    """
    return size >= 0 and _search(_masks(sets)[0], size) is not None


def hitting_set(sets: Iterable[Collection[V]], size: int) -> frozenset[V] | None:
    """At most `size` values that meet every one of `sets`; None if there are none so few."""
    masks, values = _masks(sets)
    found = _search(masks, size) if size >= 0 else None
    if found is None:
        return None
    return frozenset(values[bit.bit_length() - 1] for bit in _bits(found))


def minimum_hitting_set_size(sets: Iterable[Collection[Hashable]]) -> int:
    """Size of the smallest set that meets every one of `sets`; 0 without sets.

    Raises `ValueError` if one of them is empty.
    """
    masks, _ = _masks(sets)
    if 0 in masks:
        raise ValueError("an empty set cannot be met")
    size = 0
    while _search(masks, size) is None:
        size += 1
    return size


def undecided_classes(rows: Sequence[tuple[Any, Any, int]], l: int) -> list[tuple[Any, bool]]:
    """Decide EIR l-diversity class by class.

    `rows` are the (class, person, value) of the undecided classes, ordered by class and person,
    without NULLs. Returns (class, holds).
    """
    return [
        (
            name,
            not has_hitting_set(
                ({value for *_, value in held} for _, held in groupby(members, itemgetter(1))),
                l - 1,
            ),
        )
        for name, members in groupby(rows, itemgetter(0))
    ]


def _masks(sets: Iterable[Collection[V]]) -> tuple[list[int], list[V]]:
    """The different sets as bit masks over their values, and the value of every bit."""
    bits: dict[V, int] = {}
    masks: set[int] = set()
    for one in sets:
        mask = 0
        for value in one:
            mask |= 1 << bits.setdefault(value, len(bits))
        masks.add(mask)
    return sorted(masks), list(bits)


def _search(masks: list[int], size: int) -> int | None:
    """The values of a hitting set of at most `size`, as a mask."""
    if not masks:
        return 0
    if size <= 0:
        return None
    held: dict[int, int] = {}
    for mask in masks:
        rest = mask
        while rest:
            low = rest & -rest
            held[low] = held.get(low, 0) + 1
            rest ^= low
    # the most widespread values have to occur in as many sets as there are
    if sum(sorted(held.values(), reverse=True)[:size]) < len(masks):
        return None
    if size == 1:
        return max(held, key=lambda bit: held[bit])
    smallest = min(masks, key=int.bit_count)
    for bit in sorted(_bits(smallest), key=lambda bit: (-held[bit], bit)):
        found = _search([mask for mask in masks if not mask & bit], size - 1)
        if found is not None:
            return found | bit
        # no hitting set of this size holds the value: strike it
        masks = [mask & ~bit for mask in masks]
        if 0 in masks:
            return None
    return None


def _bits(mask: int) -> list[int]:
    found = []
    while mask:
        low = mask & -mask
        found.append(low)
        mask ^= low
    return found
