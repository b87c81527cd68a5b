"""Candidate hierarchies: suggestions for a column, their trees, and their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError
from anonymizer.explore.bench import alone
from anonymizer.explore.details import floor_shown, rare_labels
from anonymizer.hierarchy.show import Shown
from anonymizer.policy import Policy
from anonymizer.policy.builders import DATE_LEVELS
from anonymizer.policy.paths import column_path
from anonymizer.review.hierarchies import Built, built
from anonymizer.review.suggest.suggest import losses, only_quasi, suggest
from anonymizer.source.profile import kind_of

LISTS = {"date": "levels", "prefix": "lengths", "suffix": "lengths", "divisor": "divisors"}
"""Builders with a list of levels in the policy, from fine to coarse, and its option."""
MOST = 1_500
"""Largest number of nodes sent to the page; coarse levels take precedence."""


def candidates(policy: Policy, database: Database, column: str) -> list[dict[str, Any]]:
    """Suitable hierarchies for a column, built over the source, without example values."""
    if column not in policy.quasi:
        raise PolicyError.at(column_path(column), "has no role quasi", hint="role: quasi")
    listed = []
    for found in suggest(alone(policy), database, [column]):
        told = found.as_dict()
        levels = [{n: one[n] for n in ("level", "nodes", "loss")} for one in told["levels"]]
        listed.append({**told, "levels": levels})
    return listed


def tree(
    policy: Policy, database: Database, column: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """The tree of a hierarchy, from the root down, and the options that choose each level.

    Nodes with few rows, or whose label shows a rare value, are sent without their labels.
    """
    with built(only_quasi(policy, {column: dict(options)}), database, [column]) as made:
        shown = made[0].shown()
        hidden = _hidden(policy, made[0], shown)
    return {
        "column": column,
        "hierarchy": dict(options),
        "nests": shown.nests,
        "levels": [
            {"level": n, "nodes": nodes, "loss": loss, "choose": from_level(options, n)}
            for n, nodes, loss in losses(shown)
        ],
        "nodes": _nodes(shown, floor_shown(policy), hidden),
    }


def from_level(options: Mapping[str, Any], level: int) -> dict[str, Any] | None:
    """The hierarchy without the levels below `level`, from 1; None if its builder has no list."""
    name = LISTS.get(str(options.get("builder")))
    steps = options.get(name) if name is not None else None
    if steps is None and options.get("builder") == "date":
        steps = DATE_LEVELS
    if name is None or steps is None or level > len(steps):
        return None
    return {**options, name: list(steps[level - 1 :])}


def _hidden(policy: Policy, made: Built, shown: Shown) -> set[str]:
    """Labels of nodes with few rows, or that show a rare value.

    With persons, all labels are hidden, since the number of persons per node is unknown.
    """
    labels = {node.label for node in shown.nodes}
    if policy.person is not None:
        return labels
    floor = floor_shown(policy)
    source = made.session.source
    return {node.label for node in shown.nodes if node.rows < floor} | rare_labels(
        lambda text: made.session.engine.raw(text, "hierarchies"),
        source.table or source.sql,
        ident(made.column),
        labels,
        floor,
        number=kind_of(made.sql_type) == "numeric",
    )


def _nodes(shown: Shown, floor: int, hidden: set[str]) -> list[dict[str, Any]]:
    ordered = sorted(shown.nodes, key=lambda node: (-node.level, node.node))
    return [
        {
            "level": node.level,
            "node": node.node,
            "parent": node.parent,
            "label": None if node.label in hidden else node.label,
            "values": node.values,
            "rows": node.rows if node.rows >= floor else None,
        }
        for node in ordered[:MOST]
    ]
