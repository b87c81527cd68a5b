"""t-closeness: the distance of a group's distribution p from that of all published values, q.

The distance is the earth mover's under three ground distances (Li, Li and Venkatasubramanian 2007).
NULL is a category of its own for all three: first in the order, and a branch of its own below the
root of a hierarchy. So a group of only NULLs has a distribution, and needs no special rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from anonymizer.independent.cells import is_ordered
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.groups import Group, shares, total
from anonymizer.independent.rules import Finding, Rule, Terms, upper
from anonymizer.independent.values import Value, ValueFormError, read_value

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
            return Rule({"t": t}, {"t": max}, _far, "the hierarchy lacks a published value")
    elif distance == "ordered":
        if not is_ordered(sql_type):
            raise UnreadableError("manifest.requirements: t_closeness.distance: needs an order")
    elif distance != "equal":
        raise UnreadableError("manifest.requirements: t_closeness.distance: is not known")

    def judge(group: Group) -> Finding:
        p = shares(group.counts(nulls=True))
        if distance == "equal":
            found = equal(p, q)
        elif distance == "ordered":
            found = ordered(p, q)
        else:
            found = hierarchical(p, q, paths)
        return Finding({"t": found}, found <= most)

    return Rule({"t": t}, {"t": max}, judge)


def equal(p: Distribution, q: Distribution) -> Fraction:
    """½ Σ |p−q| over the values of the table."""
    return sum((abs(p.get(v, Fraction(0)) - share) for v, share in q.items()), Fraction(0)) / 2


def ordered(p: Distribution, q: Distribution) -> Fraction:
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
    """½ Σ |p−q| over the values of the table."""
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


def _far(group: Group) -> Finding:
    return Finding({"t": Fraction(1)}, holds=False)


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
