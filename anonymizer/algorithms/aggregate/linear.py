"""Tables that agree with published figures, as linear programs (HiGHS)."""

from __future__ import annotations

from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.algorithms.aggregate.cells import (
    UNBOUNDED,
    ContradictionError,
    Floats,
    Ints,
    Sums,
    propagate,
)
from anonymizer.errors import EngineError

Mask = NDArray[np.bool_]
ROUGHLY = 1e-5
"""Values of a solution that differ by less are the same."""
BATCHES = 40
"""Most rounds in which all open questions are asked at once."""
MIP_SECONDS = 20.0
"""For one program in whole numbers."""


def solver(path: str) -> Any:
    """A new solver, silent and with one thread. Raises EngineError at `path` if there is none."""
    try:
        # the class for users, derived from this one, prints a line on standard output
        from highspy._core import _Highs
    except ImportError as error:
        hint = "pip install 'sql-anonymizer[aggregate]'"
        raise EngineError.at(path, "needs a solver, and highspy is missing", hint=hint) from error
    made = _Highs()
    for option, value in {"output_flag": False, "threads": 1, "random_seed": 1}.items():
        made.setOptionValue(option, value)
    return made


def linear_program(rows: Ints, columns: Ints, values: Floats, width: int) -> Any:
    """A program without cost, of the entries of its matrix; its bounds are to be set."""
    import highspy

    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = width, int(rows.max(initial=-1)) + 1
    program.col_cost_ = np.zeros(width)
    order = np.lexsort((rows, columns))
    matrix = program.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kColwise
    matrix.start_ = np.searchsorted(columns[order], np.arange(width + 1)).astype(np.int32)
    matrix.index_ = rows[order].astype(np.int32)
    matrix.value_ = values[order]
    return program


class Tables:
    """All tables within bounds of their cells, as one program whose objective changes.

    `columns`: the cells that vary, at least those whose bounds differ; `whole`: in whole numbers.
    """

    def __init__(
        self, sums: Sums, low: Floats, high: Floats, columns: Mask, *, whole: bool = False
    ) -> None:
        import highspy

        self.cells: Ints = np.flatnonzero(columns)
        self.low, self.high = low.copy(), high.copy()
        self.place = np.full(len(low), -1)
        self.place[self.cells] = np.arange(len(self.cells))
        relations, cells, signs = sums.entries(sums.basis(columns))
        varies = columns[cells]
        used, rows = np.unique(relations[varies], return_inverse=True)
        fixed = np.where(varies, 0.0, signs * low[cells])
        right = -np.bincount(relations, fixed)[used]
        program = linear_program(rows, self.place[cells[varies]], signs[varies], len(self.cells))
        program.col_lower_, program.col_upper_ = low[self.cells], self._upper(self.cells)
        program.row_lower_ = program.row_upper_ = right
        if whole:
            program.integrality_ = [highspy.HighsVarType.kInteger] * len(self.cells)
        self.whole = whole
        self.optimal = (highspy.HighsModelStatus.kOptimal,)
        self.unbounded = (
            highspy.HighsModelStatus.kUnbounded,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        )
        self.infeasible = highspy.HighsModelStatus.kInfeasible
        self.highs = solver("TABLE")
        # the last solution stays feasible when only the objective changes
        self.highs.setOptionValue("simplex_strategy", 4)
        self.highs.passModel(program)

    def _upper(self, cells: Ints) -> Floats:
        high = self.high[cells]
        return np.where(high > UNBOUNDED / 2, np.inf, high)

    def least(self, cells: Ints, weights: Floats, seconds: float = np.inf) -> Floats | None:
        """The values of all cells where a weighted sum of some is least; None if there is no such
        table (see `status`).
        """
        places = self.place[cells].astype(np.int32)
        self.highs.changeColsCost(len(places), places, weights)
        if seconds < np.inf:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + seconds)
        self.highs.run()
        self.status = self.highs.getModelStatus()
        info = self.highs.getInfo()
        self.objective = info.objective_function_value
        self.highs.changeColsCost(len(places), places, np.zeros(len(places)))
        feasible = info.primal_solution_status == 2
        if not feasible or (not self.whole and self.status not in self.optimal):
            return None
        values = self.low.copy()
        values[self.cells] = self.highs.getSolution().col_value
        return values

    def within(self, cell: int, low: float, high: float) -> None:
        """Change the bounds of a cell."""
        high = np.inf if high > UNBOUNDED / 2 else high
        self.highs.changeColBounds(int(self.place[cell]), low, high)


