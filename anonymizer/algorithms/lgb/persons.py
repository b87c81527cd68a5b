"""Separates persons in buckets, so that no bucket holds two cells of one person.

Otherwise a bucket could be one person's whole history. Such buckets of at least m different values
exist if no value and no person has more than 1/m of the cells (an edge colouring of the graph of
persons and values). They are made from the initial buckets by swaps: a cell that shares its bucket
with another cell of its person is swapped with a random cell of another bucket, if the values and
persons of both buckets stay different.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.algorithms.encode import CODED
from anonymizer.compile import work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.source.draws import later_draw
from anonymizer.steps import Guard, Loop, Row, Stage, Step

ROUNDS = 200
"""Rounds of swaps; if they do not suffice, the run fails."""
TRIES = 16
"""Number of cells that are tried for every cell in a round."""


def separation_stages(name: str, shared: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Stages that separate cells of the same person in the `placed` cells of one column."""
    number = shared["column"].number
    context = {
        **shared,
        "owned": work(f"owned_{number}"),
        "turn": work(f"swap_turn_{number}"),
        "seat_draw": later_draw("p.draw", "seat"),
        "tries": TRIES,
        "rounds": ROUNDS,
    }

    def explain(row: Row) -> Problem:
        return Problem(
            column_path(name, "protect"),
            f"{row[0]} cells could not be parted from other cells of their persons within"
            f" {ROUNDS} rounds",
            hint="relax the column's rules, or leave persons with many rows out in source.query",
        )

    crowded = Step(f"persons apart in {name}", "lgb/still_crowded.sql.j2", context)
    return (
        Step(f"owners of {name}", "lgb/owners.sql.j2", context),
        Step(f"no swaps of {name} yet", "lgb/first_swap_turn.sql.j2", context),
        Loop(
            f"part persons in {name}",
            (
                Step(f"swap cells of {name}", "lgb/swap.sql.j2", context),
                Step("count the round", "lgb/swap_turn.sql.j2", context),
            ),
            until=Step("cells that share a bucket", "lgb/more_swaps.sql.j2", context),
            at_most=ROUNDS + 1,
        ),
        Guard(crowded, explain, InfeasibleError),
        Step(f"buckets of {name} without repeated persons", "lgb/disowned.sql.j2", context),
    )


def crowding_guard(name: str, shared: Mapping[str, Any]) -> Guard:
    """A guard that no person has more cells than there can be buckets."""

    def explain(row: Row) -> Problem:
        return Problem(
            column_path(name, "protect"),
            f"{many(row[0], 'person has', 'persons have')} more sensitive cells than buckets of"
            f" {shared['least']} can be made (the most are {row[1]} of {row[2]} cells)",
            hint="lower l, or leave these persons out in source.query",
        )

    context = {**shared, "coded": CODED}
    return Guard(
        Step(f"persons with too many cells in {name}", "lgb/crowding.sql.j2", context),
        explain,
        InfeasibleError,
    )
