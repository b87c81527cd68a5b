"""Privacy models over classes of sensitive values, checked by the letter of their definitions.

`classes` maps a class to the sensitive values of its rows (None is NULL), `persons` the same
classes to the persons of the same rows. Every function returns a `Result`: what each class
achieves, and the worst of them; `holds` style comparisons are left to the caller, apart from
`entropy_l_holds` and `recursive_cl_holds`, where the comparison itself is easily got wrong.

Conventions:

* A NULL never counts towards l, and frequencies are taken over the non-NULL values. A class that
  holds NULL only has 0 values and, for t, a distribution; it holds no other rule, so that shares,
  gains and ratios are infinite there.
* For t-closeness NULL is a category of its own: first in the order, a branch of its own below the
  root of a hierarchy. Beta-likeness and delta-disclosure compare frequencies, hence without NULL,
  unless `null_category` is set; a class without values is then infinitely far.
* The reference distribution is that of all rows given (the published ones).
* With `persons` a (person, value) pair counts once in its class. IR and EIR models: persons
  without a non-NULL value count for k, and are left out otherwise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.distances import equal_distance, hierarchical_distance, ordered_distance

Classes = Mapping[Any, Sequence[Any]]  # keys and persons are hashable
Persons = Mapping[Any, Sequence[Any]]


@dataclass(frozen=True)
class Result:
    """Achieved value of each class, and the one that decides (None without classes)."""

    per_class: dict[Hashable, Any]
    worst: Any


def _lowest(per_class: dict[Hashable, Any]) -> Result:
    return Result(per_class, min(per_class.values(), default=None))


def _highest(per_class: dict[Hashable, Any]) -> Result:
    return Result(per_class, max(per_class.values(), default=None))


def counted(classes: Classes, persons: Persons | None = None) -> dict[Hashable, list[Any]]:
    """Values that count: all, or with persons one per (person, value) pair of the class."""
    if persons is None:
        return {name: list(values) for name, values in classes.items()}
    return {
        name: [value for _, value in dict.fromkeys(zip(persons[name], values, strict=True))]
        for name, values in classes.items()
    }


def frequencies(values: Iterable[Any], *, null_category: bool = False) -> Counter[Any]:
    return Counter(value for value in values if null_category or value is not None)


def shares(counts: Counter[Any]) -> dict[Any, Fraction]:
    total = sum(counts.values())
    return {value: Fraction(count, total) for value, count in counts.items()}


def k_anonymity(classes: Classes, persons: Persons | None = None) -> Result:
    """Rows, or different persons, of each class."""
    counts = persons if persons is not None else classes
    distinct = persons is not None
    return _lowest({name: len(set(counts[name]) if distinct else counts[name]) for name in classes})


def distinct_l(classes: Classes) -> Result:
    """Different non-NULL values (persons make no difference)."""
    return _lowest({name: len(frequencies(values)) for name, values in classes.items()})


def entropy_l(classes: Classes, persons: Persons | None = None) -> Result:
    """exp(H), natural logarithm; 0 for a class without values (Machanavajjhala et al. 2007)."""

    def achieved(values: list[Any]) -> float:
        parts = [float(share) for share in shares(frequencies(values)).values()]
        return math.exp(-sum(part * math.log(part) for part in parts)) if parts else 0.0

    return _lowest({n: achieved(values) for n, values in counted(classes, persons).items()})


def entropy_l_holds(values: Iterable[Any], l: float) -> bool:
    """exp(H) >= l as sum n ln n <= N (ln N - ln l + 1e-12)."""
    counts = frequencies(values).values()
    total = sum(counts)
    if not total:
        return False
    left = sum(n * math.log(n) for n in counts)
    return left <= total * (math.log(total) - math.log(l) + 1e-12)


def recursive_cl(classes: Classes, l: int, persons: Persons | None = None) -> Result:
    """r1 / (r_l + … + r_m), infinite if m < l; the class holds if this is less than c."""

    def achieved(values: list[Any]) -> Fraction | float:
        counts = sorted(frequencies(values).values(), reverse=True)
        return Fraction(counts[0], sum(counts[l - 1 :])) if len(counts) >= l else math.inf

    return _highest({n: achieved(values) for n, values in counted(classes, persons).items()})


def recursive_cl_holds(values: Iterable[Any], c: Fraction | int, l: int) -> bool:
    """r1 < c (r_l + … + r_m), strictly; false if there are fewer than l values."""
    counts = sorted(frequencies(values).values(), reverse=True)
    return len(counts) >= l and counts[0] < c * sum(counts[l - 1 :])


def t_closeness(
    classes: Classes,
    distance: str = "equal",
    *,
    persons: Persons | None = None,
    order: Sequence[Any] | None = None,
    paths: Mapping[Any, Sequence[Any]] | None = None,
    reference: Iterable[Any] | None = None,
) -> Result:
    """Earth mover's distance of each class to the reference (Li et al. 2007).

    `order`: the values in their order (default: sorted). `reference`: values that make the
    reference distribution, by default all that count. A class without rows does not exist.
    """
    values = counted(classes, persons)
    pool = reference if reference is not None else [v for column in values.values() for v in column]
    q = shares(frequencies(pool, null_category=True))

    def achieved(column: list[Any]) -> Fraction:
        p = shares(frequencies(column, null_category=True))
        if distance == "equal":
            return equal_distance(p, q)
        if distance == "ordered":
            return ordered_distance(p, q, order)
        if distance == "hierarchical" and paths is not None:
            return hierarchical_distance(p, q, paths)
        raise ValueError(f"unknown distance {distance!r}, or no hierarchy for it")

    return _highest({name: achieved(column) for name, column in values.items()})


def alpha(classes: Classes, persons: Persons | None = None, value: Any = None) -> Result:
    """Largest share of one value (of the declared one, if given); infinite without values."""

    def achieved(column: list[Any]) -> Fraction | float:
        parts = shares(frequencies(column))
        if value is not None and parts:
            return parts.get(value, Fraction(0))
        return max(parts.values(), default=math.inf)

    return _highest({name: achieved(column) for name, column in counted(classes, persons).items()})


def alpha_k(classes: Classes, persons: Persons | None = None, value: Any = None) -> Result:
    """(alpha, k): the pair each class achieves; worst is (largest share, smallest class)."""
    a, k = alpha(classes, persons, value), k_anonymity(classes, persons)
    pairs = {name: (a.per_class[name], k.per_class[name]) for name in classes}
    return Result(pairs, (a.worst, k.worst))


def _against_table(
    classes: Classes, persons: Persons | None, null_category: bool
) -> tuple[dict[Hashable, dict[Any, Fraction]], dict[Any, Fraction]]:
    values = counted(classes, persons)
    pool = [value for column in values.values() for value in column]
    p = {n: shares(frequencies(c, null_category=null_category)) for n, c in values.items()}
    return p, shares(frequencies(pool, null_category=null_category))


def beta_likeness(
    classes: Classes, persons: Persons | None = None, *, null_category: bool = False
) -> Result:
    """Basic: largest relative gain (p - q)/q of a value, 0 if none (Cao and Karras 2012)."""
    p, q = _against_table(classes, persons, null_category)
    gains = {
        name: max(((share - q[v]) / q[v] for v, share in parts.items()), default=math.inf)
        for name, parts in p.items()
    }
    return _highest({name: max(gain, Fraction(0)) for name, gain in gains.items()})


def enhanced_beta_holds(
    classes: Classes,
    beta: float,
    persons: Persons | None = None,
    *,
    null_category: bool = False,
) -> dict[Hashable, bool]:
    """Enhanced: (p - q)/q <= min(beta, -ln q) for every value with p > q."""
    p, q = _against_table(classes, persons, null_category)
    return {
        name: bool(parts)
        and all(
            share <= q[v] or (share - q[v]) / q[v] <= min(beta, -math.log(q[v])) + 1e-12
            for v, share in parts.items()
        )
        for name, parts in p.items()
    }


def delta_disclosure(
    classes: Classes,
    persons: Persons | None = None,
    *,
    null_category: bool = False,
    base: float = math.e,
) -> Result:
    """Largest |log(p/q)| over all values of the table, infinite where one is absent.

    The class holds if this is less than delta, strictly (Brickell and Shmatikov 2008).
    """
    p, q = _against_table(classes, persons, null_category)

    def achieved(parts: dict[Any, Fraction]) -> float:
        if not parts or set(parts) != set(q):
            return math.inf
        return max(abs(math.log(float(share / q[v]), base)) for v, share in parts.items())

    return _highest({name: achieved(parts) for name, parts in p.items()})


def l_sl(
    classes: Classes,
    levels: Mapping[Any, int],
    level_l: Mapping[int, int],
    default_level: int | None = None,
) -> Result:
    """Largest c(v)·l_level(v)/|G| over non-NULL values; the class holds up to 1."""

    def weight(value: Any) -> int:
        level = levels.get(value, default_level)
        if level is None:
            raise KeyError("a value has no level")
        return level_l[level]

    def achieved(column: Sequence[Any]) -> Fraction | float:
        parts = shares(frequencies(column))
        return max((share * weight(v) for v, share in parts.items()), default=math.inf)

    return _highest({name: achieved(column) for name, column in classes.items()})