class Ranges:
    """What the published figures say of some cells, in whole numbers.

    `low` and `high` are proven bounds. `decided` says for every target whether it is settled that
    the two are equal, or that they are not, and likewise whether `high` is below the minimum.
    """

    def __init__(
        self, sums: Sums, low: Floats, high: Floats, targets: Ints, minimum: int, seconds: float
    ) -> None:
        self.sums, self.low, self.high = sums, low, high
        self.targets, self.minimum = targets, minimum
        self.until = monotonic() + seconds
        self.random = np.random.default_rng(1)
        self.seen = np.full(len(low), np.inf), np.full(len(low), -np.inf)
        self.whole = self.seen[0].copy(), self.seen[1].copy()
        propagate(sums, low, high)
        if self.open().any():
            self._linear()
        self.seen = self.whole
        if self.open().any():
            self._whole()

    def open(self) -> Mask:
        """By target: whether a question is open."""
        differs, above, zero = self._questions()
        found: Mask = differs | above | zero
        return found

    def _questions(self) -> tuple[Mask, Mask, Mask]:
        """By target: whether it is open that two values are possible; that the minimum is; zero."""
        low, high = self.low[self.targets], self.high[self.targets]
        least, most = (seen[self.targets] for seen in self.seen)
        n = self.minimum
        differs = (low < high) & (most - least < ROUGHLY)
        above = (low < n) & (high >= n) & (most < n - ROUGHLY)
        zero = (low < 1) & (high < n) & (high >= 1) & (least > ROUGHLY)
        return differs, above, zero

    def _see(self, values: Floats) -> None:
        """Note a table that agrees with all that is published."""
        rounded = np.round(values)
        if self.seen is self.whole:
            values = rounded
        for seen, value in ((self.seen, values), (self.whole, rounded)):
            if seen is self.seen or np.abs(values - rounded).max() < ROUGHLY:
                np.minimum(seen[0], value, out=seen[0])
                np.maximum(seen[1], value, out=seen[1])

    def _together(self, tables: Tables, seconds: float = np.inf) -> bool:
        """Ask all open questions at once, while that settles many. False if there is no table."""
        for _ in range(BATCHES):
            before = int(self.open().sum())
            for sign in (-1.0, 1.0):
                differs, above, zero = self._questions()
                asked = self.targets[differs | (above if sign < 0 else zero)]
                if len(asked):
                    weights = sign * self.random.uniform(1, 2, len(asked))
                    values = tables.least(asked, weights, seconds)
                    if values is None and tables.status not in tables.unbounded:
                        return bool(tables.status != tables.infeasible)
                    if values is not None:
                        self._see(values)
            after = int(self.open().sum())
            if after == 0 or (before - after) * 20 < before or monotonic() > self.until:
                break
        return True

    def _linear(self) -> None:
        """Settle by linear programs what they can settle; their bounds hold in whole numbers."""
        tables = Tables(self.sums, self.low, self.high, self.low < self.high)
        if not self._together(tables):
            raise ContradictionError(int(self.targets[0]))
        one = np.ones(1)
        for at in np.flatnonzero(self.open()):
            cell = self.targets[at : at + 1]
            for sign in (-1.0, 1.0):
                differs, above, zero = (question[at] for question in self._questions())
                if monotonic() > self.until or not (differs or (above if sign < 0 else zero)):
                    continue
                values = tables.least(cell, sign * one)
                if values is None:
                    if tables.status not in tables.unbounded:
                        raise ContradictionError(int(cell[0]))
                    self.seen[1][cell] = self.whole[1][cell] = np.inf
                    continue
                self._see(values)
                if sign < 0:
                    self.high[cell] = np.minimum(self.high[cell], np.floor(values[cell] + ROUGHLY))
                else:
                    self.low[cell] = np.maximum(self.low[cell], np.ceil(values[cell] - ROUGHLY))

    def _whole(self) -> None:
        """Settle the rest in whole numbers: is there a table with another value of the cell?"""
        tables = Tables(self.sums, self.low, self.high, self.low < self.high, whole=True)
        tables.highs.setOptionValue("mip_rel_gap", 0.1)
        if not self._together(tables, MIP_SECONDS):
            raise ContradictionError(int(self.targets[0]))
        tables.highs.setOptionValue("mip_max_improving_sols", 1)
        for at in np.flatnonzero(self.open()):
            cell = int(self.targets[at])
            while self.open()[at] and monotonic() < self.until:
                low, high = self._next(int(at))
                tables.within(cell, low, high)
                values = tables.least(self.targets[at : at + 1], np.zeros(1), MIP_SECONDS)
                tables.within(cell, tables.low[cell], tables.high[cell])
                if values is not None:
                    self._see(values)
                elif tables.status != tables.infeasible:
                    break  # it stays open
                elif low > self.low[cell]:
                    self.high[cell] = low - 1
                elif high < self.high[cell]:
                    self.low[cell] = high + 1
                else:
                    raise ContradictionError(cell)

    def _next(self, at: int) -> tuple[float, float]:
        """The bounds of a target within which the next table is sought: values not yet seen."""
        cell = self.targets[at]
        differs, above, _ = (question[at] for question in self._questions())
        low, high = self.low[cell], self.high[cell]
        least, most = (seen[cell] for seen in self.whole)
        if most < least:
            return low, high
        if above:
            return float(self.minimum), high
        if differs:
            return (most + 1, high) if most < high else (low, least - 1)
        return low, 0.0


def shown_behind(sums: Sums, low: Floats, high: Floats, cell: int, shown: Mask, both: bool) -> int:
    """How many shown figures it takes to prove the upper bound of a cell, or both of its bounds."""
    tables = Tables(sums, low, high, np.ones(len(low), np.bool_))
    used = np.zeros(len(low), np.bool_)
    for sign in (-1.0, 1.0) if both else (-1.0,):
        if tables.least(np.array([cell]), np.array([sign])) is not None:
            used |= np.abs(tables.highs.getSolution().col_dual) > ROUGHLY
    return int((used & shown).sum())
