"""A search within a budget: walkers look for a good node, and the rest bounds the loss."""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.lattice.bound import SUBSETS, bound_stages
from anonymizer.algorithms.lattice.judging import Judged
from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.walk import walk_stages
from anonymizer.compile import Sql
from anonymizer.source.draws import later_draw
from anonymizer.steps import Stage

BUDGET = 1_000
"""Default of the largest number of nodes to judge."""


def budgeted_stages(
    context: dict[str, Any], columns: tuple[Judged, ...], packed: Packing, budget: int
) -> tuple[Stage, ...]:
    """Stages that write `nodes` and `judged`, and also `subsets` for the bound if losses add up."""
    own = {**context, "units": UNITS, "first_draw": later_draw("min(draw)", "walk")}
    if not additive(context):
        return walk_stages(own, columns, budget)
    for_bound = budget // 2
    return (
        *walk_stages(own, columns, budget - for_bound),
        *bound_stages(own, packed, for_bound),
    )


def additive(context: dict[str, Any]) -> bool:
    """Whether the loss of a node is the sum of the losses of its columns."""
    return bool(context["optimum"] != "c_dm")


def whole_row(context: dict[str, Any]) -> Sql:
    """The loss of a suppressed row."""
    wholes: dict[str, Sql] = {measure.text: whole for measure, whole in context["penalties"]}
    return wholes.get(context["optimum"], Sql("l.records"))


__all__ = ["BUDGET", "SUBSETS", "additive", "budgeted_stages", "whole_row"]
