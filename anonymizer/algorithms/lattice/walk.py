"""A search of lattices that are too large to list: walkers go down, swap, and start again.

Walkers work in parallel; every round judges the nodes that they propose in one batch. The judged
nodes depend on the data, the policy and the run's draws only, never on time or threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anonymizer.algorithms.lattice.judging import Judged, judge_stages, verdict_steps
from anonymizer.compile import Sql, work
from anonymizer.steps import Loop, Stage, Step

STEPS = work("lattice_steps")
WALKERS = work("lattice_walkers")
REACHED = work("lattice_reached")
FOUND = work("lattice_found")
FAILED = work("lattice_failed")

TEAM = 6
"""Number of walkers, which differ in how they price steps and weight columns."""
TURNS = 6
"""Number of turns of a walker; the first starts from the coarsest node."""
AT_ONCE = 60
"""Number of nodes per walker that are judged in a round."""
PLAIN = 4
"""Number of walkers whose first turn does not weight columns; the others use random weights."""
STOPS = 16
"""Number of nodes on a path down from the coarsest that the first round of a turn judges."""
RAISED_OF = 4
"""Between 1/4 and all of the best node's columns are raised, depending on the walker."""


def walk_stages(
    context: dict[str, Any],
    columns: tuple[Judged, ...],
    budget: int,
    *,
    known: tuple[Step, ...] = (),
    begin: str = "lattice/walk_start.sql.j2",
    verdicts: Callable[[dict[str, Any]], tuple[Step, ...]] = verdict_steps,
) -> tuple[Stage, ...]:
    """Stages that write `nodes` and `judged` for at most `budget` nodes of any lattice.

    `known` adds nodes from which a search may `begin`; `verdicts` compute the loss of nodes.
    """
    own = {
        **context,
        "steps": STEPS,
        "walkers": WALKERS,
        "reached": REACHED,
        "found": FOUND,
        "failed": FAILED,
        "team": range(1, TEAM + 1),
        "turns": TURNS,
        "at_once": AT_ONCE,
        "raised_of": RAISED_OF,
        "plain": PLAIN,
        "stops": STOPS,
        "budget": budget,
        "column_draw": Sql(
            "md5_number(concat(hex(w.draw), ':', w.walker, ' ', w.turn, ' ', v.attribute, ' ',"
            " v.level))"
        ),
    }
    return (
        Step("the coarsest node", "lattice/walk_root.sql.j2", own),
        *(Step(step.name, step.template, own) for step in known),
        Step("steps between nodes", "lattice/walk_steps.sql.j2", own),
        Step("no verdicts yet", "lattice/judged.sql.j2", own),
        Step("no failures yet", "lattice/walk_failed.sql.j2", own),
        Step("walkers", begin, own),
        Loop(
            "walk the lattice",
            (
                Step("nodes reached", "lattice/walk_reached.sql.j2", own),
                Step("nodes found", "lattice/walk_found.sql.j2", own),
                Step("keep nodes", "lattice/walk_nodes.sql.j2", own),
                Step("choose nodes", "lattice/walk_batch.sql.j2", own),
                *judge_stages(own, columns),
                *verdicts(own),
                Step("keep failures", "lattice/walk_fails.sql.j2", own),
                Step("move walkers", "lattice/walk_move.sql.j2", own),
            ),
            until=Step("turns left", "lattice/walk_left.sql.j2", own),
            at_most=1_000_000,
        ),
    )
