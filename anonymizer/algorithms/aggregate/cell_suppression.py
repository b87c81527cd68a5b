"""Which cells to hide so that no group below the minimum can be recognized, and the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from time import monotonic
from typing import Literal, TypeAlias

import numpy as np

from anonymizer.algorithms.aggregate.cells import UNBOUNDED, Floats, Ints, Lattice, Sums, propagate
from anonymizer.algorithms.aggregate.linear import (
    ROUGHLY,
    Mask,
    Ranges,
    Tables,
    linear_program,
    solver,
)

# Cells, sums and a minimum in; a mask, and tables of whole numbers that prove it, out. Nothing here
# reads a policy or a database.

Cost: TypeAlias = Literal["log", "cells", "persons"]
COSTS: dict[str, Callable[[Ints], Floats]] = {
    "log": lambda counts: np.log2(1.0 + counts),
    "cells": lambda counts: np.ones(len(counts)),
    "persons": lambda counts: counts.astype(np.float64),
}
"""What it costs to hide a cell, by its count."""
HIDDEN_COST = 1e-3
"""Of a cell that is hidden already, for each person by whom it changes."""
GROUPS = 60
"""Targets that share no sum are moved together, a part of this size at a time."""
CLEANING = 30
"""The same, while cells are shown again."""
WITNESSING = 12
"""The same, in whole numbers."""
MIP_SECONDS = 20.0
CONSTANT_SECONDS = 30.0
"""For finding cells whose figure follows from the others."""
EXACT_CELLS = 300
"""Up to so many cells the optimum is sought."""
Listener: TypeAlias = Callable[[str, int, int], None]
"""Hears of the phase, how many of its targets are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """What is hidden, and tables that show for every hidden finest group that it may be large."""

    hidden: Mask
    primary: Mask
    """The cells that are below the minimum themselves, or whose sums a contribution dominates."""
    witnesses: tuple[Ints, ...]
    """Figures of all cells. They follow from the published ones alone."""
    impossible: tuple[int, ...] = ()
    """Finest groups below the minimum that cannot be protected, whatever else is hidden."""
    unproven: tuple[int, ...] = ()
    """Hidden finest groups without a witness: nothing may be published."""
    cost: float = 0.0
    """Of the cells that are hidden besides the primary ones."""
    bound: float | None = None
    """A lower bound of that cost, where the optimum was sought."""

    @property
    def secondary(self) -> int:
        """How many cells are hidden besides the primary ones."""
        return int((self.hidden & ~self.primary).sum())


@dataclass(frozen=True, slots=True)
class CellSums:
    """A sum over persons in every cell."""

    values: Floats
    need: Floats
    """How much larger it has to be in some table; 0 or less where no contribution dominates."""
    alone: Mask
    """Where one contributes alone, and knows the sum."""
    most: Ints
    """The number of who contributes most."""
    nonnegative: bool


