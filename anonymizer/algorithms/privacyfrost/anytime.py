"""Continues after the search: walkers start from its result within a budget, and bound the score.

They are the walkers of `full_domain`, for which the loss is the difference from the score of the
original values. With the scores `basic` and `eta` this is a sum over the columns, so the bound of
`full_domain` applies; suppression only lowers a score. With `log` only one column counts: every
column alone is tried at every level with all others as coarse as allowed, and no table scores more
than the best level at which a single column does not require too many suppressed rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.lattice.bound import SUBSETS, bound_stages
from anonymizer.algorithms.lattice.judging import JUDGED, NODES, Judged, judge_stages
from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.recode import LEVELS
from anonymizer.algorithms.lattice.walk import walk_stages
from anonymizer.algorithms.privacyfrost.columns import Searched
from anonymizer.compile import Sql, ident
from anonymizer.source.draws import later_draw
from anonymizer.steps import Note, Stage, Step


def anytime_stages(
    judging: dict[str, Any],
    judged: tuple[Judged, ...],
    own: dict[str, Any],
    columns: Sequence[Searched],
    packed: Packing,
    *,
    budget: int,
    size: int,
    safe: tuple[Stage, ...],
) -> tuple[Stage, ...]:
    """Stages that rewrite `search_state` with the best table found by judging `budget` nodes.

    `safe` stops the run if no table holds.
    """
    lattice = {
        **judging,
        "units": UNITS,
        "first_draw": later_draw("min(draw)", "walk"),
        "optimum": "lost",
        "measures": [Sql("lost"), Sql("fewer")],
    }
    own = {
        **own,
        "nodes": NODES,
        "levels": LEVELS,
        "judged": JUDGED,
        "subsets": SUBSETS,
        # a size that would be too large for an integer is reported approximately
        "size": size if size < 10**37 else float(f"{size:.3g}"),
        "named": [(a.level, ident(f"level.{a.climbed.attribute.column}")) for a in columns],
    }
    walked = {**lattice, **{name: own[name] for name in _SEARCHED}, "given": NODES}

    def verdicts(context: dict[str, Any]) -> tuple[Step, ...]:
        return (
            Step("scores of tables", "privacyfrost/scored.sql.j2", {**own, "given": NODES}),
            Step("verdicts", "privacyfrost/walk_verdicts.sql.j2", own),
            Step("remember verdicts", "lattice/remember.sql.j2", context),
        )

    result = Step("table of the search", "privacyfrost/walk_result.sql.j2")
    walks: tuple[Stage, ...]
    if own["score"] == "log":
        alone = {**walked, "budget": budget}
        walks = (
            Step("the coarsest node", "lattice/walk_root.sql.j2", alone),
            Step(result.name, result.template, alone),
            Step("single columns", "privacyfrost/walk_singles.sql.j2", alone),
            Step("no verdicts yet", "lattice/judged.sql.j2", alone),
            Step("choose nodes", "lattice/walk_batch.sql.j2", alone),
            *judge_stages(alone, judged),
            *verdicts(alone),
        )
    else:
        for_bound = budget // 2
        walks = (
            *walk_stages(
                walked,
                judged,
                budget - for_bound,
                known=(result,),
                begin="privacyfrost/walk_begin.sql.j2",
                verdicts=verdicts,
            ),
            *bound_stages(lattice, packed, for_bound),
        )
    return (
        Step("levels of the lattice", "privacyfrost/walk_levels.sql.j2", {**own, "levels": LEVELS}),
        *walks,
        Step("best table within the budget", "privacyfrost/walk_best.sql.j2", own),
        *safe,
        Step("record of the budget", "privacyfrost/walk_told.sql.j2", own),
        Note(Step("levels of the best table", "privacyfrost/walk_measures.sql.j2", own)),
    )


_SEARCHED = ("state", "depths")
"""Tables of the search that the walkers' first steps read."""
