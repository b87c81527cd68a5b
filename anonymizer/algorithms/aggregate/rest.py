"""The method rest: what is small is left out of the table and its totals, and counted in one row.

Every figure is a sum of groups of at least n persons, or the number of persons left out, which is
at least n as well. The groups that are left out are not listed, so that all of these persons may be
in any one of them: no figure shows that a group has fewer than n.

Groups are left out in the order of their persons, and equal ones in that of their labels: a tie
that is drawn would show the other group when the table is published again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from anonymizer.algorithms.aggregate.groups import ATOMS, Dimension, shared_column
from anonymizer.algorithms.aggregate.method import CompiledCounts
from anonymizer.algorithms.aggregate.sums import (
    REMAINING,
    SUMS,
    Summed,
    figures,
    remaining_stages,
    sums_stages,
)
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import AggregatePolicy
from anonymizer.steps import Guard, Loop, Row, Stage, Step

SPLIT = work("split_groups")
"""The finest groups, and whether each is left out."""
NARROWED = work("narrowed_groups")
CELLS = work("counted_cells")
"""The rows of the release."""
MOST_CELLS = 2_000_000
MOST_ROUNDS = 10_000
"""Each leaves a group out at least, and the first few nearly all of them."""


def compile_rest(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
) -> CompiledCounts:
    """The stages of a policy with the method rest."""
    return compiled_cells(cells_stages(policy, found, sums, MOST_CELLS), found, _words)


def _words(figures: Mapping[str, int]) -> str:
    share = figures["persons_left_out"] / max(figures["persons"], 1)
    return f"{figures['cells']:,} cells, and {share:.1%} of the persons would be left out"


def split_columns(found: Sequence[Dimension]) -> tuple[tuple[str, str], ...]:
    """The columns of SPLIT with their types."""
    labels = ((str(name), "VARCHAR") for d in found for name in d.names)
    return *labels, ("persons", "BIGINT"), ("counted", "BIGINT"), ("left_out", "BOOLEAN")


def labels_step(d: Dimension) -> Step:
    """The query for the published labels of a column, the finest first."""
    context = {"split": SPLIT, "labels": list(d.names)}
    return Step(f"labels of {d.column}", "aggregate/labels", context)


def compiled_cells(
    stages: tuple[Stage, ...], found: Sequence[Dimension], words: Callable[[Mapping[str, int]], str]
) -> CompiledCounts:
    """What a method does whose cells are the release."""

    def write(rows: Table) -> Step:
        context = {"release": rows, "cells": CELLS, "dimensions": found}
        return Step("write the release", "aggregate/release", context)

    return CompiledCounts(
        stages=stages,
        cells=CELLS,
        figures=Step(
            "figures of the search", "aggregate/figures", {"split": SPLIT, "cells": CELLS}
        ),
        labels=labels_step,
        write=write,
        words=words,
    )


def cells_stages(
    policy: AggregatePolicy,
    found: Sequence[Dimension],
    sums: Sequence[Summed],
    most: int,
    *,
    leaves_out: bool = True,
) -> tuple[Stage, ...]:
    """The stages that count every published cell. `leaves_out`: of the groups that remain."""
    minimum = policy.minimum if leaves_out else 0
    listed = leaves_out and policy.rest.list_hidden
    split = {
        "split": SPLIT,
        "atoms": ATOMS,
        "labels": [name for d in found for name in d.names],
        "finest": [d.names[0] for d in found],
        "group_sums": SUMS,
        "sums": sums,
        "minimum": minimum,
        "leaves_out": leaves_out,
        "listed": listed,
        "shared": shared_column(found),
    }
    return (
        *sums_stages(policy, found, sums),
        Step("leave small groups out", "aggregate/split", split),
        *(_share_stages(policy, found, sums) if leaves_out else ()),
        *(remaining_stages(policy, found, sums, SPLIT) if leaves_out else ()),
        *adding_stages(
            policy, found, sums, most, minimum=minimum, listed=listed, leaves_out=leaves_out
        ),
    )


def _share_stages(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
) -> Iterator[Stage]:
    """Leave out groups in which one value is that of nearly everybody, until there are none.

    What is left out of one may bring another one over the limit.
    """
    if not policy.protect.groups:
        return
    finest = {d.column: d.names[0] for d in found}
    labels = [name for d in found for name in d.names]
    context = {
        "split": SPLIT,
        "narrowed": NARROWED,
        "columns": [*labels, Sql("persons"), Sql("counted"), *(one.total for one in sums)],
        "limits": [
            (lit(share), [name for other, name in finest.items() if other != column])
            for column, share in policy.protect.groups.items()
        ],
    }
    yield Loop(
        "groups of one value",
        (
            Step("leave groups of one value out", "aggregate/leave_uniform", context),
            Step("groups without them", "aggregate/narrowed", context),
        ),
        Step("groups of one value", "aggregate/uniform", context),
        MOST_ROUNDS,
        asked_first=True,
    )


def adding_stages(
    policy: AggregatePolicy,
    found: Sequence[Dimension],
    sums: Sequence[Summed],
    most: int,
    *,
    minimum: int,
    listed: bool,
    leaves_out: bool,
) -> tuple[Stage, ...]:
    """The stages that add up the groups of SPLIT that are not left out."""
    groupings = policy.groupings(tuple(d.levels for d in found))
    cells = {
        "cells": CELLS,
        "split": SPLIT,
        "remaining_sums": REMAINING,
        "dimensions": found,
        "numbers": [d.number for d in found],
        "groupings": [[lit(level) for level in one] for one in groupings],
        "measures": figures(policy, sums),
        "sums": sums,
        "minimum": minimum,
        "listed": listed,
        "leaves_out": leaves_out,
        "shared": shared_column(found),
    }

    def too_many(row: Row) -> Problem:
        said = f"would have {int(row[0]):,} cells"
        hint = "margins: {depth: 2}, or fewer columns and coarser groups"
        return Problem("aggregate.by", said, allowed=f"at most {most:,}", hint=hint)

    return (
        Step("add up what is shown", "aggregate/cells", cells),
        Guard(
            Step("number of cells", "aggregate/too_many", {"cells": CELLS, "most": most}),
            too_many,
            SourceError,
        ),
    )
