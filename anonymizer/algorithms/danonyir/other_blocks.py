"""Stages that place residual persons in clusters of other blocks (Wang et al. 2018, alg. 7).

Every round is a few statements, whatever the number of persons. Each person asks for the nearest
cluster that satisfies the guarantees together with them, and a cluster takes as many at once as it
can. The bound on the number of rounds grows with the logarithm of the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.danonyir.clustering import Clustering
from anonymizer.algorithms.persons.judging import Judging
from anonymizer.compile import work
from anonymizer.steps import Compute, Loop, Stage, Step

CLOSED = work("closed_clusters")
RESIDUAL = work("residual")
REACH = work("reach")
OFFERS = work("offers")
ASKING = work("asking")
CROWDS = work("crowds")
PLACED = work("placed")

IN_REACH = 64
"""Number of clusters that a person whom no cluster of the block can take may try in total."""
NEAREST = 8
"""Number of these tried in one round; persons refused by all of them are suppressed."""
COMPARISONS = 20_000_000
"""Most pairs of person and cluster that are compared to find clusters in reach."""


def most_rounds(persons: int) -> int:
    """Number of rounds after which persons that still wait are suppressed."""
    return 2 * math.ceil(math.log2(max(persons, 2))) + 8


def place_in_other_blocks(how: Clustering, context: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Stages in which all persons of RESIDUAL try the nearest clusters of other blocks."""
    rounds = most_rounds(how.persons)
    shared = {
        **context,
        "offers": OFFERS,
        "reach": REACH,
        "crowds": CROWDS,
        "placed": PLACED,
        "nearest": NEAREST,
        "in_reach": IN_REACH,
        "comparisons": COMPARISONS,
        "rounds": rounds,
        "box_union_of_all": how.boxes.union_of_all("x", "y"),
        "verdicts": None,
        "searched": None,
    }
    body = (
        Step("offers", "danonyir/offers.sql.j2", shared),
        *(_asked(shared) if how.rules.monotone else _judged(how, shared)),
        Step("join", "danonyir/joined.sql.j2", shared),
        Step("clusters grow", "danonyir/grown.sql.j2", shared),
    )
    until = Step("persons who wait", "danonyir/pending.sql.j2", shared)
    return (
        Step("clusters in reach", "danonyir/reach.sql.j2", shared),
        Loop("place persons elsewhere", body, until=until, at_most=rounds),
    )


def _asked(shared: Mapping[str, Any]) -> tuple[Step, ...]:
    """Steps that write PLACED and RESIDUAL if added persons cannot break a rule."""
    return (
        Step("places", "danonyir/places.sql.j2", {**shared, "asking": PLACED}),
        Step("next persons", "danonyir/waiting.sql.j2", shared),
    )


def _judged(how: Clustering, shared: Mapping[str, Any]) -> tuple[Step | Compute, ...]:
    """The same if every cluster has to be judged with one person more, then with several."""
    # added persons cannot break EIR l-diversity
    rules = how.rules.without_hitting_sets()
    one, several = Judging(rules, "offered"), Judging(rules, "crowded")
    offered = {**shared, "asking": ASKING, "asked": one.asked, **one.passed}
    crowded = {**shared, "asking": ASKING, "asked": several.asked, **several.passed}
    return (
        Step("offers to judge", "danonyir/offered.sql.j2", offered),
        *one.steps(),
        Step("who asks for a cluster", "danonyir/places.sql.j2", offered),
        Step("how many at once", "danonyir/crowds.sql.j2", crowded),
        Step("clusters with all of them", "danonyir/crowded.sql.j2", crowded),
        *several.steps(),
        Step("places", "danonyir/placed.sql.j2", crowded),
        Step("next persons", "danonyir/waiting.sql.j2", offered),
    )
