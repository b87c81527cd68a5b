"""Hierarchies to choose from: suggestions for a column, their trees, and their levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError
from anonymizer.explore.bench import alone
from anonymizer.explore.details import floor_shown
from anonymizer.explore.rare import rare_labels
from anonymizer.hierarchy.show import Shown
from anonymizer.policy import Policy
from anonymizer.policy.builders import DATE_LEVELS
from anonymizer.policy.paths import column_path
from anonymizer.review.hierarchies import Built, built
from anonymizer.review.suggest.suggest import losses, only_quasi, suggest
from anonymizer.source.profile import kind_of

LISTS = {"date": "levels", "prefix": "lengths", "suffix": "lengths", "divisor": "divisors"}
"""Builders whose levels a policy lists, from fine to coarse, and the option that does."""
MOST = 1_500
"""Nodes of a tree that are sent to the page; the coarse levels go first."""


def candidates(policy: Policy, database: Database, column: str) -> list[dict[str, Any]]:
    """Hierarchies that suit a column, built over the source. Examples of values are left out."""
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
    """The tree of a hierarchy, from the root down, and what choosing each level would be.

    Nodes that few rows have, or that show a value which few have, are sent without their names.
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
    """The hierarchy without the levels below one, from 1; None where its builder lists none."""
    name = LISTS.get(str(options.get("builder")))
    steps = options.get(name) if name is not None else None
    if steps is None and options.get("builder") == "date":
        steps = DATE_LEVELS
    if name is None or steps is None or level > len(steps):
        return None
    return {**options, name: list(steps[level - 1 :])}


def _hidden(policy: Policy, made: Built, shown: Shown) -> set[str]:
    """Labels of nodes that few rows have, or that show a value which few rows have.

    Of a policy with persons it is all: it is not known how many persons have a node.
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
