"""Choosing cuts under rules on persons, which no running sum can judge.

A level offers every class its admissible cuts, the best first. Both halves of the best are judged,
then of the next few where that failed, and so on: most classes need one or two tries.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import PersonRules
from anonymizer.algorithms.population import COMPARED, PopulationRules, compare_step
from anonymizer.compile import work
from anonymizer.plan import Compute, Step

OFFERED = work("offered_cuts")

BATCHES = ((1, 1), (2, 4), (5, 16), (17, None))
"""Ranks of the cuts that are judged together."""


def judged_choice(
    rules: PersonRules, population: PopulationRules | None, context: Mapping[str, Any]
) -> tuple[Step | Compute, ...]:
    """Steps that write the chosen cut of every class that has one, under all rules."""
    shared = {**context, "offered": OFFERED, "compared": None}
    steps: list[Step | Compute] = [
        Step("offer cuts", "mondrian/offer_cuts.sql.j2", shared),
        Step("no cuts chosen yet", "mondrian/nothing_chosen.sql.j2", shared),
    ]
    for first, last in BATCHES:
        judging = Judging(rules, "halves")
        own = {**shared, "first": first, "last": last or 0, "asked": judging.asked}
        steps.append(Step("halves of cuts", "mondrian/halves.sql.j2", own))
        steps += judging.steps()
        chosen = {**own, **judging.passed}
        if population is not None:
            steps.append(compare_step(population, own))
            chosen |= {"compared": COMPARED}
        steps.append(Step("choose cuts", "mondrian/choose_judged.sql.j2", chosen))
    return tuple(steps)
