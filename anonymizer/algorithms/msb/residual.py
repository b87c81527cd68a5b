"""The residual phase: remaining records join groups that admit them, or are suppressed.

It proceeds in rounds until no record can join a group. In each round every group takes at most one
record; the smallest groups, and the records that need the largest groups, come first.
"""

from __future__ import annotations

from anonymizer.algorithms.msb.grouping import ARRIVED, MEMBERS_OF_TYPES, Grouping
from anonymizer.compile import work
from anonymizer.source.draws import later_draw
from anonymizer.steps import Loop, Stage, Step

SHAPES = work("msb_shapes")
TURN = work("msb_turn")
OFFERS = work("msb_offers")

PAIRS = 500_000
"""Number of pairs of bucket and type per round; the rest follow in the next rounds."""
PATIENCE = 20
"""Consecutive rounds without success after which the rest is suppressed; with at most PAIRS ×
PATIENCE pairs, no record can be placed then."""


def residual_stages(how: Grouping, rows: int) -> tuple[Stage, ...]:
    """Stages that place the remaining records, and suppress those that cannot be placed."""
    context = {
        **how.context,
        "shapes": SHAPES,
        "turn": TURN,
        "offers": OFFERS,
        "pairs": PAIRS,
        "patience": PATIENCE,
    }
    return (
        Step("before the first round", "msb/first_turn.sql.j2", context),
        Step("no offers yet", "msb/no_offers.sql.j2", context),
        Step("shapes of groups", "msb/shapes.sql.j2", {**context, "held": MEMBERS_OF_TYPES}),
        Loop(
            "place the residual",
            (
                Step("next round", "msb/next_turn.sql.j2", context),
                Step("offers", "msb/offers.sql.j2", context),
                Step("grown groups", "msb/grown.sql.j2", context),
                Step("add members", "msb/add_members.sql.j2", context),
                Step("add shapes", "msb/add_shapes.sql.j2", {**context, "held": ARRIVED}),
                Step("types of groups", "msb/regroup.sql.j2", context),
                Step("records left", "msb/settle.sql.j2", context),
            ),
            until=Step("rounds left", "msb/rounds.sql.j2", context),
            # every round that is not idle places a record
            at_most=(rows + 1) * PATIENCE,
        ),
    )


def placing_step(how: Grouping) -> Step:
    """The step that reduces `coded` to the published rows, with the number of their group."""
    return Step(
        "records into groups",
        "msb/place.sql.j2",
        {**how.context, "group_draw": later_draw("draw", "group")},
    )
