"""Quick bounds and minimum hitting sets, for rules on many groups of persons."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import TypeVar

from anonymizer.compile import Sql, lit
from anonymizer.guarantees.identity import (
    EirL,
    EirValueShare,
    IrK,
    IrL,
    PersonShare,
    ValueShare,
)
from anonymizer.guarantees.rule import Rule, at_most, within

# Exact hitting sets, for the classes that the bounds of EIR l-diversity leave undecided.
#
# A hitting set of a family of sets intersects all of them. The search branches on the values of one
# set that is not hit yet: O(r^size · n) for n sets of r values, in practice far less. A value whose
# branch has failed is removed from the other branches. A branch is pruned if more pairwise disjoint
# sets remain than values, or if the most widespread values cannot hit all sets. Exact, unlike the
# reduction of Wang et al. (2018), algorithm 3, whose family of minimal sets is incomplete.


V = TypeVar("V", bound=Hashable)

MANY = 16
"""Number of sets above which counting how widespread values are pays off."""


def has_hitting_set(sets: Iterable[Collection[Hashable]], size: int) -> bool:
    """Return whether some set of at most `size` values hits every one of `sets`.

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
    if size <= 0 or _disjoint_sets(masks, size) > size:
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


def _disjoint_sets(masks: list[int], most: int) -> int:
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


# Rules on persons judged from a few aggregates of a group, for judging many groups at once.
#
# The window columns of `Rule.layers` give tight bounds, but cost several sorts of all pairs. A
# *screen* reads two aggregations only, and decides all rules except EIR l-diversity exactly. It is
# judged over a relation with one row per group:
#
# * `persons`, `known`: persons of the group, persons with a value that counts
# * `pairs`, `pairs_most`: different (person, value) pairs, the most of one person
# * `records`, `records_most`: records, the most of one person
# * `different`: different values that count
# * `known_pairs`, `known_records`: pairs and records whose value counts
# * `widest`, `widest_records`: persons, and records, of the most widespread value
# * `only_values`: different values of persons who hold one value only
# * `reach_<t>`: persons that the `t` most widespread values have, added up
#
# For EIR l-diversity |H| >= l holds if l values are the only value of some person (each is part of
# every hitting set), or if the l-1 most widespread values cannot hit everybody. It fails if there
# are fewer than l values or persons, or if the most widespread value and one value for each person
# without it are fewer than l. Undecided groups are decided by `hitting`.


@dataclass(frozen=True, slots=True)
class Screen:
    """Conditions over the aggregates of a group, never NULL."""

    holds: Sql
    fails: Sql
    reach: int | None = None
    """The t of the required column `reach_<t>`."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that the conditions read."""
        return frozenset(re.findall(r"[a-z_0-9]+", f"{self.holds} {self.fails}"))


def screen(rule: Rule) -> Screen:
    """The screen of one rule. Raises `TypeError` for rules that do not use pairs."""
    match rule:
        case IrK():
            return _exact(f"persons >= {lit(rule.k)}")
        case IrL():
            return _exact(f"different >= {lit(rule.l)}")
        case PersonShare():
            alpha = at_most(rule.alpha)
            pairs = within("pairs_most", alpha, "pairs")
            return _exact(f"{pairs} and {within('records_most', alpha, 'records')}")
        case EirValueShare():
            return _exact(f"known > 0 and {within('widest', at_most(rule.beta), 'known')}")
        case ValueShare():
            beta = at_most(rule.beta)
            pairs = within("widest", beta, "known_pairs")
            records = within("widest_records", beta, "known_records")
            return _exact(f"known > 0 and {pairs} and {records}")
        case EirL():
            return _hitting(rule.l)
        case _:
            raise TypeError(f"{rule.name} is not a rule on persons")


def conjunction(screens: Sequence[Screen]) -> Screen:
    """The conjunction of several screens of one column."""
    holds = " and ".join(f"({one.holds})" for one in screens)
    fails = " or ".join(f"({one.fails})" for one in screens)
    reach = next((one.reach for one in screens if one.reach is not None), None)
    return Screen(Sql(holds), Sql(fails), reach)


def survives_additions(rule: Rule) -> bool:
    """Return whether a group that satisfies the rule still does after any persons are added."""
    return isinstance(rule, IrK | IrL | EirL)


def _exact(holds: str) -> Screen:
    return Screen(Sql(holds), Sql(f"not ({holds})"))


def _hitting(l: int) -> Screen:
    if l == 1:
        return _exact("known > 0")
    t = l - 1
    return Screen(
        Sql(f"known > 0 and (only_values >= {lit(l)} or reach_{t} < known)"),
        Sql(f"different < {lit(l)} or known < {lit(l)} or known - widest + 1 < {lit(l)}"),
        t,
    )
