"""Choosing cuts under rules on persons, which no running sum can judge.

A level offers every class its admissible cuts, the best first. Both halves of the best are judged,
then of the next few where that failed, and so on: most classes need one or two tries. Where further
persons cannot break a rule, a half that is refused takes along all cuts with a half within it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import PersonRules
from anonymizer.algorithms.population import COMPARED, PopulationRules, compare_step
from anonymizer.compile import work
from anonymizer.plan import Compute, Loop, Step

OFFERED = work("offered_cuts")

TRIES = 4
"""Batches in which the cuts of a level are judged: the best, 3 more, 12 more, all that are left."""


def judged_choice(
    rules: PersonRules, population: PopulationRules | None, context: Mapping[str, Any]
) -> tuple[Step | Loop, ...]:
    """Steps that write the chosen cut of every class that has one, under all rules."""
    judging = Judging(rules, "halves")
    shared = {
        **context,
        "offered": OFFERED,
        "compared": COMPARED if population is not None else None,
        "asked": judging.asked,
        "monotone": rules.monotone,
        **judging.passed,
    }
    tries: list[Step | Compute] = [
        Step("halves of cuts", "mondrian/halves.sql.j2", shared),
        *judging.steps(),
    ]
    if population is not None:
        tries.append(compare_step(population, shared))
    tries += [
        Step("choose cuts", "mondrian/choose_judged.sql.j2", shared),
        Step("cuts not tried yet", "mondrian/untried.sql.j2", shared),
    ]
    return (
        Step("offer cuts", "mondrian/offer_cuts.sql.j2", shared),
        Step("no cuts chosen yet", "mondrian/nothing_chosen.sql.j2", shared),
        Loop(
            "try cuts",
            tuple(tries),
            until=Step("cuts to try", "mondrian/to_try.sql.j2", shared),
            at_most=TRIES,
        ),
    )
