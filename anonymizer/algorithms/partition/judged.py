"""Chooses cuts under rules on persons, which cannot be judged by running sums.

At each level the admissible cuts of a class are tried in order, the best first: both halves of the
best are judged, then those of the next few if it failed, and so on. Most classes need one or two
tries. If adding persons cannot break a rule, a half that fails rules out all cuts with a half
that is contained in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from anonymizer.algorithms.persons.judging import Judging, searching
from anonymizer.algorithms.persons.rules import SETS, PersonRules
from anonymizer.algorithms.population import COMPARED, PopulationRules, compare_step
from anonymizer.compile import work
from anonymizer.privacy.hitting import has_hitting_set
from anonymizer.steps import Compute, Loop, Row, Step

OFFERED = work("offered_cuts")

TURNS = ((1, 0), (4, 5_000), (16, 50_000))
"""The cuts of a class that the first three turns judge: up to a rank, or as many as have no more
than a number of persons. One more turn judges the rest."""


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
        """An exact search whether fewer than l values hit everybody in a half."""
        return list(_search_halves(rows, l))

    step = Step("undecided halves", "mondrian/undecided_halves.sql.j2", context)
    compared = (COMPARED,) if context["compared"] is not None else ()
    tables = (OFFERED, judging.asked, judging.verdicts, *compared, SETS)
    return Compute(
        step,
        search,
        judging.searched,
        (("grp", "BIGINT"), ("holds", "BOOLEAN")),
        in_sql=searching(step, tables, "mondrian/search_halves.sql.j2", judging.searched, l),
    )


def _search_halves(rows: list[Row], l: int) -> Iterable[Row]:
    """Search halves until the first cut of their class holds, and return them with the results.

    `rows`: class, offer, group, column and the value sets, in the order of the offers.
    """
    for _, cuts in groupby(rows, lambda row: row[0]):
        for _, halves in groupby(cuts, lambda row: row[1]):
            # the smaller half is more likely to be refused
            tests = sorted(halves, key=lambda row: len(row[4]))
            refused = next((t[2] for t in tests if has_hitting_set(t[4], l - 1)), None)
            if refused is None:
                yield from ((group, True) for group in {test[2] for test in tests})
                break
            yield (refused, False)
