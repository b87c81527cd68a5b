"""A lower bound for the loss of all nodes that hold, if the nodes cannot be listed.

The loss of a column at level l is the sum, over the levels up to l, of what each level adds. So the
loss of a node is at least a sum over slices: slice u has the columns that are coarser than u levels
below their roots, with what this step adds. Set the columns that are at least as fine to this very
level and all others to the root: this node is coarser than the first, so it holds as far as sizes
of classes go. Hence the columns of a slice that stay fine form a set that holds by itself, and the
slice loses at least what the best of these sets leaves. A set is ruled out as soon as one of its
subsets has failed; the loss that the best remaining set leaves is a bound at any time. Slices share
their failures: what fails at a coarser level fails at a finer one.

Slices ignore that a fine column in one of them leaves less room in the others, so the bound stays
below the optimum even when all slices are settled. Every failure has to be shown by a node whose
classes are counted. The choice of these nodes only affects how soon the bound rises.

Sets are bits; columns are taken in parts of at most 15, whose bounds add up. Columns whose levels
do not nest take no part, and add nothing.
"""

from __future__ import annotations

from typing import Any

from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.lattice.walk import FAILED
from anonymizer.compile import Sql, work
from anonymizer.steps import Loop, Stage, Step

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
            "500 + md5_number_lower(concat(hex(b.draw), ':', b.slice, ' ', b.chain, ' ', b.turn,"
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
        Step("slices of the loss", "lattice/bound_slices.sql.j2", own),
        Step("sets that failed", "lattice/bound_learned.sql.j2", own),
        Step("sets of columns", "lattice/bound_subsets.sql.j2", own),
        Step("no answers yet", "lattice/bound_answers.sql.j2", own),
        Step("chains of columns", "lattice/bound_chains.sql.j2", {**own, "first": True}),
        Loop(
            "bound the loss",
            (
                Step("first columns of chains", "lattice/bound_probes.sql.j2", own),
                Step("sizes of their classes", "lattice/screen.sql.j2", judging),
                Step("keep answers", "lattice/bound_answered.sql.j2", own),
                Step("sets that fail", "lattice/bound_failed.sql.j2", own),
                Step("sets left", "lattice/bound_fewer.sql.j2", own),
                Step("narrow chains", "lattice/bound_chains.sql.j2", {**own, "first": False}),
            ),
            until=Step("chains left", "lattice/bound_left.sql.j2", own),
            at_most=1_000_000,
            asked_first=True,
        ),
    )
