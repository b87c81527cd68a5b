"""Stages that assign residual persons to classes or suppress them (Wang et al. 2018, alg. 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.danonyir.clustering import Clustering
from anonymizer.algorithms.danonyir.other_blocks import CLOSED, RESIDUAL, place_in_other_blocks
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.compile import lit, work
from anonymizer.steps import Note, Stage, Step

SETTLING = work("settling_blocks")
SETTLED = work("settled_blocks")


def residual_stages(how: Clustering) -> tuple[Stage, ...]:
    """Stages that write MEMBERS from the clusters.

    The residual persons of a block join clusters of their block, one by one in secret-keyed order,
    each the nearest that satisfies the guarantees with them, unless suppression costs less (1 per
    cell) and the policy allows it. If no cluster of the block can take a person, the nearest of all
    blocks are tried.
    """
    context = residual_context(how)
    stages: list[Stage] = [
        Step("residual persons", "danonyir/settling.sql.j2", context),
        Note(Step("number of residual persons", "danonyir/residual.sql.j2", context)),
        Step("place residual persons", "danonyir/settle.sql.j2", context),
        Step("members of clusters", "danonyir/settled.sql.j2", context),
    ]
    if how.block_size != "all":
        stages += [
            Step("clusters that hold", "danonyir/closed.sql.j2", context),
            Step("persons whom no cluster takes", "danonyir/homeless.sql.j2", context),
            *place_in_other_blocks(how, context),
        ]
    return tuple(stages)


def residual_context(how: Clustering) -> Mapping[str, Any]:
    """The parameters that the templates of residual persons share."""
    return {
        **how.context(),
        "last": how.last,
        "monotone": how.rules.monotone,
        "carried_union": how.carried.union,
        "holds_united": how.carried.holds_united,
        "settling": SETTLING,
        "settled": SETTLED,
        "units": UNITS,
        "members": MEMBERS,
        "closed": CLOSED,
        "residual": RESIDUAL,
        "whole": lit(sum(one.whole for one in how.boxes.shapes)) if how.leaves_out else None,
    }
