"""The method suppress: true figures, some of them hidden, and tables that prove it safe.

The cells are counted in the database; only they reach the solver. What it hides, and the tables
of whole numbers that agree with everything published, go back into a work table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from anonymizer.algorithms.aggregate import cells as cell
from anonymizer.algorithms.aggregate.cell_suppression import CellSums, Suppression, suppress
from anonymizer.algorithms.aggregate.groups import ATOMS, Dimension, shared_column
from anonymizer.algorithms.aggregate.method import CompiledCounts
from anonymizer.algorithms.aggregate.multiple import shared_groups
from anonymizer.algorithms.aggregate.rest import CELLS, SPLIT, cells_stages, labels_step
from anonymizer.algorithms.aggregate.sums import Summed, cell_sums
from anonymizer.compile import work
from anonymizer.errors import GuaranteeError, Problem, SourceError
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.aggregate import ALL, WITNESS
from anonymizer.policy.paths import path_text
from anonymizer.steps import Compute, Row, Step, Tell

HIDDEN = work("hidden_cells")
"""The cells that are hidden, with their figures in every witness table."""
CELL_SUMS = work("cells_with_sums")
MOST_CELLS = 12_000
NAMED = 5
"""Cells that an error names."""


def compile_suppress(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
) -> CompiledCounts:
    """The stages of a policy with the method suppress."""
    task = Search(policy, tuple(found), tuple(sums))
    labels = [name for d in found for name in d.names]
    shared = {
        "cells": CELLS,
        "hidden": HIDDEN,
        "dimensions": found,
        "shared": shared_column(found) is not None,
    }
    measures = tuple(policy.aggregate.measures)
    judged = next(n for n, of in policy.aggregate.measures.items() if of.count == task.judged)
    query = cell_sums(policy, found, sums, SPLIT) if sums else None
    reading = [Compute(query, task.read, CELL_SUMS, (("n", "BIGINT"),))] if query else []
    return CompiledCounts(
        stages=(
            *cells_stages(policy, found, sums, MOST_CELLS, leaves_out=False),
            *reading,
            Compute(
                Step("finest groups", "aggregate/finest", {"atoms": ATOMS, "labels": labels}),
                task.hide,
                HIDDEN,
                (
                    *((str(d.label), "VARCHAR") for d in found),
                    *((str(d.number), "INTEGER") for d in found),
                    (WITNESS, "INTEGER"),
                    ("figure", "BIGINT"),
                ),
                long=True,
            ),
        ),
        cells=CELLS,
        figures=Step(
            "figures of the search", "aggregate/hidden_figures", shared | {"split": SPLIT}
        ),
        labels=labels_step,
        write=lambda rows: Step(
            "write the release",
            "aggregate/hidden_release",
            shared | {"release": rows, "measures": measures},
        ),
        further={
            WITNESS: lambda rows: Step(
                "write the witnesses",
                "aggregate/witnesses",
                shared | {"release": rows, "measure": judged},
            )
        },
        words=task.words,
    )


class Search:
    """The search for the cells to hide, over the finest groups of a source."""

    def __init__(
        self, policy: AggregatePolicy, found: tuple[Dimension, ...], sums: tuple[Summed, ...]
    ) -> None:
        self.policy, self.found, self.sums = policy, found, sums
        self.outcome: Suppression | None = None
        self.of_cells: dict[tuple[Any, ...], Row] = {}
        kinds = [of.count for of in policy.aggregate.measures.values()]
        self.judged = "persons" if "persons" in kinds else "rows"

    def read(self, rows: list[Row]) -> list[Row]:
        """Keep the sums of the cells for the search, and count them."""
        width = 2 * len(self.found)
        self.of_cells = {tuple(row[:width]): row[width:] for row in rows}
        return [(len(rows),)]

    def _sums(self, shape: cell.Lattice) -> list[CellSums]:
        rows = [
            self.of_cells[*shape.names(at), *_levels(shape, at)] for at in range(len(shape.cells))
        ]
        found = []
        for number, one in enumerate(self.sums):
            at = 4 * number
            values, need, alone, most = zip(*(row[at : at + 4] for row in rows), strict=True)
            found.append(
                CellSums(
                    np.array(values, np.float64),
                    np.array(need, np.float64),
                    np.array(alone, np.bool_),
                    np.array(most, np.int64),
                    one.nonnegative,
                )
            )
        return found

    def hide(self, rows: list[Row], tell: Tell) -> list[Row]:
        """Hide small cells and others beside them, until tables prove that each may be large."""
        if not rows:
            return []
        rows = sorted(rows, key=lambda row: tuple(map(str, row[:-1])))
        dimensions = self._dimensions(rows)
        counts = self._counts(rows, dimensions)
        shape = cell.lattice(dimensions, list(counts))
        figures = np.array([*counts.values()], np.int64)
        columns = [place for place, d in enumerate(self.found) if d.of.multiple]
        split = shared_groups(shape, figures, columns[0]) if columns else None
        if split is not None:
            shape, figures = split.shape, split.counts
        listed = np.arange(len(figures)) < len(counts)
        policy = self.policy
        found = self.outcome = suppress(
            shape,
            figures,
            policy.minimum,
            cost=policy.suppress.cost,
            keep=listed & [self._stays(one, dimensions) for one in shape.cells],
            others=split.others if split is not None else None,
            repeated=split.repeated if split is not None else None,
            sums=self._sums(shape) if self.sums else (),
            insiders=policy.protect.insiders,
            seconds=policy.suppress.limit_s,
            listen=lambda doing, done, of: tell(doing, done, of - done),
        )
        GuaranteeError.refuse(self._left_open(shape, found))
        hidden = [int(at) for at in np.flatnonzero(found.hidden & listed)]
        places = {at: (*shape.names(at), *_levels(shape, at)) for at in hidden}
        return [
            (*places[at], number, int(table[at]))
            for number, table in enumerate(found.witnesses, 1)
            for at in hidden
        ]

    def _paths(self, rows: list[Row]) -> Iterator[set[tuple[str, ...]]]:
        """By dimension: the labels of every finest group at all levels."""
        start = 0
        for d in self.found:
            paths = {tuple(map(str, row[start : start + d.levels])) for row in rows}
            yield paths - {(ALL,)} if d.of.multiple else paths
            start += d.levels

    def _dimensions(self, rows: list[Row]) -> list[cell.Dimension]:
        made = []
        problems = []
        for d, paths in zip(self.found, self._paths(rows), strict=True):
            levels = [sorted({path[level] for path in paths}) for level in range(d.levels)]
            starts = np.cumsum([0, *map(len, levels)]).tolist()
            up: dict[int, int] = {}
            for path in sorted(paths):
                nodes = [
                    start + labels.index(label)
                    for start, labels, label in zip(starts, levels, path, strict=False)
                ]
                for node, above in pairwise((*nodes, starts[-1])):
                    if up.setdefault(node, above) != above:
                        problems.append(d)
            made.append(cell.Dimension.nested(d.column, levels, [up[node] for node in sorted(up)]))
        SourceError.refuse(
            Problem(
                path_text(("aggregate", "by", d.column, "hierarchy")),
                "has a label in two groups of the next level",
                hint="give the two different names",
            )
            for d in dict.fromkeys(problems)
        )
        return made

    def _counts(
        self, rows: list[Row], dimensions: Sequence[cell.Dimension]
    ) -> dict[cell.Cell, int]:
        """The persons of every published cell."""
        groupings = self.policy.groupings(tuple(d.levels for d in self.found))
        places = [
            {
                label: node
                for node, label in enumerate(one.labels)
                if one.level(node) == 0 or d.of.multiple
            }
            for d, one in zip(self.found, dimensions, strict=True)
        ]
        finest = {}
        ends = np.cumsum([0, *(d.levels for d in self.found)]).tolist()
        for row in rows:
            at = tuple(places[i][str(row[ends[i]])] for i in range(len(places)))
            finest[at] = int(row[-1])
        counts: dict[cell.Cell, int] = {}
        columns = [place for place, d in enumerate(self.found) if d.of.multiple]
        for levels in groupings:
            for at, persons in finest.items():
                # those of all groups of a column are counted beside those of each
                if any(dimensions[i].level(at[i]) != levels[i] for i in columns):
                    continue
                nodes = zip(dimensions, at, levels, strict=True)
                whole = tuple(one.above[node][level] for one, node, level in nodes)
                counts[whole] = counts.get(whole, 0) + persons
        return counts

    def _stays(self, place: cell.Cell, dimensions: Sequence[cell.Dimension]) -> bool:
        """Whether the policy says that a cell is never hidden."""
        pairs = zip(self.found, dimensions, place, strict=True)
        columns = {d.column for d, one, node in pairs if one.level(node) < d.levels}
        return any(columns == {*margin} for margin in self.policy.suppress.keep)

    def _left_open(self, shape: cell.Lattice, found: Suppression) -> Iterator[Problem]:
        for cells, said, hint in (
            (
                found.impossible,
                "would follow from the figures that keep shows",
                "leave a margin out of suppress.keep, or use coarser groups",
            ),
            (
                found.unproven,
                "can be hidden, but no table of whole numbers proves it safe",
                "use coarser groups or fewer margins, or method: rest",
            ),
        ):
            if cells:
                named = ", ".join(" / ".join(shape.names(at)) for at in cells[:NAMED])
                more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
                path = "suppress.keep" if self.policy.suppress.keep else "method"
                yield Problem(path, f"{named}{more}: {said}", hint=hint)

    def words(self, figures: Mapping[str, int]) -> str:
        """What was hidden, for the owner of the source."""
        found = self.outcome
        hidden = figures["atoms_left_out"]
        beside = found.secondary if found is not None else 0
        bound = ""
        if found is not None and found.bound is not None:
            bound = f", at a cost of {found.cost:.1f} where {found.bound:.1f} is the least possible"
        return (
            f"{figures['cells']:,} cells, of which {hidden:,} would be hidden, {beside:,} of them"
            f" to protect the others{bound}"
        )


def _levels(shape: cell.Lattice, at: int) -> tuple[int, ...]:
    pairs = zip(shape.dimensions, shape.cells[at], strict=True)
    return tuple(one.level(node) for one, node in pairs)
