"""Naive PrivacyFrost2 (Kiyomoto and Miyake 2014), one table after the other, by the letter.

Depths count from the root = 0. `paths[value]` is a value's path: the root `*` first, the value
itself last; a NULL is a node of its own below the root. Columns are given in the order of the
policy: i = n of the paper is the highest priority, and among equal priorities the first column.

Where the paper is ambiguous: scores have to rise strictly; the escape goes on from the best table
whether it holds or not (taking it where it holds), comes back by the best coarser table that
holds and beats the best, else by the best that does not; where it ends nowhere although a finer
table holds, that one is taken and the top-down search goes on with `resume` (Fig. 3 stops).

Not of the paper: with a `limit`, a table holds if the classes smaller than k, and those that break
the rule among the rows that are left, hold no more than this share of the rows. It is judged again
as long as classes fail. A suppressed row adds no value to the score; a table that does not hold
scores as if nothing were suppressed.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

Depths = tuple[int, ...]
Score = tuple[Fraction, int]
Rule = Callable[[Sequence[Any], Sequence[Any]], bool]
"""Sensitive values of a class, and of the whole table: whether the class is safe."""


@dataclass(frozen=True)
class Column:
    """One quasi-identifier: the path of every value, its priority, its coarsest depth."""

    paths: dict[Any, tuple[str, ...]]
    priority: Fraction = Fraction(1)
    floor: int = 0

    @property
    def height(self) -> int:
        return len(next(iter(self.paths.values()))) - 1

    def node(self, value: Any, depth: int) -> tuple[str, ...] | None:
        if depth == 0:
            return ("*",)
        return None if value is None else self.paths[value][: depth + 1]


@dataclass
class PrivacyFrost:
    """A search over `rows` (tuples of quasi-identifier values)."""

    rows: Sequence[Sequence[Any]]
    sensitive: Sequence[Any]
    columns: Sequence[Column]
    k: int
    rule: Rule = lambda values, table: True
    score: str = "basic"
    d: Fraction = Fraction(2)
    p: int = 0
    tie_break: bool = False
    resume: bool = True
    limit: float = 0.0

    def __post_init__(self) -> None:
        order = sorted(range(len(self.columns)), key=lambda i: (-self.columns[i].priority, i))
        self.from_the_top = order

    # tables

    def classes(self, depths: Depths) -> list[list[int]]:
        found: dict[Any, list[int]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            key = tuple(c.node(v, d) for c, v, d in zip(self.columns, row, depths, strict=True))
            found[key].append(number)
        return list(found.values())

    def safe(self, rows: Sequence[int]) -> bool:
        values = [self.sensitive[row] for row in rows]
        return len(rows) >= self.k and self.rule(values, self.sensitive)

    @property
    def allowed(self) -> int:
        return math.floor(self.limit * len(self.rows))

    def remaining(self, depths: Depths) -> list[int] | None:
        """The rows that are published; None where the table does not hold."""
        kept = [rows for rows in self.classes(depths) if len(rows) >= self.k]
        while True:
            left = [row for rows in kept for row in rows]
            values = [self.sensitive[row] for row in left]
            safe = [rows for rows in kept if self.rule([self.sensitive[r] for r in rows], values)]
            if len(safe) == len(kept):
                break
            kept = safe
        holds = bool(kept) and len(self.rows) - len(left) <= self.allowed
        return sorted(left) if holds else None

    def check(self, depths: Depths) -> bool:
        return self.remaining(depths) is not None

    def different(self, i: int, depth: int, rows: Sequence[int] | None = None) -> int:
        among = range(len(self.rows)) if rows is None else rows
        return len({self.columns[i].node(self.rows[row][i], depth) for row in among})

    def score_of(self, depths: Depths) -> Score:
        left = self.remaining(depths) if self.limit else None
        counts = [self.different(i, depth, left) for i, depth in enumerate(depths)]
        before = [self.different(i, column.height) for i, column in enumerate(self.columns)]
        weights = [column.priority for column in self.columns]
        value = table_score(self.score, counts, before, weights, self.d)
        return value, sum(counts) if self.tie_break else 0

    def tables(self) -> list[Depths]:
        """All that the minimum levels allow."""
        ranges = [range(column.floor, column.height + 1) for column in self.columns]
        return list(itertools.product(*ranges))

    # the search

    def search(self) -> Depths | None:
        """The depths of the best table; None where none holds."""
        start = self.start()
        if start is None:
            return None
        best = self.top_down(start)
        while True:
            found = self.escape(best)
            if found is None:
                return best
            best = found

    def start(self) -> Depths | None:
        depths = []
        for i, column in enumerate(self.columns):
            depth = column.height
            while depth > column.floor and self.short(i, depth) > self.allowed:
                depth -= 1
            depths.append(depth)
        while not self.check(tuple(depths)):
            coarser = [max(d - 1, c.floor) for d, c in zip(depths, self.columns, strict=True)]
            if coarser == depths:
                return None
            depths = coarser
        return tuple(depths)

    def short(self, i: int, depth: int) -> int:
        """Rows in classes smaller than k + p of one column."""
        counts: dict[Any, int] = defaultdict(int)
        for row in self.rows:
            counts[self.columns[i].node(row[i], depth)] += 1
        return sum(count for count in counts.values() if count < self.k + self.p)

    def finer(self, depths: Depths) -> list[Depths]:
        return [
            _with(depths, i, depths[i] + 1)
            for i in self.from_the_top
            if depths[i] < self.columns[i].height
        ]

    def coarser(self, depths: Depths) -> list[Depths]:
        return [
            _with(depths, i, depths[i] - 1)
            for i in reversed(self.from_the_top)
            if depths[i] > self.columns[i].floor
        ]

    def best_of(self, tables: Sequence[Depths], beat: Score) -> Depths | None:
        """The first of the best tables that beat a score."""
        better = [t for t in tables if self.score_of(t) > beat]
        return max(better, key=self.score_of, default=None)  # max keeps the first

    def top_down(self, best: Depths) -> Depths:
        while True:
            held = [t for t in self.finer(best) if self.check(t)]
            found = self.best_of(held, self.score_of(best))
            if found is None:
                return best
            best = found

    def escape(self, best: Depths) -> Depths | None:
        """A better table that holds, found through tables that need not; None without one."""
        beat = self.score_of(best)
        current = self.best_of(self.finer(best), beat)
        if current is None:
            return None
        if self.check(current):
            return current
        while True:
            tables = self.coarser(current)
            held = self.best_of([t for t in tables if self.check(t)], beat)
            if held is not None:
                return held
            found = self.best_of(tables, beat)
            if found is None and not self.resume:
                return None
            if found is None:
                onward = self.top_down(best)
                return onward if onward != best else None
            current = found

    # partial domains

    def divided(self, depths: Depths) -> dict[frozenset[int], Depths]:
        """Classes after the partial-domain step, with the depths at which they are published."""
        if self.limit:
            left = self.remaining(depths) or []
            rest = replace(
                self,
                rows=[self.rows[row] for row in left],
                sensitive=[self.sensitive[row] for row in left],
                limit=0.0,
            )
            found = rest.divided(depths)
            return {frozenset(left[row] for row in rows): at for rows, at in found.items()}
        done: dict[frozenset[int], Depths] = {}
        todo = self.classes(depths)
        while todo:
            rows = todo.pop()
            best: tuple[Fraction, list[list[int]]] | None = None
            for i in self.from_the_top:
                parts = self.parts(rows, i)
                if len(parts) > 1 and all(self.safe(part) for part in parts):
                    gain = self.columns[i].priority * (len(parts) - 1)
                    if best is None or gain > best[0]:
                        best = gain, parts
            if best is not None:
                todo += best[1]
            else:
                lowest = tuple(self.shared(rows, i) for i in range(len(self.columns)))
                done[frozenset(rows)] = lowest
        return done

    def shared(self, rows: Sequence[int], i: int) -> int:
        """The lowest depth at which these rows have one node."""
        column = self.columns[i]
        same = [
            depth
            for depth in range(column.height + 1)
            if len({column.node(self.rows[row][i], depth) for row in rows}) == 1
        ]
        return max(same)

    def parts(self, rows: Sequence[int], i: int) -> list[list[int]]:
        depth = self.shared(rows, i)
        if depth == self.columns[i].height:
            return [list(rows)]
        found: dict[Any, list[int]] = defaultdict(list)
        for row in rows:
            found[self.columns[i].node(self.rows[row][i], depth + 1)].append(row)
        return list(found.values())


def _with(depths: Depths, i: int, depth: int) -> Depths:
    return (*depths[:i], depth, *depths[i + 1 :])


def table_score(
    kind: str,
    counts: Sequence[int],
    before: Sequence[int],
    weights: Sequence[Fraction],
    d: Fraction = Fraction(2),
) -> Fraction:
    """The score of a table with `counts` different values per column (§6 of the paper)."""
    if kind == "basic":
        return sum((v * e for v, e in zip(weights, counts, strict=True)), Fraction(0))
    if kind == "eta":
        return sum((v * eta(e, d) for v, e in zip(weights, counts, strict=True)), Fraction(0))
    return max(logarithmic(v, e, b) for v, e, b in zip(weights, counts, before, strict=True))


def eta(e: int, d: Fraction) -> int:
    return 2 if e > d else 1 if e > d / 2 else 0


def logarithmic(v: Fraction, e: int, before: int) -> Fraction:
    """v·ln(e)/ln(before) to 12 decimals; a column of one value contributes nothing."""
    if before < 2:
        return Fraction(0)
    return Fraction(round(float(v) * (math.log(e) / math.log(before)) * 1e12), 10**12)


def presampled(
    rows: Sequence[Sequence[Any]], columns: Sequence[Column], u: Depths, least: int
) -> list[int]:
    """The numbers of the rows that stay: those with `least` or more alike at depths `u`."""
    found: dict[Any, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        key = tuple(c.node(v, d) for c, v, d in zip(columns, row, u, strict=True))
        found[key].append(number)
    return sorted(n for numbers in found.values() if len(numbers) >= least for n in numbers)
