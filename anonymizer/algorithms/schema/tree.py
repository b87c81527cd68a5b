"""Partitions the persons by a tree that is pruned by the loss of quasi-identifiers and events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.algorithms.partition.loss import shape
from anonymizer.algorithms.partition.partition import (
    CHOSEN,
    MEMBERS,
    OPEN,
    POSITIONS,
    Partitioning,
    choice,
    context_of,
)
from anonymizer.algorithms.schema.events import ITEMS, LADDERS, WHOLE
from anonymizer.compile import lit, work
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Stage, Step

AGAINST_SUPPRESSION = 4
"""The cost of a cell that is left out, relative to `*`."""
COST = 10**18
"""The cost of a release in which all cells of one kind lose everything."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The parameters by which the tree is pruned."""

    least: int
    """Fewest persons that have to share an event cell."""
    last_step: int
    """The last step of the highest ladder."""
    persons: int
    event_cells: int
    """Number of event cells in all tables."""
    events: float = 1.0
    """Weight of an event cell relative to a cell of a quasi-identifier."""


def tree_stages(
    attributes: Sequence[Attribute], how: Partitioning, rows: int, weights: Weights
) -> tuple[Stage, ...]:
    """Stages that write `members` (unit, class_id) from `units`, `items` and `ladders`.

    Every level of cuts is one round: classes are cut, the two halves become nodes with their costs,
    and halves whose events lose as much as the total loss of their class are not cut again.
    """
    context = context_of(attributes, how, rows)
    own = {
        **context,
        "items": ITEMS,
        "ladders": LADDERS,
        "costs": work("event_costs"),
        "tree": work("partition_tree"),
        "bests": work("least_costs"),
        "steps": list(range(weights.last_step + 1)),
        "least": weights.least,
        "suppressed": lit(AGAINST_SUPPRESSION * int(WHOLE.text)),
        "of_cells": COST / max(weights.persons * len(attributes), 1),
        "of_events": weights.events * COST / max(weights.event_cells, 1) / int(WHOLE.text),
        "shape": shape,
    }
    costs = Step("loss of events", "schema/event_costs.sql.j2", own)
    return (
        Step("places in the domains", "mondrian/positions.sql.j2", context),
        Step("first class", "mondrian/open.sql.j2", context),
        Step("no final classes yet", "mondrian/members.sql.j2", context),
        costs,
        Step("root of the tree", "schema/tree.sql.j2", {**own, "root": True, "chosen": None}),
        Loop(
            "partition tree",
            (
                *choice(how, context),
                Step("close classes", "mondrian/close_classes.sql.j2", context),
                Step("apply cuts", "mondrian/apply_cuts.sql.j2", context),
                costs,
                Step("nodes of the tree", "schema/tree.sql.j2", {**own, "root": False}),
                Step("close what cannot pay", "schema/close_hopeless.sql.j2", own),
            ),
            until=Step("open classes", "mondrian/open_classes.sql.j2", context),
            at_most=rows,
        ),
        Step("no costs yet", "schema/no_bests.sql.j2", own),
        Loop(
            "prune the tree",
            (Step("least costs", "schema/bests.sql.j2", own),),
            until=Step("depths to decide", "schema/to_prune.sql.j2", own),
            at_most=rows,
        ),
        Step("pruned tree", "schema/pruned.sql.j2", own),
    )


__all__ = ["CHOSEN", "MEMBERS", "OPEN", "POSITIONS", "Weights", "tree_stages"]
