"""Rules on the frequencies of sensitive values, each by its definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from anonymizer.independent.cells import Value, ValueFormError, family, read_value
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.rules import (
    Counts,
    Figure,
    Finding,
    Group,
    Rule,
    Terms,
    shares,
    total,
    upper,
)

# k-anonymity and rules on the frequencies of sensitive values, each by its definition.
#
# NULL. A sensitive NULL is not a value: it does not count towards l, and shares are taken among the
# non-NULL values, because an observer may know that a person has a value (docs/models.md); with
# `null_as_value` it is a value like any other.
#
# A group without any value. By the published rule (design, section 5, number 15) such a group does
# not hold vacuously. For each definition this means:
#
# * distinct, entropy and recursive l-diversity fail: 0 values are fewer than any l from 1, and no
#   r_l exists.
# * alpha, (alpha,k) and the share bounds of L_sl fail. They bound the share of a value among the
#   non-NULL values of the group, and 0/0 is undefined, so nothing is proved. Also, if others in the
#   table have a value, a group whose values are *all* missing discloses with certainty that the
#   value of each of its members is missing.
# * beta-likeness fails. It compares the distribution p of the group with q; the group has no p.
# * delta-disclosure fails. It requires |ln(p/q)| < delta for every value of the table; p(v) = 0 for
#   each of them, and |ln 0| is infinite.
#
# A column without any value in the whole release fails all of these rules too, because no group has
# a value.


INFINITE = float("inf")
PRECISE = Context(prec=60)
ENTROPY_TOLERANCE = Decimal("1e-12")
"""The tolerance of the entropy below ln l."""


def k_anonymity(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """At least k units (Samarati and Sweeney 1998); ir_k: persons (Tong et al. 2010)."""
    terms.only("k")
    k = terms.integer("k")

    def judge(group: Group) -> Finding:
        return Finding({"k": len(group.units)}, len(group.units) >= k)

    return Rule({"k": k}, {"k": min}, judge)


def distinct_l(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """At least l different values (Machanavajjhala et al. 2006)."""
    terms.only("l")
    l, nulls = terms.integer("l"), terms.null_as_value

    def judge(group: Group) -> Finding:
        found = len(group.counts(nulls=nulls))
        return Finding({"l": found}, found >= l, not found)

    return Rule({"l": l}, {"l": min}, judge)


def frequency_l(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """No value in more than 1/l of the rows that have one: the l-diversity of msb's groups
    (Yang, Wang and Wang 2008; Definitions 7 and 8 of Xiao and Li 2020).
    """
    terms.only("l")
    l = terms.integer("l")

    def share(counts: Counts) -> Figure:
        return max(counts.values()) * Fraction(l, sum(counts.values()))

    return _at_most(terms, {"share": 1, "l": l}, share, Fraction(1))


def _at_most(
    terms: Terms,
    required: Mapping[str, Figure],
    figure: Callable[[Counts], Figure],
    bound: Fraction,
) -> Rule:
    """A figure of the values of a group, named first of the `required`, that has a bound."""
    name, nulls = next(iter(required)), terms.null_as_value

    def judge(group: Group) -> Finding:
        counts = group.counts(nulls=nulls)
        if not counts:
            return Finding({name: INFINITE}, holds=False, empty=True)
        found = figure(counts)
        return Finding({name: found}, found <= bound)

    return Rule(required, {name: max}, judge)


def unique(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """No value twice (Li and He 2022, Corollary 2; m-uniqueness of Xiao and Tao 2007)."""

    def judge(group: Group) -> Finding:
        # rows count, not pairs: a person's value twice in a bucket is in two of its cells
        listed = [value for _, value in group.records if value is not None]
        most = max((listed.count(value) for value in set(listed)), default=0)
        return Finding({"times": most}, most <= 1)

    return Rule({"times": 1}, {"times": max}, judge)


def entropy_l(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """exp(−Σ p ln p) ≥ l (Machanavajjhala et al. 2006), which is H ≥ ln l.

    Logarithms of 60 digits, and the tolerance that an engine's logarithms need for ties.
    """
    terms.only("l")
    l, nulls = terms.number("l"), terms.null_as_value
    needed = _ln(l) - ENTROPY_TOLERANCE if l else -ENTROPY_TOLERANCE

    def judge(group: Group) -> Finding:
        counts = list(group.counts(nulls=nulls).values())
        n = sum(counts)
        if not n:
            return Finding({"l": 0}, holds=False, empty=True)
        entropy = Decimal(0)
        for count in counts:
            term = PRECISE.multiply(count, _ln(Fraction(n, count)))
            entropy = PRECISE.add(entropy, PRECISE.divide(term, n))
        return Finding({"l": float(entropy.exp(PRECISE))}, entropy >= needed)

    return Rule({"l": l}, {"l": min}, judge)


def recursive_cl(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """r₁ < c·(r_l + … + r_m), counts r descending (Machanavajjhala et al. 2006).

    The figure is r₁ / (r_l + … + r_m), which has to be below c; infinite with fewer than l values.
    """
    terms.only("c", "l")
    c, l, nulls = terms.number("c"), terms.integer("l"), terms.null_as_value
    factor = upper(c)

    def judge(group: Group) -> Finding:
        r = sorted(group.counts(nulls=nulls).values(), reverse=True)
        if len(r) < l:
            return Finding({"c": INFINITE}, holds=False, empty=not r)
        tail = sum(r[l - 1 :])
        return Finding({"c": Fraction(r[0], tail)}, r[0] < factor * tail)

    return Rule({"c": c, "l": l}, {"c": max}, judge)


def alpha(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """No value in a larger share than alpha, or only the declared one (Wong et al. 2006)."""
    terms.only("alpha", "value")
    return _alpha(terms, sql_type, None)


def alpha_k(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """Alpha, and at least k units: (alpha,k)-anonymity (Wong et al. 2006)."""
    terms.only("alpha", "value", "k")
    return _alpha(terms, sql_type, terms.integer("k"))


def _alpha(terms: Terms, sql_type: str, k: int | None) -> Rule:
    bound, nulls = terms.number("alpha"), terms.null_as_value
    allowed = upper(bound)
    declared = (
        _policy_value(terms.requirement.parameters["value"], sql_type)
        if terms.has("value")
        else None
    )

    def judge(group: Group) -> Finding:
        parts = shares(group.counts(nulls=nulls))
        units = len(group.units)
        size: dict[str, Figure] = {} if k is None else {"k": units}
        large_enough = k is None or units >= k
        if not parts:
            return Finding({"alpha": INFINITE, **size}, holds=False, empty=True)
        looked_at = parts.values() if declared is None else [parts.get(declared, Fraction(0))]
        most = max(looked_at)
        return Finding({"alpha": most, **size}, most <= allowed and large_enough)

    required: dict[str, Figure] = {"alpha": bound} if k is None else {"alpha": bound, "k": k}
    return Rule(required, {"alpha": max} if k is None else {"alpha": max, "k": min}, judge)


def level_l(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """L_sl-diversity: a value of level s in at most 1/l_s of the rows that have a value
    (Definitions 10 and 11 of Xiao and Li 2020). A value of no level has no bound, and fails.
    """
    terms.only("levels", "level_l", "default_level")
    needed = {level: _l(terms, given) for level, given in terms.mapping("level_l").items()}
    bounds: dict[Value | None, int] = {}
    for level, listed in terms.mapping("levels").items():
        if level not in needed or not isinstance(listed, list):
            raise UnreadableError("manifest.requirements: level_l.levels: is wrong")
        for one in listed:
            value = _policy_value(one, sql_type)
            bounds[value] = max(bounds.get(value, 0), needed[level])
    other: int | None = None
    if terms.has("default_level"):
        other = needed.get(str(terms.requirement.parameters["default_level"]))
        if other is None:
            raise UnreadableError("manifest.requirements: level_l.default_level: is wrong")

    def ratio(counts: Counts) -> Figure:
        needed = ((bounds.get(value, other), count) for value, count in counts.items())
        n = sum(counts.values())
        return max(INFINITE if l is None else Fraction(count * l, n) for l, count in needed)

    return _at_most(terms, {"ratio": 1}, ratio, Fraction(1))


def beta_likeness(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """(p−q)/q ≤ beta for every value of the group: basic beta-likeness (Cao and Karras 2012)."""
    terms.only("beta")
    beta, nulls = terms.number("beta"), terms.null_as_value
    q = shares(total(groups, nulls=nulls))

    def gain(counts: Counts) -> Figure:
        p = shares(counts)
        return max([Fraction(0), *((share - q[value]) / q[value] for value, share in p.items())])

    return _at_most(terms, {"beta": beta}, gain, upper(beta))


def delta_disclosure(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """|ln(p/q)| < delta for every value of the table (Brickell and Shmatikov 2008).

    Decided without logarithms: neither share reaches the other one times e^delta.
    """
    terms.only("delta")
    delta, nulls = terms.number("delta"), terms.null_as_value
    q = shares(total(groups, nulls=nulls))
    # (e^28 has more digits than a bound)
    exponent = PRECISE.divide(delta.numerator, delta.denominator) if delta < 28 else Decimal(28)
    ratio = upper(Fraction(exponent.exp(PRECISE)))

    def judge(group: Group) -> Finding:
        p = shares(group.counts(nulls=nulls))
        if not p or set(p) != set(q):
            return Finding({"delta": INFINITE}, holds=False, empty=not p)
        most = max(abs(_ln(p[value] / q[value])) for value in q)
        near = all(p[v] < ratio * q[v] and q[v] < ratio * p[v] for v in q)
        return Finding({"delta": float(most)}, near)

    return Rule({"delta": delta}, {"delta": max}, judge)


def _ln(ratio: Fraction) -> Decimal:
    if ratio == 1:
        return Decimal(0)
    return PRECISE.subtract(
        Decimal(ratio.numerator).ln(PRECISE), Decimal(ratio.denominator).ln(PRECISE)
    )


def _l(terms: Terms, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise UnreadableError("manifest.requirements: level_l.level_l: is wrong")
    return given


def _policy_value(given: object, sql_type: str) -> Value:
    """A value of the policy as a value of the column; if it is none, it occurs nowhere."""
    text = str(given).lower() if isinstance(given, bool) else str(given)
    try:
        return read_value(text, sql_type)
    except ValueFormError:
        return _loosely(text, sql_type)


def _loosely(text: str, sql_type: str) -> Value:
    """Parse other notations: `5` for a decimal of scale 1, `2020-01-01` for a timestamp."""
    try:
        return read_value(text, "DOUBLE" if sql_type.startswith("DECIMAL") else sql_type)
    except ValueFormError:
        pass
    try:
        return read_value(text, "DATE") if sql_type.startswith("TIMESTAMP") else text
    except ValueFormError:
        return text


# t-closeness: the distance of a group's distribution p from that of all published values, q.
#
# The distance is the earth mover's under three ground distances (Li, Li and Venkatasubramanian
# 2007). NULL is a category of its own for all three: first in the order, and a branch of its own
# below the root of a hierarchy. So a group of only NULLs has a distribution, and needs no special
# rule.


Distribution: TypeAlias = Mapping[Value | None, Fraction]
Paths: TypeAlias = Mapping[Value | None, Sequence[str]]
Node: TypeAlias = tuple[object, ...]
ROOT = "root"


def t_closeness(terms: Terms, groups: Sequence[Group], sql_type: str) -> Rule:
    """Every group within t of q, by the ground distance of the requirement."""
    terms.only("t", "distance", "paths")
    t = terms.number("t")
    most = upper(t)
    distance = terms.requirement.parameters.get("distance", "equal")
    q = shares(total(groups, nulls=True))
    paths: Paths = {}
    if distance == "hierarchical":
        paths = _paths(terms, sql_type)
        if any(value is not None and value not in paths for value in q):
            far = Finding({"t": Fraction(1)}, holds=False)
            said = "the hierarchy lacks a published value"
            return Rule({"t": t}, {"t": max}, lambda group: far, said)
    elif distance == "ordered":
        if family(sql_type) not in ("whole", "decimal", "float", "time"):
            raise UnreadableError("manifest.requirements: t_closeness.distance: needs an order")
    elif distance != "equal":
        raise UnreadableError("manifest.requirements: t_closeness.distance: is not known")

    def judge(group: Group) -> Finding:
        p = shares(group.counts(nulls=True))
        if distance == "equal":
            found = equal(p, q)
        elif distance == "ordered":
            found = ordered_distance(p, q)
        else:
            found = hierarchical(p, q, paths)
        return Finding({"t": found}, found <= most)

    return Rule({"t": t}, {"t": max}, judge)


def equal(p: Distribution, q: Distribution) -> Fraction:
    """½ Σ |p−q| over the values of the table."""
    return sum((abs(p.get(v, Fraction(0)) - share) for v, share in q.items()), Fraction(0)) / 2


def ordered_distance(p: Distribution, q: Distribution) -> Fraction:
    """Σᵢ |Σ_{j≤i} (p−q)| / (m−1) over the m values of the table in their order, NULL first."""
    listed = sorted(q, key=lambda value: (value is not None, value or ()))
    if len(listed) == 1:
        return Fraction(0)
    moved, carried = Fraction(0), Fraction(0)
    for value in listed:
        carried += p.get(value, Fraction(0)) - q[value]
        moved += abs(carried)
    return moved / (len(listed) - 1)


def hierarchical(p: Distribution, q: Distribution, paths: Paths) -> Fraction:
    """Σ over inner nodes of height/H · min(surplus, deficit) of their children."""
    height = len(next(iter(paths.values()))) if paths else 1
    children: dict[Node, dict[Node, Fraction]] = {}
    for value, share in q.items():
        extra = p.get(value, Fraction(0)) - share
        above = paths[value][:-1] if value is not None else [None] * (height - 1)
        # from the leaf to the root; the more parts a key has, the deeper is its node
        whole: Node = (value, *above, ROOT)
        for level in range(1, height + 1):
            below = children.setdefault(whole[level:], {})
            child = whole[level - 1 :]
            below[child] = below.get(child, Fraction(0)) + extra
    cost = Fraction(0)
    for node, extras in children.items():
        level = height + 1 - len(node)
        surplus = sum((one for one in extras.values() if one > 0), Fraction(0))
        deficit = -sum((one for one in extras.values() if one < 0), Fraction(0))
        cost += Fraction(level, height) * min(surplus, deficit)
    return cost


def _paths(terms: Terms, sql_type: str) -> Paths:
    """Labels of the ancestors of each value, parent first, root last, all equally many."""
    found: dict[Value | None, Sequence[str]] = {}
    for text, nodes in terms.mapping("paths").items():
        if not isinstance(nodes, list) or not nodes:
            raise UnreadableError("manifest.requirements: t_closeness.paths: is wrong")
        try:
            found[read_value(text, sql_type)] = [str(node) for node in nodes]
        except ValueFormError:
            raise UnreadableError("manifest.requirements: t_closeness.paths: is wrong") from None
    if not found or len({len(nodes) for nodes in found.values()}) != 1:
        raise UnreadableError("manifest.requirements: t_closeness.paths: differ in their length")
    parents: dict[tuple[int, str], str] = {}
    for nodes in found.values():
        for level, (node, parent) in enumerate(pairwise(nodes)):
            if parents.setdefault((level, node), parent) != parent:
                raise UnreadableError("manifest.requirements: t_closeness.paths: do not nest")
    return found
