"""Stages that assign residual persons to classes or suppress them (Wang et al. 2018, alg. 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.danonyir.clustering import Clustering
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.compile import lit, work
from anonymizer.steps import Compute, Loop, Note, Stage, Step

SETTLING = work("settling_blocks")
SETTLED = work("settled_blocks")
CLOSED = work("closed_clusters")
RESIDUAL = work("residual")
REACH = work("reach")
OFFERS = work("offers")
PLACED = work("placed")

IN_REACH = 64
"""Clusters that a person whom no cluster of the block can take may try in the end."""
NEAREST = 8
"""Clusters among these that are tried in one round; who is refused by all of them is left out."""
COMPARISONS = 20_000_000
"""Persons times clusters that are compared at most to find those in reach."""


def residual_stages(how: Clustering) -> tuple[Stage, ...]:
    """Stages that write MEMBERS from the clusters.

    The residual persons of a block join clusters of their block, one by one in secret-keyed order,
    each the nearest that still holds the guarantees then, unless suppression costs less (one per
    cell) and the policy allows any. If no cluster of the block can take a person, the nearest ones
    of all blocks are tried.
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
            *place_everywhere(how, context),
        ]
    return tuple(stages)


def place_everywhere(how: Clustering, context: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Stages in which all persons of RESIDUAL try the nearest clusters of other blocks."""
    shared = {**context, "verdicts": None, "searched": None}
    body: list[Step | Compute] = [Step("offers", "danonyir/offers.sql.j2", shared)]
    if not how.rules.monotone:
        judging = Judging(how.rules, "offered")
        shared |= {"asked": judging.asked, **judging.passed}
        body.append(Step("offers to judge", "danonyir/offered.sql.j2", shared))
        body += judging.steps()
    body += [
        Step("places", "danonyir/places.sql.j2", shared),
        Step("join", "danonyir/joined.sql.j2", shared),
        Step("clusters grow", "danonyir/grown.sql.j2", shared),
        Step("next persons", "danonyir/waiting.sql.j2", shared),
    ]
    until = Step("persons who wait", "danonyir/pending.sql.j2", shared)
    return (
        Step("clusters in reach", "danonyir/reach.sql.j2", shared),
        Loop("place persons elsewhere", tuple(body), until=until, at_most=how.persons + 1),
    )


def residual_context(how: Clustering) -> Mapping[str, Any]:
    """The parameters that the templates of residual persons share."""
    return {
        **how.context(),
        "last": how.last,
        "monotone": how.rules.monotone,
        "carried_union": how.carried.union,
        "box_union": how.boxes.union("x", "y"),
        "holds_united": how.carried.holds_united,
        "settling": SETTLING,
        "settled": SETTLED,
        "units": UNITS,
        "members": MEMBERS,
        "closed": CLOSED,
        "residual": RESIDUAL,
        "offers": OFFERS,
        "placed": PLACED,
        "reach": REACH,
        "nearest": NEAREST,
        "in_reach": IN_REACH,
        "comparisons": COMPARISONS,
        "whole": lit(sum(one.whole for one in how.boxes.shapes)) if how.leaves_out else None,
    }
