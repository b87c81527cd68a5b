"""Searches of the generalization lattice: best first, by walkers, and within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.lattice.judging import NodeRules, judge_stages, verdict_steps
from anonymizer.algorithms.lattice.recode import Packing
from anonymizer.compile import Sql, work
from anonymizer.errors import PolicyError, Problem
from anonymizer.hierarchy.levels import Shape
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Loop, Stage, Step

# The size of a lattice: the product of the numbers of levels.


MOST_LISTED = 1_000_000
"""Number of nodes of the largest lattice whose nodes are listed."""


def lattice_size(shapes: Sequence[Shape]) -> int:
    """Number of nodes."""
    size = 1
    for shape in shapes:
        size *= shape.height + 1
    return size


def refuse_large(shapes: Sequence[Shape]) -> None:
    """Raises PolicyError for a lattice that is too large to be listed."""
    size = lattice_size(shapes)
    if size > MOST_LISTED:
        raise PolicyError(
            Problem(
                "columns",
                f"make a lattice of {size:,} nodes, too many to judge them all",
                allowed=f"at most {MOST_LISTED:,}",
                hint="fewer quasi columns or levels; a run with algorithm: {name: full_domain}"
                " searches a lattice of any size",
            )
        )


# Best-first search of the lattice, in batches, until no remaining node can be better.
#
# The result is optimal, because a node is pruned for one of two reasons only.
#
# *Its bound.* By NCP, GLM and distortion the loss of a node is at least the sum of the losses of
# its levels over all rows, because a suppressed row costs 1 per cell, and no published cell costs
# more. By C_DM (DCP) every row costs the size of its class, or the number of rows if it is
# suppressed, so a node loses at least the sum of its squared class sizes; divided by the squared
# number of rows that is Σp², at least exp(-H) for the entropy H of its classes (Jensen), and H is
# at most the sum of the columns' entropies. A node whose bound exceeds the loss of a judged node
# cannot be the optimum.
#
# *A coarser node that failed.* A class of a finer node is part of one class of the coarser: units
# in classes below k at the coarser node are in such classes at the finer: suppression for size is
# monotone, and if it exceeds the limit, no finer node holds. Distinct l-diversity has the same
# property. The other rules lack it, but all of them are preserved under union of classes: if
# nothing may be suppressed and a coarse node fails, so do all finer nodes. Otherwise a failure of
# these rules says nothing about other nodes.
#
# The order in which nodes are judged affects only the running time. Ties go to the node with the
# lowest number, on both sides of the comparison.


BATCH_ROWS = 2_000_000
"""Number of rows that one statement aggregates, which determines the nodes in a batch."""
LEAST_NODES, MOST_NODES_AT_ONCE = 8, 4096


def search_stages(
    context: dict[str, Any], columns: tuple[NodeRules, ...], *, pruned: bool = True, size: int
) -> tuple[Stage, ...]:
    """Stages that write `evaluations` from tuples and levels; without `pruned`, for every node.

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
        Step("nodes of the lattice", "lattice/nodes", own),
        Step("nodes to judge", "lattice/undecided", own),
        Step("no verdicts yet", "lattice/no_evaluations", own),
        Loop(
            "judge nodes",
            (
                Step("choose nodes", "lattice/choose", own),
                *judge_stages(own, columns),
                *verdict_steps(own),
                Step("nodes still to judge", "lattice/decide", own),
            ),
            until=Step("nodes left", "lattice/left_undecided", own),
            at_most=size,
        ),
    )


# A search of lattices that are too large to list: walkers go down, swap, and start again.
#
# Walkers work in parallel; every round judges the nodes that they propose in one batch. The judged
# nodes depend on the data, the policy and the run's draws only, never on time or threads.


STEPS = work("lattice_steps")
WALKERS = work("lattice_walkers")
REACHED = work("lattice_reached")
FOUND = work("lattice_found")
FAILED = work("lattice_failed")

TEAM = 6
"""Number of walkers, which differ in how they price steps and weight columns."""
WALKS = 6
"""Number of turns of a walker; the first starts from the coarsest node."""
AT_ONCE = 60
"""Number of nodes per walker that are judged in a round."""
PLAIN = 4
"""Number of walkers whose first walk does not weight columns; the others use random weights."""
STOPS = 16
"""Number of nodes on a path down from the coarsest that the first round of a walk judges."""
RAISED_OF = 4
"""Between 1/4 and all of the best node's columns are raised, depending on the walker."""


