"""What readers of hidden sums can compute of them: bounds over all tables that agree.

The variables are the sums of the finest groups that are hidden, and every published total is an
equation; the search has all cells for variables. The bounds follow from the published figures; how
far they have to be from the true sums follows from the source, so that only a run can judge that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.contract.checks import Check
from anonymizer.contract.counts_layout import INTERVALS, Counts
from anonymizer.errors import EngineError

NEARLY = 1e-6
"""Of a sum: what solvers may be wrong by."""
Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class HiddenSums:
    """The sums of one measure in every cell of a release."""

    under: Any
    """By cell and hidden finest group: 1 if the group is in the cell. A sparse matrix."""
    rest: Vector
    """By cell: the sum of its other finest groups."""
    shown: Mask
    values: Vector
    need: Vector
    """How much larger than the true sum the largest possible one has to be."""
    alone: Mask
    """Where one contributes alone, and knows the sum."""
    most: NDArray[np.int64]
    """The number of who contributes most."""
    nonnegative: bool

    def broken(self, *, insiders: bool) -> int:
        """How many sums can be estimated more closely than allowed."""
        return sum(not self._is_open(int(at), insiders) for at in np.flatnonzero(self.need > 0))

    def _is_open(self, cell: int, insiders: bool) -> bool:
        wanted = self.values[cell] + self.need[cell]
        wanted -= NEARLY * abs(wanted)
        possible = self._largest(cell, None)
        if possible is not None and possible[cell] < wanted:
            return False
        others = self.alone & ~self.shown & (self.most != self.most[cell])
        for insider in np.unique(self.most[others]) if insiders else ():
            known = others & (self.most == insider)
            if possible is not None and np.allclose(
                possible[known], self.values[known], rtol=NEARLY, atol=NEARLY
            ):
                continue  # this table is one for whoever knows these sums as well
            other = self._largest(cell, known)
            if other is not None and other[cell] < wanted:
                return False
        return True

    def _largest(self, cell: int, known: Mask | None) -> Vector | None:
        """The sums of all cells where that of one is largest; None if it has no bound."""
        from scipy.optimize import linprog

        if not self.under.shape[1]:
            return self.rest
        stated = self.shown if known is None else self.shown | known
        stated = stated & (np.asarray(self.under.sum(axis=1)).ravel() > 0)
        unit = float(np.abs(self.values).max()) or 1.0
        found = linprog(
            -self.under[[cell]].toarray().ravel(),
            A_eq=self.under[stated] if stated.any() else None,
            b_eq=(self.values - self.rest)[stated] / unit if stated.any() else None,
            bounds=(0 if self.nonnegative else None, None),
            method="highs",
        )
        if found.status == 3:
            return None
        if found.status != 0:
            raise EngineError.at("method", f"the solver gave up: status {found.status}")
        sums: Vector = self.rest + self.under @ (found.x * unit)
        return sums


def interval_checks(
    rows: Sequence[Sequence[Any]],
    counts: Counts,
    nonnegative: Sequence[bool],
    sql: str,
    *,
    insiders: bool,
) -> Iterator[Check]:
    """The checks of hidden sums.

    `rows`: of every cell its labels and levels, whether it is shown, and for each measure the sum,
    how much larger it has to be possible, whether one contributes alone, and who contributes most.
    """
    sums = [*_sums(rows, counts, nonnegative)] if rows else []
    for name in INTERVALS[: 1 + insiders]:
        failing = sum(one.broken(insiders=name == "insider_interval") for one in sums)
        yield Check(name, None, 0, failing, failing == 0, sql, failing)


def _sums(
    rows: Sequence[Sequence[Any]], counts: Counts, nonnegative: Sequence[bool]
) -> Iterator[HiddenSums]:
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        hint = "pip install 'sql-anonymizer[aggregate]'"
        raise EngineError.at("method", "needs a solver: scipy", hint=hint) from error
    width = 2 * len(counts.by)
    finest = [at for at, row in enumerate(rows) if not any(row[1:width:2])]
    shown = np.array([bool(row[width]) for row in rows], np.bool_)
    above = [_labels(counts, i, [rows[at] for at in finest]) for i in range(len(counts.by))]
    under = [
        np.logical_and.reduce([above[i][row[2 * i + 1]] == row[2 * i] for i in range(len(above))])
        for row in rows
    ]
    free = ~shown[finest]
    hidden = csr_array(np.array([one[free] for one in under], np.float64))
    other = csr_array(np.array([one[~free] for one in under], np.float64))
    for number, positive in enumerate(nonnegative):
        at = width + 1 + 4 * number
        values, need, alone, most = zip(*(row[at : at + 4] for row in rows), strict=True)
        total = np.array(values, np.float64)
        yield HiddenSums(
            hidden,
            other @ total[finest][~free],
            shown,
            total,
            np.array(need, np.float64),
            np.array(alone, np.bool_),
            np.array(most, np.int64),
            positive,
        )


def _labels(counts: Counts, i: int, rows: Sequence[Sequence[Any]]) -> list[NDArray[Any]]:
    """By level of a column: the label of every finest group there."""
    column = counts.by[i]
    paths = {path[0]: path for path in column.nested}
    own = [str(row[2 * i]) for row in rows]
    levels = [[paths[label][level] for label in own] for level in range(column.levels) if paths]
    return [np.array(one) for one in (*(levels or [own]), ["(all)"] * len(own))]
