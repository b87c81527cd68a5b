"""Best-first search of the lattice, in batches, until no remaining node can be better.

The result is optimal, because a node is pruned for one of two reasons only.

*Its bound.* By NCP, GLM and distortion the loss of a node is at least the sum of the losses of its
levels over all rows, because a suppressed row costs 1 per cell, and no published cell costs more.
By C_DM (DCP) every row costs the size of its class, or the number of rows if it is suppressed, so
a node loses at least the sum of its squared class sizes; divided by the squared number of rows
that is Σp², at least exp(-H) for the entropy H of its classes (Jensen), and H is at most the sum of
the columns' entropies. A node whose bound exceeds the loss of a judged node cannot be the optimum.

*A coarser node that failed.* A class of a finer node is part of one class of the coarser: units
in classes below k at the coarser node are in such classes at the finer: suppression for size is
monotone, and if it exceeds the limit, no finer node holds. Distinct l-diversity has the same
property. The other rules lack it, but all of them are preserved under union of classes: if nothing
may be suppressed and a coarse node fails, so do all finer nodes. Otherwise a failure of these rules
says nothing about other nodes.

The order in which nodes are judged affects only the running time. Ties go to the node with the
lowest number, on both sides of the comparison.
"""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.lattice.judging import Judged, judge_stages, verdict_steps
from anonymizer.steps import Loop, Stage, Step

BATCH_ROWS = 2_000_000
"""Number of rows that one statement aggregates, which determines the nodes in a batch."""
LEAST_NODES, MOST_NODES_AT_ONCE = 8, 4096


def search_stages(
    context: dict[str, Any], columns: tuple[Judged, ...], *, pruned: bool = True, size: int
) -> tuple[Stage, ...]:
    """Stages that write `judged` from tuples and levels; without `pruned`, for every node.

    `size`: number of nodes, which bounds the rounds.
    """
    own = {
        **context,
        "pruned": pruned,
        "rows": BATCH_ROWS,
        "least": LEAST_NODES,
        "most": MOST_NODES_AT_ONCE,
    }
    return (
        Step("nodes of the lattice", "lattice/nodes.sql.j2", own),
        Step("nodes to judge", "lattice/undecided.sql.j2", own),
        Step("no verdicts yet", "lattice/judged.sql.j2", own),
        Loop(
            "judge nodes",
            (
                Step("choose nodes", "lattice/choose.sql.j2", own),
                *judge_stages(own, columns),
                *verdict_steps(own),
                Step("nodes still to judge", "lattice/decide.sql.j2", own),
            ),
            until=Step("nodes left", "lattice/left_undecided.sql.j2", own),
            at_most=size,
        ),
    )