def walk_stages(
    context: dict[str, Any],
    columns: tuple[NodeRules, ...],
    budget: int,
    *,
    known: tuple[Step, ...] = (),
    begin: str = "lattice/walk_start",
    verdicts: Callable[[dict[str, Any]], tuple[Step, ...]] = verdict_steps,
) -> tuple[Stage, ...]:
    """Stages that write `nodes` and `evaluations` for at most `budget` nodes of any lattice.

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
        "walks": WALKS,
        "at_once": AT_ONCE,
        "raised_of": RAISED_OF,
        "plain": PLAIN,
        "stops": STOPS,
        "budget": budget,
        "column_draw": Sql(
            "md5_number(concat(hex(w.draw), ':', w.walker, ' ', w.walk, ' ', v.attribute, ' ',"
            " v.level))"
        ),
    }
    return (
        Step("the coarsest node", "lattice/walk_root", own),
        *(Step(step.name, step.template, own) for step in known),
        Step("steps between nodes", "lattice/walk_steps", own),
        Step("no verdicts yet", "lattice/no_evaluations", own),
        Step("no failures yet", "lattice/walk_failed", own),
        Step("walkers", begin, own),
        Loop(
            "walk the lattice",
            (
                Step("nodes reached", "lattice/walk_reached", own),
                Step("nodes found", "lattice/walk_found", own),
                Step("keep nodes", "lattice/walk_nodes", own),
                Step("choose nodes", "lattice/walk_batch", own),
                *judge_stages(own, columns),
                *verdicts(own),
                Step("keep failures", "lattice/walk_fails", own),
                Step("move walkers", "lattice/walk_move", own),
            ),
            until=Step("turns left", "lattice/walk_left", own),
            at_most=1_000_000,
        ),
    )


# A lower bound for the loss of all nodes that hold, if the nodes cannot be listed.
#
# The loss of a column at level l is the sum, over the levels up to l, of what each level adds. So
# the loss of a node is at least a sum over slices: slice u has the columns that are coarser than u
# levels below their roots, with what this step adds. Set the columns that are at least as fine to
# this very level and all others to the root: this node is coarser than the first, so it holds as
# far as sizes of classes go. Hence the columns of a slice that stay fine form a set that holds by
# itself, and the slice loses at least what the best of these sets leaves. A set is ruled out as
# soon as one of its subsets has failed; the loss that the best remaining set leaves is a bound at
# any time. Slices share their failures: what fails at a coarser level fails at a finer one.
#
# Slices ignore that a fine column in one of them leaves less room in the others, so the bound stays
# below the optimum even when all slices are settled. Every failure has to be shown by a node whose
# classes are counted. The choice of these nodes only affects how soon the bound rises.
#
# Sets are bits; columns are taken in parts of at most 15, whose bounds add up. Columns whose levels
# do not nest take no part, and add nothing.


SLICES = work("lattice_slices")
LEARNED = work("lattice_learned")
SUBSETS = work("lattice_subsets")
CHAINS = work("lattice_chains")
PROBES = work("lattice_probes")
PROBED = work("lattice_probed")
ANSWERS = work("lattice_answers")

WIDEST = 15
"""Most columns in a part, of which all sets are listed."""
PROBES_FOR_ONE = 3
"""Probes per judged node of the budget: a probe only counts sizes of classes."""
PRIME = 65_537
"""A prime that exceeds the number of sets of a part's columns."""
SIDE_BY_SIDE = 16
"""Most chains per slice."""


def bound_stages(context: dict[str, Any], packed: Packing, budget: int) -> tuple[Stage, ...]:
    """Stages that write `subsets`, at the cost of judging about `budget` nodes."""
    nesting = [position for position, shape in enumerate(packed.shapes) if shape.nests]
    parts = max(-(-len(nesting) // WIDEST), 1)
    width = -(-len(nesting) // parts)
    own = {
        **context,
        "slices": SLICES,
        "learned": LEARNED,
        "subsets": SUBSETS,
        "chains": CHAINS,
        "probes": PROBES,
        "probed": PROBED,
        "answers": ANSWERS,
        "failed": FAILED,
        "places": [
            (position, number // width, 1 << number % width)
            for number, position in enumerate(nesting)
        ],
        "bits": [1 << number for number in range(max(width, 1))],
        "most": 1 << width,
        "side_by_side": SIDE_BY_SIDE,
        "for_bound": PROBES_FOR_ONE * budget,
        # from half to one and a half
        "chain_draw": Sql(
            "500 + md5_number_lower(concat(hex(b.draw), ':', b.slice, ' ', b.chain, ' ', b.round,"
            " ' ', b.attribute)) % 1001"
        ),
        # a random order of the sets: multiplication by a number below the prime
        "set_draw": Sql(
            f"(s.bits * (1 + (md5_number_lower(hex(n.draw)) % {PRIME} + n.spent) % {PRIME - 1}))"
            f" % {PRIME}"
        ),
    }
    judging = {**own, "batch": PROBES, "screened": PROBED}
    return (
        Step("slices of the loss", "lattice/bound_slices", own),
        Step("sets that failed", "lattice/bound_learned", own),
        Step("sets of columns", "lattice/bound_subsets", own),
        Step("no answers yet", "lattice/bound_answers", own),
        Step("chains of columns", "lattice/bound_chains", {**own, "first": True}),
        Loop(
            "bound the loss",
            (
                Step("first columns of chains", "lattice/bound_probes", own),
                Step("sizes of their classes", "lattice/screen", judging),
                Step("keep answers", "lattice/bound_answered", own),
                Step("sets that fail", "lattice/bound_failed", own),
                Step("sets left", "lattice/bound_fewer", own),
                Step("narrow chains", "lattice/bound_chains", {**own, "first": False}),
            ),
            until=Step("chains left", "lattice/bound_left", own),
            at_most=1_000_000,
            asked_first=True,
        ),
    )


# A search within a budget: walkers look for a good node, and the rest bounds the loss.


BUDGET = 1_000
"""Default of the largest number of nodes to judge."""


def budgeted_stages(
    context: dict[str, Any], columns: tuple[NodeRules, ...], packed: Packing, budget: int
) -> tuple[Stage, ...]:
    """Stages that write `nodes` and `evaluations`, and `subsets` for the bound if losses add up."""
    own = {**context, "units": UNITS, "first_draw": later_draw("min(draw)", "walk")}
    if not additive(context):
        return walk_stages(own, columns, budget)
    for_bound = budget // 2
    return (
        *walk_stages(own, columns, budget - for_bound),
        *bound_stages(own, packed, for_bound),
    )


def additive(context: dict[str, Any]) -> bool:
    """Return whether the loss of a node is the sum of the losses of its columns."""
    return bool(context["optimum"] != "c_dm")


def suppression_loss(context: dict[str, Any]) -> Sql:
    """The loss of a suppressed row."""
    wholes: dict[str, Sql] = {measure.text: whole for measure, whole in context["penalties"]}
    return wholes.get(context["optimum"], Sql("l.records"))
