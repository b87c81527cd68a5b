"""Identity-reserved models, where a person has several rows.

IR: Tong et al. (2010). EIR, the enhanced ones: Wang et al. (2018).

The enhanced models are about reasoning sets: one record of every person. `EIR l` wants at least l
different values in each, `EIR (alpha, beta)` no value in more than a share beta of one. Both are
judged here through the theorems (minimum hitting set; most widespread value) *and*, in
`reasoning_sets`, by enumeration, so that either can be held against the other.

Shares of records (alpha, and beta of IR) are the larger of two: over the rows as they are, and over
rows de-duplicated by (person, value); NULL values are left out of beta and, as the rows that they
are, kept in alpha. All else is over different (person, value) pairs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any, TypeAlias

from tests.oracle.models import Classes, Persons, Result, distinct_l, k_anonymity

Share: TypeAlias = Fraction | float
"""A share, or infinity where there is nothing to take it of."""


def holdings(values: Iterable[Any], persons: Iterable[Hashable]) -> dict[Hashable, set[Any]]:
    """S(p): the non-NULL values of every person that has one."""
    held: dict[Hashable, set[Any]] = {}
    for person, value in zip(persons, values, strict=True):
        if value is not None:
            held.setdefault(person, set()).add(value)
    return held


def minimum_hitting_set(families: Iterable[set[Any]]) -> set[Any]:
    """A smallest set that meets every family, by trying all of each size (families non-empty)."""
    sets = list(families)
    universe = sorted(set().union(*sets), key=repr)
    for size in range(len(universe) + 1):
        for candidate in combinations(universe, size):
            if all(not family.isdisjoint(candidate) for family in sets):
                return set(candidate)
    raise ValueError("an empty family cannot be hit")


def reasoning_sets(held: dict[Hashable, set[Any]]) -> Iterator[tuple[Any, ...]]:
    """All choices of one value per person (exponential)."""
    return product(*(sorted(values, key=repr) for values in held.values()))


def ir_k(classes: Classes, persons: Persons) -> Result:
    """Different persons of each class, those without a value included."""
    return k_anonymity(classes, persons)


def ir_kl(classes: Classes, persons: Persons) -> Result:
    """(persons, different non-NULL values)."""
    k, l = k_anonymity(classes, persons), distinct_l(classes)
    pairs = {name: (k.per_class[name], l.per_class[name]) for name in classes}
    return Result(pairs, (k.worst, l.worst))


def _alpha(values: Iterable[Any], persons: Iterable[Hashable]) -> Share:
    rows = list(zip(persons, values, strict=True))
    return max(_largest(person for person, _ in some) for some in (rows, set(rows)))


def _largest(items: Iterable[Hashable]) -> Share:
    """The share of the commonest item; infinite without items."""
    counts = Counter(items)
    return Fraction(max(counts.values()), counts.total()) if counts else math.inf


def _worst_pairs(per_class: dict[Hashable, Any]) -> Result:
    firsts, seconds = zip(*per_class.values(), strict=True) if per_class else ((None,), (None,))
    return Result(per_class, (max(firsts), max(seconds)))


def ir_alpha_beta(classes: Classes, persons: Persons) -> Result:
    """(largest share of one person's records, largest share of one value's records)."""

    def achieved(values: Iterable[Any], who: Iterable[Hashable]) -> tuple[Share, Share]:
        values, who = list(values), list(who)
        rows = [pair for pair in zip(who, values, strict=True) if pair[1] is not None]
        beta = max(_largest(value for _, value in some) for some in (rows, set(rows)))
        return _alpha(values, who), beta

    return _worst_pairs({name: achieved(classes[name], persons[name]) for name in classes})


def eir_l(classes: Classes, persons: Persons) -> Result:
    """Size of the minimum hitting set of the persons' values; 0 if nobody has a value."""
    per_class: dict[Hashable, Any] = {
        name: len(minimum_hitting_set(holdings(values, persons[name]).values()))
        for name, values in classes.items()
    }
    return Result(per_class, min(per_class.values(), default=None))


def eir_alpha_beta(classes: Classes, persons: Persons) -> Result:
    """(largest share of one person's records, share of persons that hold the widest value)."""

    def achieved(values: Iterable[Any], who: Iterable[Hashable]) -> tuple[Share, Share]:
        values, who = list(values), list(who)
        held = holdings(values, who)
        holders = Counter(value for kept in held.values() for value in kept)
        most = max(holders.values(), default=0)
        return _alpha(values, who), Fraction(most, len(held)) if held else math.inf

    return _worst_pairs({name: achieved(classes[name], persons[name]) for name in classes})
