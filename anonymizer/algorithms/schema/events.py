"""Events as codes, and the pruned tree that partitions the persons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.encode import CODED, UNITS, domain_steps
from anonymizer.algorithms.core.loss import cell_loss_sql, shape
from anonymizer.algorithms.core.partition import (
    Partitioning,
    choice,
    context_of,
)
from anonymizer.algorithms.lattice.recode import ONE, LatticeColumn, recoding_step
from anonymizer.compile import NumberedColumn, NumberedTable, Sql, lit, work
from anonymizer.source.child import Child
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Stage, Step

# Encodes the rows of events, and lists what their tuples are published as at every step.


OWNERS = work("owners")
STEP_SEQUENCES = work("step_sequences")
EVENTS = work("events")
ITEMS = work("items")
WHOLE = lit(ONE)
"""The loss of one suppressed cell, in the integer units of losses."""


@dataclass(frozen=True, slots=True)
class EventColumn(LatticeColumn):
    """An event column: its tables, and its columns in them."""

    @property
    def index(self) -> int:
        return self.attribute.index

    d = NumberedColumn("d")
    q = NumberedColumn("q")
    domain = NumberedTable("domain")


def event_columns(child: Child) -> tuple[EventColumn, ...]:
    """The event columns of a table, in order."""
    return tuple(EventColumn(a, position) for position, a in enumerate(child.attributes))


def with_events(children: Sequence[Child]) -> tuple[Child, ...]:
    """The tables with event columns."""
    return tuple(child for child in children if child.attributes)


def owners_step(keys: Sequence[Sql]) -> Step:
    """The step that numbers the persons and gives each its unit."""
    context = {"coded": CODED, "units": UNITS, "owners": OWNERS, "keys": list(keys)}
    return Step("numbers of persons", "schema/owners", context)


def coded_steps(child: Child) -> Iterator[Step]:
    """Steps that write the codes of a table's values, and its rows with draws and codes."""
    attributes = event_columns(child)
    yield from domain_steps(child.roles)
    for a in attributes:
        yield recoding_step(a, a.attribute.spec)
    context = {
        "kept": child.kept,
        "people": CODED,
        "domains": [a.domain for a in attributes],
        "coded": child.coded,
        "attributes": attributes,
        "name": child.name,
        "copies": child.policy.key is None,
    }
    yield Step(f"encode {child.name}", "schema/coded", context)
    if attributes:
        yield Step(f"steps of {child.name}", "schema/steps", _steps(child, attributes))


def _steps(child: Child, attributes: tuple[EventColumn, ...]) -> dict[str, Any]:
    return {
        "coded": child.coded,
        "recodings": [a.recoding for a in attributes],
        "steps": child.steps,
        "offset": child.number << 40,
        "codes": [a.c for a in attributes],
        "step_levels": child.step_levels,
        "attributes": attributes,
    }


def event_steps(children: Sequence[Child]) -> Iterator[Step]:
    """Steps that write all rows of events to one table, and each person's distinct tuples."""
    tables = with_events(children)
    parts = [(c.steps, len(c.step_levels) - 1, len(c.attributes)) for c in tables]
    yield Step(
        "steps of all tables",
        "schema/step_sequences",
        {"step_sequences": STEP_SEQUENCES, "tables": parts, "parts": [c.steps for c in tables]},
    )
    context = {
        "events": EVENTS,
        "tables": tables,
        "coded": [c.coded for c in tables],
        "steps": [c.steps for c in tables],
        "owners": OWNERS,
    }
    yield Step("rows of events", "schema/events", context)
    yield Step("events of persons", "schema/items", {"events": EVENTS, "items": ITEMS})


def steps_of(children: Sequence[Child]) -> int:
    """The number of the last step of any table."""
    return max(len(child.step_levels) for child in with_events(children)) - 1


def event_cells(children: Sequence[Child]) -> int:
    """The number of event cells that may be published, in all tables."""
    return sum(child.rows * len(child.attributes) for child in children)


# Partitions the persons by a tree that is pruned by the loss of quasi-identifiers and events.


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
    """The number of the last step of any table."""
    persons: int
    event_cells: int
    """Number of event cells in all tables."""
    events: float = 1.0
    """Weight of an event cell relative to a cell of a quasi-identifier."""


def tree_stages(
    attributes: Sequence[Attribute], how: Partitioning, rows: int, weights: Weights
) -> tuple[Stage, ...]:
    """Stages that write `members` (unit, class_id) from `units`, `items` and `step_sequences`.

    Every level of cuts is one round: classes are cut, the two halves become nodes with their costs,
    and halves whose events lose as much as the total loss of their class are not cut again.
    """
    context = context_of(attributes, how, rows)
    # (losses are weighted by at most 1)
    heaviest = max((float(a.weight) for a in attributes if a.weight is not None), default=1.0)
    own = {
        **context,
        "items": ITEMS,
        "step_sequences": STEP_SEQUENCES,
        "costs": work("event_costs"),
        "tree": work("partition_tree"),
        "bests": work("least_costs"),
        "steps": list(range(weights.last_step + 1)),
        "least": weights.least,
        "suppressed": lit(AGAINST_SUPPRESSION * int(WHOLE.text)),
        "of_cells": heaviest * COST / max(weights.persons * len(attributes), 1),
        "of_events": weights.events * COST / max(weights.event_cells, 1) / int(WHOLE.text),
        "shape": shape,
        "cell_loss": cell_loss_sql(attributes, context["levels"], "l"),
    }
    costs = Step("loss of events", "schema/event_costs", own)
    return (
        Step("places in the domains", "mondrian/positions", context),
        Step("first class", "mondrian/open", context),
        Step("no final classes yet", "mondrian/members", context),
        costs,
        Step("root of the tree", "schema/tree", {**own, "root": True, "chosen": None}),
        Loop(
            "partition tree",
            (
                *choice(how, context),
                Step("close classes", "mondrian/close_classes", context),
                Step("apply cuts", "mondrian/apply_cuts", context),
                costs,
                Step("nodes of the tree", "schema/tree", {**own, "root": False}),
                Step("close what cannot pay", "schema/close_hopeless", own),
            ),
            until=Step("open classes", "mondrian/open_classes", context),
            at_most=rows,
        ),
        Step("no costs yet", "schema/no_bests", own),
        Loop(
            "prune the tree",
            (Step("least costs", "schema/bests", own),),
            until=Step("depths to decide", "schema/to_prune", own),
            at_most=rows,
        ),
        Step("pruned tree", "schema/pruned", own),
    )