@dataclass(slots=True)
class Task:
    """A table with its sums, and what is to be protected in it."""

    shape: Lattice
    counts: Ints
    minimum: int
    cost: Floats
    keep: Mask
    """Cells that must stay published."""
    sums_of: Sequence[CellSums] = ()
    """The sums over persons."""
    others: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """The cells of persons who are not in a group: no table lists them, and they may be empty."""
    repeated: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """Cells that count persons more than once, and that no table lists."""
    listen: Listener = lambda phase, done, of: None
    sums: Sums = field(init=False)
    finest: Mask = field(init=False)
    small: Mask = field(init=False)
    primary: Mask = field(init=False)
    least: Floats = field(init=False)
    """The least figure of a cell that is hidden: what is listed has somebody."""
    within: list[Ints] = field(init=False)
    """By cell: the sums of which it is a part."""

    def __post_init__(self) -> None:
        self.sums = self.shape.sums
        self.finest = np.ones(len(self.counts), np.bool_)
        self.finest[self.sums.parents[self.sums.of]] = False
        self.finest[self.repeated] = False
        self.small = (self.counts > 0) & (self.counts < self.minimum)
        self.small[self.repeated] = False
        self.least = np.ones(len(self.counts))
        self.primary = self.small.copy()
        for unlisted in (self.others, self.repeated):
            self.primary[unlisted] = True
            self.least[unlisted] = 0.0
        for one in self.sums_of:
            self.primary |= one.need > 0
        order = np.argsort(self.sums.parts, kind="stable")
        ends = np.searchsorted(self.sums.parts[order], np.arange(len(self.counts) + 1))
        self.within = [self.sums.of[order[first:end]] for first, end in pairwise(ends)]

    def targets(self) -> list[int]:
        """The finest groups below the minimum."""
        return [int(cell) for cell in np.flatnonzero(self.finest & self.small)]

    def determined(self, hidden: Mask) -> Mask:
        """The cells of `others` that follow at once from a group and its total."""
        found = np.zeros(len(self.counts), np.bool_)
        for cell in self.others.tolist():
            (relation,) = self.within[cell]
            beside = [self.sums.parents[relation], *self.sums.parts_of(int(relation))]
            found[cell] = not any(hidden[one] for one in beside if one != cell)
        return found

    def tables(
        self,
        targets: Iterable[int],
        size: int,
        seed: int,
        solve: Callable[[Sequence[int]], Floats | None],
        wanted: Floats | None = None,
    ) -> Iterator[tuple[list[int], Floats | None]]:
        """Find tables in which the targets reach what is wanted of them, several at once.

        Yields the targets that do, and the table. One that cannot comes alone, with None. `wanted`:
        by cell; default: the minimum.
        """
        least = np.full(len(self.counts), float(self.minimum)) if wanted is None else wanted
        random = np.random.default_rng(seed)
        left, queue = set(targets), list[list[int]]()
        while left or queue:
            batch = queue.pop() if queue else self.apart(left, size, random)
            batch = [cell for cell in batch if cell in left]
            if not batch:
                continue
            values = solve(batch)
            if values is None and len(batch) > 1:
                queue += [batch[len(batch) // 2 :], batch[: len(batch) // 2]]
                continue
            done = batch
            if values is not None:
                done = [cell for cell in left if values[cell] >= least[cell] - ROUGHLY]
            left.difference_update(done)
            yield done, values

    def apart(self, cells: Iterable[int], size: int, random: np.random.Generator) -> list[int]:
        """Choose up to so many cells that share no sum."""
        chosen: list[int] = []
        used: set[int] = set()
        for cell in random.permutation(sorted(cells)):
            if used.isdisjoint(self.within[cell].tolist()):
                chosen.append(int(cell))
                used.update(self.within[cell].tolist())
                if len(chosen) == size:
                    break
        return chosen

    def spent(self, hidden: Mask) -> float:
        """The cost of what is hidden besides the primary cells."""
        return float(self.cost[hidden & ~self.primary].sum())


def suppress(
    shape: Lattice,
    counts: Ints,
    minimum: int,
    *,
    cost: Cost = "log",
    keep: Mask | None = None,
    sums: Sequence[CellSums] = (),
    insiders: bool = False,
    seconds: float = 60.0,
    others: Ints | None = None,
    repeated: Ints | None = None,
    listen: Listener | None = None,
) -> Suppression:
    """Hide the cells below the minimum, and others so that each of them may be as large as that.

    `counts`: of all cells of `shape`, all listed; `keep`: cells that stay published; `sums`: over
    persons, of which no contribution may be estimated, by `insiders` neither; `seconds`: for
    showing cells again and for the optimum, not for the protection itself; `others`, `repeated`:
    the cells that no table lists (`Shared`).
    """
    kept = np.zeros(len(counts), np.bool_) if keep is None else keep
    none = np.zeros(0, np.int64)
    unlisted = (none if others is None else others, none if repeated is None else repeated)
    task = Task(shape, counts, minimum, COSTS[cost](counts), kept, sums, *unlisted)
    if listen is not None:
        task.listen = listen
    refused = np.flatnonzero(task.primary & kept)
    if len(refused):
        return Suppression(task.primary, task.primary, (), impossible=tuple(map(int, refused)))
    hidden = task.primary.copy()
    fill_lines(task, hidden)
    moves = Moves(task)
    moves.hide(np.flatnonzero(hidden))
    impossible = protect(task, moves, hidden)
    if impossible:
        return Suppression(hidden, task.primary, (), impossible=tuple(impossible))
    until = monotonic() + seconds
    clean(task, hidden, until)
    bound = None
    if len(counts) <= EXACT_CELLS:
        bound = optimum(task, hidden, until)
    for one in sums:
        impossible += protect_sums(task, one, hidden, insiders)
    if impossible:
        return Suppression(hidden, task.primary, (), impossible=tuple(impossible))
    found, unproven = witnesses(task, hidden)
    for _ in range(len(counts)):
        if not unproven or not _widen(task, hidden, unproven):
            break
        found, unproven = witnesses(task, hidden)
    if not unproven and not sums:
        show_constants(task, hidden, found)
    return Suppression(
        hidden,
        task.primary,
        tuple(found),
        unproven=tuple(unproven),
        cost=task.spent(hidden),
        bound=bound,
    )


def fill_lines(task: Task, hidden: Mask) -> None:
    """In every sum: what the hidden parts leave together is enough for one of them to be large.

    Hides the cheapest part, or the total, where it is not. That is necessary, not sufficient.
    """
    sums, counts = task.sums, task.counts
    ends = np.searchsorted(sums.of, np.arange(len(sums.parents) + 1))
    changed = True
    while changed:
        changed = False
        for relation, parent in enumerate(sums.parents):
            parts = sums.parts[ends[relation] : ends[relation + 1]]
            while not hidden[parent] and (hidden[parts] & (counts[parts] < task.minimum)).any():
                left = parts[hidden[parts]]
                if counts[left].sum() - (len(left) - 1) >= task.minimum:
                    break
                free = parts[~hidden[parts] & ~task.keep[parts]]
                if not len(free) and task.keep[parent]:
                    break
                cell = free[np.argmin(task.cost[free])] if len(free) else parent
                hidden[cell] = changed = True


class Moves:
    """The table nearest to the true one in which some cells are at least as large as the minimum.

    A linear program over what is added to every cell and taken from it. What moves has to be
    hidden; what is hidden already costs next to nothing.
    """

    def __init__(self, task: Task, sums: CellSums | None = None) -> None:
        import highspy

        self.size = size = len(task.counts)
        self.values = task.counts.astype(np.float64) if sums is None else sums.values
        self.need = task.minimum - self.values if sums is None else sums.need
        entries = task.sums.entries(task.sums.basis(np.zeros(size, np.bool_)))
        self.rows, self.cells, self.signs = entries
        both = np.append(self.cells, self.cells + size), np.append(self.signs, -self.signs)
        program = linear_program(np.tile(self.rows, 2), *both, 2 * size)
        program.col_cost_ = np.tile(task.cost, 2)
        self.room = np.maximum(self.values - (task.least if sums is None else 0.0), 0.0)
        if sums is not None and not sums.nonnegative:
            self.room = np.full(size, np.inf)
        program.col_lower_ = np.zeros(2 * size)
        program.col_upper_ = np.where(np.tile(task.keep, 2), 0.0, self._upper())
        program.row_lower_ = program.row_upper_ = np.zeros(program.num_row_)
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.highs = solver("method")
        self.highs.passModel(program)

    def _upper(self) -> Floats:
        """How much can be added, and taken: what is listed keeps somebody."""
        return np.append(np.full(self.size, np.inf), self.room)

    def hide(self, cells: Ints, cost: float = HIDDEN_COST) -> None:
        """Let cells move at next to no cost."""
        both = np.append(cells, cells + self.size).astype(np.int32)
        self.highs.changeColsCost(len(both), both, np.full(len(both), cost))

    def fix(self, cells: Ints, fixed: bool = True) -> None:
        """Forbid that cells move, or allow it again."""
        both = np.append(cells, cells + self.size).astype(np.int32)
        upper = np.zeros(len(both)) if fixed else self._upper()[both]
        self.highs.changeColsBounds(len(both), both, np.zeros(len(both)), upper)

    def reach(self, targets: Sequence[int]) -> Floats | None:
        """The nearest table in which all of these are as large as needed; None if there is none."""
        for cell in targets:
            self.highs.changeColBounds(cell, max(0.0, float(self.need[cell])), np.inf)
            self.highs.changeColBounds(cell + self.size, 0.0, 0.0)
        self.highs.run()
        found = None
        if self.highs.getModelStatus() == self.optimal:
            values = np.array(self.highs.getSolution().col_value)
            found = self.values + values[: self.size] - values[self.size :]
        for cell in targets:
            self.highs.changeColBounds(cell, 0.0, np.inf)
            self.highs.changeColBounds(cell + self.size, 0.0, self.room[cell])
        return found


def protect(task: Task, moves: Moves, hidden: Mask) -> list[int]:
    """Hide what moves when the targets reach the minimum; return those that cannot reach it."""
    targets = task.targets()
    size = max(1, len(targets) // GROUPS)
    impossible: list[int] = []
    done = 0
    for cells, values in task.tables(targets, size, 1, moves.reach):
        done += len(cells)
        task.listen("hide figures", done, len(targets))
        if values is None:
            impossible += cells
            continue
        new = np.flatnonzero((np.abs(values - task.counts) > ROUGHLY) & ~hidden)
        hidden[new] = True
        moves.hide(new)
    return impossible


def protect_sums(task: Task, sums: CellSums, hidden: Mask, insiders: bool) -> list[int]:
    """Hide what moves when the dominated sums are as large as needed; return those that cannot be.

    `insiders`: then also while those of the cells in which another one contributes alone stay.
    """
    unit = float(np.median(sums.need[sums.need > 0])) if (sums.need > 0).any() else 1.0
    scaled = replace(sums, values=sums.values / unit, need=sums.need / unit)
    moves = Moves(task, scaled)
    moves.hide(np.flatnonzero(hidden))
    impossible: list[int] = []

    def hide(values: Floats) -> None:
        new = np.flatnonzero((np.abs(values - scaled.values) > ROUGHLY) & ~hidden)
        hidden[new] = True
        moves.hide(new)

    targets = [int(cell) for cell in np.flatnonzero(scaled.need > 0)]
    size, wanted = max(1, len(targets) // GROUPS), scaled.values + scaled.need
    tables: dict[int, Floats] = {}
    for cells, values in task.tables(targets, size, 4, moves.reach, wanted):
        task.listen("hide sums", len(tables), len(targets))
        if values is None:
            impossible += cells
            continue
        tables |= dict.fromkeys(cells, values)
        hide(values)
    for cell, values in tables.items() if insiders else ():
        moved = np.abs(values - scaled.values) > ROUGHLY
        others = sums.alone & (sums.most != sums.most[cell])
        for insider in np.unique(sums.most[others & moved]):
            known = np.flatnonzero(others & (sums.most == insider))
            moves.fix(known)
            other = moves.reach([cell])
            moves.fix(known, fixed=False)
            if other is None:
                impossible.append(cell)
                break
            hide(other)
    return impossible


def clean(task: Task, hidden: Mask, until: float) -> None:
    """Show cells again, the dearest first, where all targets reach the minimum without them."""
    if monotonic() > until:
        return
    moves = Moves(task)
    moves.fix(np.flatnonzero(~hidden))
    moves.hide(np.flatnonzero(task.primary))
    used: dict[int, Floats] = {}
    for cells, values in task.tables(task.targets(), CLEANING, 2, moves.reach):
        if values is not None:
            used |= dict.fromkeys(cells, values)
    secondary = np.flatnonzero(hidden & ~task.primary)
    ordered = secondary[np.argsort(-task.cost[secondary], kind="stable")]
    for number, cell in enumerate(ordered):
        if monotonic() > until:
            break
        task.listen("show figures again", number, len(ordered))
        count = task.counts[cell]
        users = [one for one, values in used.items() if abs(values[cell] - count) > ROUGHLY]
        moves.fix(np.array([cell]))
        new: dict[int, Floats] = {}
        for cells, values in task.tables(users, CLEANING, 2, moves.reach):
            if values is None:
                break
            new |= dict.fromkeys(cells, values)
        if len(new) == len(users):
            used |= new
            hidden[cell] = False
        else:
            moves.fix(np.array([cell]), fixed=False)


def optimum(task: Task, hidden: Mask, until: float) -> float | None:
    """Replace the mask by the cheapest one, by cutting planes (Fischetti and Salazar 2000).

    A program in zeros and ones chooses the cells; for each target that cannot reach the minimum
    then, the dual of that failure is a condition that the choice breaks. Returns a lower bound of
    the cost besides the primary cells, or None if there was no time for one.
    """
    import highspy

    size, best = len(task.counts), task.spent(hidden)
    moves = Moves(task)
    master = solver("method")
    lower, upper = task.primary.astype(np.float64), (~task.keep).astype(np.float64)
    for cell in range(size):
        cost = 0.0 if task.primary[cell] else float(task.cost[cell])
        master.addCol(cost, lower[cell], upper[cell], 0, np.zeros(0, np.int32), np.zeros(0))
    places = np.arange(size, dtype=np.int32)
    bound: float | None = None
    for whole in (False, True):
        if whole:
            master.changeColsIntegrality(size, places, np.ones(size, np.uint8))
            master.setOptionValue("mip_rel_gap", 1e-6)
        while monotonic() < until:
            master.setOptionValue("time_limit", master.getRunTime() + until - monotonic())
            master.run()
            info, status = master.getInfo(), master.getModelStatus()
            done = status == highspy.HighsModelStatus.kOptimal
            if whole or done:
                reached = info.mip_dual_bound if whole else info.objective_function_value
                bound = max(bound or 0.0, float(reached))
            if not done or bound is None or bound > best - ROUGHLY:
                return bound if bound is None else min(bound, best)
            chosen = np.clip(np.array(master.getSolution().col_value), 0.0, 1.0)
            chosen = np.round(chosen) if whole else chosen
            cuts = [*_cuts(task, moves, chosen)]
            for weights, need in cuts:
                at = np.flatnonzero(weights > ROUGHLY).astype(np.int32)
                master.addRow(need, np.inf, len(at), at, weights[at])
            if not cuts and whole:
                hidden[:] = chosen > 0.5
                return task.spent(hidden)
            if not cuts:
                break
    return bound


def _cuts(task: Task, moves: Moves, chosen: Floats) -> Iterator[tuple[Floats, float]]:
    """Conditions on the choice of cells that it breaks: weights, and what their sum must reach."""
    size, highs = len(task.counts), moves.highs
    most = float(task.counts[task.finest].sum())
    both = np.arange(2 * size, dtype=np.int32)
    highs.changeColsCost(2 * size, both, np.zeros(2 * size))
    upper = np.append(most * chosen, moves.room * chosen)
    highs.changeColsBounds(2 * size, both, np.zeros(2 * size), upper)
    for cell in task.targets():
        need = float(task.minimum - task.counts[cell])
        highs.changeColsCost(2, np.array([cell, cell + size], np.int32), np.array([-1.0, 1.0]))
        highs.run()
        if -highs.getInfo().objective_function_value < need - ROUGHLY:
            prices = np.array(highs.getSolution().row_dual)
            effect = -np.bincount(moves.cells, prices[moves.rows] * moves.signs, size)
            effect[cell] -= 1.0  # what a person more in a cell brings: negative where it helps
            weights = np.where(effect < 0, -effect * most, effect * moves.room)
            weights = np.minimum(np.where(np.abs(effect) > ROUGHLY, weights, 0.0), need)
            if weights @ chosen < need - ROUGHLY:
                yield weights, need
        highs.changeColsCost(2, np.array([cell, cell + size], np.int32), np.zeros(2))


def witnesses(task: Task, hidden: Mask) -> tuple[list[Ints], list[int]]:
    """Find tables of whole numbers that agree with what is published, from that alone.

    In each, some hidden finest groups have the minimum or more. Returns also those without any.
    """
    low = np.where(hidden, task.least, task.counts)
    high = np.where(hidden, UNBOUNDED, task.counts)
    asked = task.finest & hidden & ~task.determined(hidden)
    targets = [int(cell) for cell in np.flatnonzero(asked)]
    if not targets:
        return [], []
    tables = Tables(task.sums, low, high, hidden, whole=True)
    tables.highs.setOptionValue("mip_max_improving_sols", 1)
    propagate(task.sums, low, high)  # what has no upper bound then must not be in an objective
    bounded = {cell for cell in targets if high[cell] < UNBOUNDED / 2}
    random, left = np.random.default_rng(3), set(targets)

    def solve(batch: Sequence[int]) -> Floats | None:
        for cell in batch:
            tables.within(cell, task.minimum, UNBOUNDED)
        # the first table found is taken; an objective draws it to where many others are large
        others = np.array(sorted(left & bounded), np.int64)
        values = tables.least(others, -random.uniform(1, 2, len(others)), MIP_SECONDS)
        for cell in batch:
            tables.within(cell, float(task.least[cell]), UNBOUNDED)
        return None if values is None else np.round(values)

    def without(cells: Sequence[int]) -> Floats | None:
        """A table in which nobody is outside of these groups."""
        for cell in cells:
            tables.within(cell, 0.0, 0.0)
        values = tables.least(np.zeros(0, np.int64), np.zeros(0), MIP_SECONDS)
        for cell in cells:
            tables.within(cell, 0.0, UNBOUNDED)
        return None if values is None else np.round(values)

    found: list[Ints] = []
    unproven: list[int] = []
    for cells, values in task.tables(targets, WITNESSING, 3, solve):
        left.difference_update(cells)
        task.listen("find witnesses", len(targets) - len(left), len(targets))
        if values is None:
            unproven += cells
        else:
            found.append(values.astype(np.int64))
    # where enough persons can never be outside of groups, nobody may be, of all these at once
    outside = [cell for cell in unproven if not task.least[cell]]
    together = without(outside) if outside else None
    if together is not None:
        found.append(together.astype(np.int64))
        unproven = [cell for cell in unproven if task.least[cell]]
    return found, unproven


def show_constants(task: Task, hidden: Mask, found: Sequence[Ints]) -> None:
    """Show the cells again whose figure follows from the others: to hide them protects nothing.

    The tables that were found agree with them, since all tables do.
    """
    if not found:
        return
    tables = np.stack(found)
    constant = (tables == task.counts).all(axis=0) & hidden & ~task.primary
    candidates = np.flatnonzero(constant)
    if not len(candidates):
        return
    low = np.where(hidden, task.least, task.counts)
    high = np.where(hidden, UNBOUNDED, task.counts)
    ranges = Ranges(task.sums, low, high, candidates, task.minimum, CONSTANT_SECONDS)
    hidden[candidates[ranges.low[candidates] == ranges.high[candidates]]] = False


def _widen(task: Task, hidden: Mask, cells: Sequence[int]) -> bool:
    """Hide for each cell the cheapest one that stands in a sum with it; False if all are hidden."""
    before = hidden.copy()
    for cell in cells:
        around = {int(task.sums.parents[sum_]) for sum_ in task.within[cell]}
        for sum_ in task.within[cell]:
            around.update(task.sums.parts_of(int(sum_)).tolist())
        free = [one for one in around if not hidden[one] and not task.keep[one]]
        if free:
            hidden[min(free, key=lambda one: (task.cost[one], one))] = True
    return bool((hidden != before).any())
