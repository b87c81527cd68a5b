"""Choosing cuts under rules on persons, which no running sum can judge.

A level offers every class its admissible cuts, the best first. Both halves of the best are judged,
then of the next few where that failed, and so on: most classes need one or two tries. Where further
persons cannot break a rule, a half that is refused takes along all cuts with a half within it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from anonymizer.algorithms.persons.judging import Judging
from anonymizer.algorithms.persons.rules import SETS, PersonRules
from anonymizer.algorithms.population import COMPARED, PopulationRules, compare_step
from anonymizer.compile import work
from anonymizer.plan import Compute, Loop, Row, Step
from anonymizer.privacy import has_hitting_set

OFFERED = work("offered_cuts")

TURNS = ((1, 0), (4, 5_000), (16, 50_000))
"""What is judged of a class in the first turn, in the second, and in the third: its cuts up to a
rank, or as many as take no more persons to judge than that. What is left is judged in one more."""


def judged_choice(
    rules: PersonRules, population: PopulationRules | None, context: Mapping[str, Any]
) -> tuple[Step | Loop, ...]:
    """Steps that write the chosen cut of every class that has one, under all rules."""
    # a cut is admissible only if both halves have enough persons
    judging = Judging(rules, "halves", large=True)
    searched = judging.searched if rules.hitting else None
    shared = {
        **context,
        "offered": OFFERED,
        "turns": TURNS,
        "compared": COMPARED if population is not None else None,
        "asked": judging.asked,
        "monotone": rules.monotone,
        "verdicts": judging.verdicts,
        "searched": searched,
        "sets": SETS,
    }
    tries: list[Step | Compute] = [
        Step("halves of cuts", "mondrian/halves.sql.j2", shared),
        judging.counts(),
    ]
    if population is not None:
        tries.append(compare_step(population, shared))
    if rules.hitting:
        tries.append(_search(judging, rules.hitting, shared))
    tries.append(Step("settle cuts", "mondrian/settle_cuts.sql.j2", shared))
    return (
        Step("offer cuts", "mondrian/offer_cuts.sql.j2", shared),
        Loop(
            "try cuts",
            tuple(tries),
            until=Step("cuts to try", "mondrian/to_try.sql.j2", shared),
            at_most=len(TURNS) + 1,
        ),
        Step("chosen cuts", "mondrian/chosen_judged.sql.j2", shared),
    )


def _search(judging: Judging, l: int, context: Mapping[str, Any]) -> Compute:
    def search(rows: list[Row]) -> list[Row]:
        """Whether fewer than l values meet everybody in a half, searched exactly."""
        return list(_search_halves(rows, l))

    step = Step("undecided halves", "mondrian/undecided_halves.sql.j2", context)
    return Compute(step, search, judging.searched, (("grp", "BIGINT"), ("holds", "BOOLEAN")))


def _search_halves(rows: list[Row], l: int) -> Iterable[Row]:
    """The halves that are searched until the first cut of their class holds, with what was found.

    `rows`: class, offer, group, column and the value sets, in the order of the offers.
    """
    for _, cuts in groupby(rows, lambda row: row[0]):
        for _, halves in groupby(cuts, lambda row: row[1]):
            # the smaller half is refused sooner
            tests = sorted(halves, key=lambda row: len(row[4]))
            refused = next((t[2] for t in tests if has_hitting_set(t[4], l - 1)), None)
            if refused is None:
                yield from ((group, True) for group in {test[2] for test in tests})
                break
            yield (refused, False)
