"""Earth mover's distances of t-closeness (Li, Li and Venkatasubramanian 2007), exact.

`p` and `q` map values to shares; None is NULL. Every value of `q` is part of the domain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

Distribution = Mapping[Any, Fraction]
ZERO = Fraction(0)


def equal_distance(p: Distribution, q: Distribution) -> Fraction:
    """Half the sum of |p - q| over all values of either."""
    return sum((abs(p.get(v, ZERO) - q.get(v, ZERO)) for v in {*p, *q}), ZERO) / 2


def ordered_distance(p: Distribution, q: Distribution, order: Sequence[Any] | None) -> Fraction:
    """Sum of |cumulative p - cumulative q| by rank, over m-1; NULL has the first rank.

    The m values are those of `q` (and `p`), sorted by `order` or by themselves.
    """
    present = {*p, *q} - {None}
    ranked = sorted(present, key=None if order is None else list(order).index)
    ranked = [None, *ranked] if None in p or None in q else ranked
    if len(ranked) < 2:
        return ZERO
    total = running = ZERO
    for value in ranked:
        running += p.get(value, ZERO) - q.get(value, ZERO)
        total += abs(running)
    return total / (len(ranked) - 1)


def hierarchical_distance(
    p: Distribution, q: Distribution, paths: Mapping[Any, Sequence[Any]]
) -> Fraction:
    """Sum over inner nodes of height/H · min(positive, negative extra of the children).

    `paths` maps each leaf to its ancestors, parent first, root last, all equally deep (H). NULL
    is a leaf on a path of its own that meets the others at the root.
    """
    height = len(next(iter(paths.values())))
    assert all(len(path) == height for path in paths.values())
    extra: dict[Any, Fraction] = {}
    parent: dict[Any, Any] = {}
    for value in {*p, *q}:
        path = [("null",)] * (height - 1) + [("root",)] if value is None else list(paths[value])
        if value is not None:
            path[-1] = ("root",)
        nodes = [(0, value)] + [(level + 1, label) for level, label in enumerate(path)]
        extra[nodes[0]] = p.get(value, ZERO) - q.get(value, ZERO)
        parent.update(pairwise(nodes))
    cost = ZERO
    for level in range(1, height + 1):
        inner = {node for node in parent.values() if node[0] == level}
        for node in inner:
            children = [extra[child] for child, above in parent.items() if above == node]
            gains = sum((e for e in children if e > 0), ZERO)
            losses = -sum((e for e in children if e < 0), ZERO)
            extra[node] = gains - losses
            cost += Fraction(level, height) * min(gains, losses)
    return cost
