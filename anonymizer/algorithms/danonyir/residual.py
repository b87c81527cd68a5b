"""The stages that place residual persons (Wang et al. 2018, algorithm 7), or leave them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.danonyir.clustering import GROUPS, STATE, Clustering, empty
from anonymizer.algorithms.mondrian.partition import MEMBERS
from anonymizer.algorithms.persons.boxes import SCALE
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.prepare import UNITS
from anonymizer.compile import lit, work
from anonymizer.plan import Compute, Loop, Note, Stage, Step

CLOSED = work("closed_clusters")
RESIDUAL = work("residual")
HOMELESS = work("homeless")
OFFERS = work("offers")
PLACED = work("placed")

NEAREST = 8
"""Clusters of other blocks that are tried for a person whom no cluster of the block can take."""


def residual_stages(how: Clustering) -> tuple[Stage, ...]:
    """Stages that write MEMBERS from STATE and GROUPS.

    The residual persons of a block join clusters of their block, one by one in secret-keyed order,
    each the nearest that still holds the guarantees then, unless suppression costs less (one per
    cell). A person whom none of the block can take tries the nearest ones of all blocks.
    """
    context = residual_context(how)
    stages: list[Stage] = [
        Step("residual persons", "danonyir/left.sql.j2", context),
        Note(Step("number of residual persons", "danonyir/residual.sql.j2", context)),
        Step("clusters that hold", "danonyir/closed.sql.j2", context),
        Step("members of these", "danonyir/settled.sql.j2", context),
        empty("nobody homeless yet", HOMELESS, ("block", "unit")),
        _loop("place residual persons", how, context, everywhere=False),
    ]
    if how.block_size != "all":
        stages.append(place_everywhere(how, {**context, "residual": HOMELESS}))
    return tuple(stages)


def place_everywhere(how: Clustering, context: Mapping[str, Any]) -> Loop:
    """The loop in which all persons of `residual` try the nearest clusters of the whole table."""
    return _loop("place persons elsewhere", how, context, everywhere=True)


def _loop(name: str, how: Clustering, context: Mapping[str, Any], *, everywhere: bool) -> Loop:
    shared = {**context, "everywhere": everywhere, "verdicts": None, "searched": None}
    body: list[Step | Compute] = [Step("offers", "danonyir/offers.sql.j2", shared)]
    if not how.rules.monotone:
        judging = Judging(how.rules, "offered")
        shared |= {"asked": judging.asked, **judging.passed}
        body.append(Step("offers to judge", "danonyir/offered.sql.j2", shared))
        body += judging.steps()
    if not everywhere:
        body.append(Step("homeless persons", "danonyir/homeless.sql.j2", shared))
    body += [
        Step("places", "danonyir/places.sql.j2", shared),
        Step("join", "danonyir/joined.sql.j2", shared),
        Step("clusters grow", "danonyir/grown.sql.j2", shared),
        Step("next persons", "danonyir/waiting.sql.j2", shared),
    ]
    until = Step("persons who wait", "danonyir/pending.sql.j2", shared)
    return Loop(name, tuple(body), until=until, at_most=how.persons + 1)


def residual_context(how: Clustering) -> Mapping[str, Any]:
    """The parameters that the templates of residual persons share."""
    return {
        **how.context(),
        "state": STATE,
        "groups": GROUPS,
        "units": UNITS,
        "members": MEMBERS,
        "closed": CLOSED,
        "residual": RESIDUAL,
        "homeless": HOMELESS,
        "offers": OFFERS,
        "placed": PLACED,
        "verdicts": None,
        "searched": None,
        "nearest": NEAREST,
        "whole": lit(SCALE * len(how.boxes.shapes)),
    }
