"""Naive local recoding by seeds and division (Xu et al. 2006), as Li and He (2022), Alg. 4, use it.

Conventions (loss of a set: see `attributes`; the NCP of two rows is the sum over attributes of the
loss of their two values):

*find_seeds*: start with u = the row of lowest tie. A round sets v to the row farthest from u, then
u to the row farthest from v; three rounds, ended early when a round does not raise the distance of
u and v. Ties: lowest tie; a row is never its own partner. If all rows are equal there are no seeds.

*division="seeds"* (set-based): every other row joins the seed it is nearer to, ties join u.
*division="growing"* (sequential): the other rows one by one, by tie, each to the group G with the
lower (|G|+1)·NCP(G + row), ties to u's.

*Stop rules of Alg. 4*: a set below 2k is final; if either part is below k (or breaks the
constraint), or there are no seeds, the whole set is final.

*rebalance* (Xu): a division is taken if at least one part has k rows; parts above k are divided
further. Then, as long as a group is below k, the smallest (ties: lowest tie) is mended by the
cheaper of (A) pulling its k-|G| missing rows from one group of at least 2k-|G| rows, each time the
row with the smallest NCP(G + row), ties lowest tie; (B) merging with one group. Cost: growth of
the summed loss. Ties: A before B, then the partner that holds the lowest tie. With a constraint,
only repairs whose results satisfy it are taken; without any, the group merges by cost alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.attributes import Attribute
from tests.oracle.partition import Constraint, Partition, Rows, no_constraint

ROUNDS = 3
Repair = tuple[Fraction, Rows, tuple[Rows, ...]]  # cost, partner, groups that replace both


@dataclass(frozen=True)
class SeedsAndDivision:
    """`table[row][j]` is the value of attribute `attributes[j]`; `tie[row]` orders the rows."""

    table: Sequence[Sequence[Any]]
    attributes: Sequence[Attribute]
    k: int
    division: str = "seeds"
    rebalance: bool = False
    constraint: Constraint = no_constraint
    tie: Sequence[Any] | None = None

    def partition(self) -> Partition:
        """The final groups, as sets of row indexes."""
        if self.division not in ("seeds", "growing"):
            raise ValueError(f"unknown division {self.division!r}")
        everything = self._by_tie(range(len(self.table)))
        groups = list(self._refine(everything)) if everything else []
        return frozenset(map(frozenset, self._mended(groups) if self.rebalance else groups))

    def _refine(self, rows: Rows) -> Iterator[Rows]:
        parts = self.divide(rows) if self._divisible(rows) else None
        if parts is None:
            yield rows
            return
        good = [len(part) >= self.k and self.constraint(part) for part in parts]
        if all(good) or (self.rebalance and any(good)):
            for part in parts:
                yield from self._refine(part)
        else:
            yield rows

    def _divisible(self, rows: Rows) -> bool:
        return len(rows) > self.k if self.rebalance else len(rows) >= 2 * self.k

    def find_seeds(self, rows: Rows) -> tuple[int, int] | None:
        """Two rows far apart, or None if all are equal."""
        rows = self._by_tie(rows)
        u, far = rows[0], Fraction(0)
        v = u
        for _ in range(ROUNDS):
            next_v = self._farthest(u, rows)
            next_u = self._farthest(next_v, rows)
            distance = self.ncp((next_u, next_v))
            if distance <= far:
                break
            u, v, far = next_u, next_v, distance
        return (u, v) if far > 0 else None

    def _farthest(self, row: int, rows: Rows) -> int:
        others = [other for other in rows if other != row]
        return max(others, key=lambda other: self.ncp((row, other))) if others else row

    def divide(self, rows: Rows) -> tuple[Rows, Rows] | None:
        seeds = self.find_seeds(rows)
        if seeds is None:
            return None
        near_u, near_v = [seeds[0]], [seeds[1]]
        for row in self._by_tie(rows):
            if row not in seeds:
                cost = self._seed_cost if self.division == "seeds" else self._growing_cost
                (near_u if cost(near_u, row) <= cost(near_v, row) else near_v).append(row)
        return near_u, near_v

    def _seed_cost(self, group: Rows, row: int) -> Fraction:
        return self.ncp((group[0], row))

    def _growing_cost(self, group: Rows, row: int) -> Fraction:
        return self.total([*group, row])

    def ncp(self, rows: Iterable[int]) -> Fraction:
        """Loss of one row of the group, summed over attributes."""
        members = list(rows)
        return sum(
            (
                attribute.loss([self.table[row][j] for row in members])
                for j, attribute in enumerate(self.attributes)
            ),
            Fraction(0),
        )

    def total(self, rows: Rows) -> Fraction:
        return len(rows) * self.ncp(rows)

    def _by_tie(self, rows: Iterable[int]) -> Rows:
        return sorted(rows, key=self._tie)

    def _tie(self, row: int) -> Any:
        return (row if self.tie is None else self.tie[row], row)

    def _mended(self, groups: list[Rows]) -> list[Rows]:
        groups = [self._by_tie(group) for group in groups]
        while len(groups) > 1 and any(len(group) < self.k for group in groups):
            group = min(groups, key=lambda g: (len(g), self._tie(g[0])))
            others = sorted((g for g in groups if g is not group), key=lambda g: self._tie(g[0]))
            repairs = [*self._pulls(group, others), *self._merges(group, others)]
            allowed = [r for r in repairs if all(self.constraint(part) for part in r[2])]
            _, partner, after = min(allowed or self._merges(group, others), key=lambda r: r[0])
            groups = [g for g in groups if g is not group and g is not partner]
            groups += [self._by_tie(part) for part in after]
        return groups

    def _pulls(self, group: Rows, others: list[Rows]) -> list[Repair]:
        repairs = list[Repair]()
        for donor in others:
            if len(donor) < 2 * self.k - len(group):
                continue
            grown, left = list(group), list(donor)
            while len(grown) < self.k:
                nearest = min(left, key=_cost_of_adding(self, grown))
                grown.append(nearest)
                left.remove(nearest)
            before = self.total(group) + self.total(donor)
            repairs.append((self.total(grown) + self.total(left) - before, donor, (grown, left)))
        return repairs

    def _merges(self, group: Rows, others: list[Rows]) -> list[Repair]:
        return [
            (self.total(group + g) - self.total(group) - self.total(g), g, (group + g,))
            for g in others
        ]


def _cost_of_adding(recoding: SeedsAndDivision, group: Rows) -> Callable[[int], Fraction]:
    return lambda row: recoding.ncp([*group, row])
