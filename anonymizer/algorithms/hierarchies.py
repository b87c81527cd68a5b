"""Determines the hierarchies whose nodes an algorithm publishes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from anonymizer.policy import Msb, Policy
from anonymizer.policy.algorithms import ALGORITHMS
from anonymizer.policy.paths import column_path


def publishes_nodes(policy: Policy, name: str, kind: str) -> bool:
    """Whether the cells of a quasi-identifier are the nodes of its hierarchy.

    If classes are boxes, numbers and dates are published as the ranges of their classes.
    """
    options = policy.algorithm
    if policy.columns[name].hierarchy is None:
        return False
    if options.exact:
        return False
    return options.over_levels or kind == "categorical"


def unused_hierarchies(policy: Policy, kinds: Mapping[str, str]) -> Iterator[str]:
    """A warning for every hierarchy that no cell uses; `kinds` of the quasi-identifiers by name."""
    others = ", ".join(name for name, options in ALGORITHMS.items() if options.over_levels)
    for name, kind in kinds.items():
        column = policy.columns.get(name)
        if column is None or column.role != "quasi" or column.hierarchy is None:
            continue
        if publishes_nodes(policy, name, kind):
            continue
        if isinstance(policy.algorithm, Msb):
            why = "publishes quasi-identifiers as they are, but with `generalize`"
        else:
            why = (
                "publishes numbers and dates as the ranges of their classes, without the cuts, top"
                " and bottom of a hierarchy"
            )
        yield (
            f"{column_path(name, 'hierarchy')}: is not used: {policy.algorithm.name} {why};"
            f" {others} publish its nodes"
        )
