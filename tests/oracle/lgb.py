"""Local generalization and bucketization (Li and He 2022), judged from a release alone.

A release is a list of rows (dicts): `class_id`; one column per attribute with the generalized cell
or the bucketed value as text; for protected attributes `<column>_bucket`, None where the cell is
generalized. Bucket ids are scoped by attribute. NULL values in a bucket do not count towards l and
stand outside the bucket's frequencies.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.models import (
    entropy_l_holds,
    frequencies,
    k_anonymity,
    recursive_cl_holds,
    t_closeness,
)
from tests.oracle.cells import Exact, GrammarError, Null, parse

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Rule:
    """What every bucket of one attribute must satisfy; give those that apply.

    `l`: at least l non-NULL values, all different (Corollary 2). `t`: within t of the distribution
    of all bucketed cells of the attribute. `entropy_l`, `recursive_cl` = (c, l): as in the models.
    """

    l: int | None = None
    t: Fraction | float | None = None
    distance: str = "equal"
    order: Sequence[Any] | None = None
    entropy_l: float | None = None
    recursive_cl: tuple[Fraction, int] | None = None

    def broken_by(self, bucket: Sequence[Any], reference: Sequence[Any]) -> list[str]:
        counts = frequencies(bucket)
        found = []
        if self.l is not None:
            if sum(counts.values()) < self.l:
                found.append("bucket smaller than l")
            if max(counts.values(), default=0) > 1:
                found.append("value twice in a bucket")
        if self.t is not None:
            distance = t_closeness(
                {0: bucket}, self.distance, order=self.order, reference=reference
            ).worst
            if distance > self.t:
                found.append("bucket farther than t")
        if self.entropy_l is not None and not entropy_l_holds(bucket, self.entropy_l):
            found.append("bucket below entropy l")
        if self.recursive_cl is not None and not recursive_cl_holds(bucket, *self.recursive_cl):
            found.append("bucket not recursively diverse")
        return found


@dataclass(frozen=True)
class Requirements:
    """k; kind per quasi-identifying or semi-sensitive column; rule per protected column."""

    k: int
    kinds: Mapping[str, str]
    rules: Mapping[str, Rule] = field(default_factory=dict)

    @property
    def semi_sensitive(self) -> list[str]:
        return [column for column in self.rules if column in self.kinds]

    @property
    def sensitive(self) -> list[str]:
        return [column for column in self.rules if column not in self.kinds]


@dataclass(frozen=True, order=True)
class Violation:
    """A condition that does not hold, and the class, bucket or row (by position) where."""

    condition: str
    column: str
    where: Any


def classes_of(rows: Sequence[Row]) -> dict[Hashable, list[Row]]:
    grouped: dict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["class_id"]].append(row)
    return dict(grouped)


def buckets_of(rows: Iterable[Row], column: str) -> dict[Hashable, list[Any]]:
    """Values of each bucket of the column."""
    grouped: dict[Hashable, list[Any]] = defaultdict(list)
    for row in rows:
        if row[f"{column}_bucket"] is not None:
            grouped[row[f"{column}_bucket"]].append(row[column])
    return dict(grouped)


def check_corollary3(rows: Sequence[Row], required: Requirements) -> list[Violation]:
    """Everything that speaks against the release; empty if it is k-anonymous and l-diverse."""
    found = [v for column in required.kinds for v in _check_cells(rows, column, required)]
    for column in required.sensitive:
        for at, row in enumerate(rows):
            if row[f"{column}_bucket"] is None:
                found.append(Violation("sensitive value without bucket", column, at))
    for class_id, members in classes_of(rows).items():
        if len(members) < required.k:
            found.append(Violation("class smaller than k", "", class_id))
        for column in required.semi_sensitive:
            if len({row[f"{column}_bucket"] is None for row in members}) > 1:
                found.append(Violation("class of two flag patterns", column, class_id))
        for column in required.kinds:
            cells = {row[column] for row in members if row.get(f"{column}_bucket") is None}
            if len(cells) > 1:
                found.append(Violation("generalized cells differ in a class", column, class_id))
    for column, rule in required.rules.items():
        buckets = buckets_of(rows, column)
        reference = [value for values in buckets.values() for value in values]
        for bucket, values in buckets.items():
            found += [Violation(c, column, bucket) for c in rule.broken_by(values, reference)]
    return sorted(found, key=repr)


def _check_cells(rows: Sequence[Row], column: str, required: Requirements) -> Iterable[Violation]:
    """Each cell is exactly one of generalized and bucketed."""
    protected = column in required.rules
    for at, row in enumerate(rows):
        bucketed = row.get(f"{column}_bucket") is not None
        if bucketed and not protected:
            yield Violation("quasi-identifier in a bucket", column, at)
        try:
            cell = parse(row[column], required.kinds[column])
        except GrammarError:
            yield Violation("cell against the grammar", column, at)
            continue
        exact = isinstance(cell, Null) or (isinstance(cell, Exact) and not cell.nullable)
        if bucketed and not exact:
            yield Violation("cell both generalized and bucketed", column, at)


def class_sizes(rows: Sequence[Row]) -> dict[Hashable, int]:
    return dict(k_anonymity(classes_of(rows)).per_class)


def strict_check(
    rows: Sequence[Row], columns: Iterable[str]
) -> dict[tuple[Hashable, str, Any], int]:
    """Rows of a class that remain once one value of one protected cell is known.

    For each class, column and non-NULL value that a bucket touching the class holds: how many rows
    of the class are in a bucket with that value. The strict check holds if all are k or more.
    """
    left: dict[tuple[Hashable, str, Any], int] = {}
    for column in columns:
        buckets = buckets_of(rows, column)
        for class_id, members in classes_of(rows).items():
            counts = Counter(row[f"{column}_bucket"] for row in members)
            for value in {v for b in counts if b is not None for v in buckets[b]} - {None}:
                left[class_id, column, value] = sum(
                    n for b, n in counts.items() if b is not None and value in buckets[b]
                )
    return left


def _matching(row: Row, rows: Sequence[Row], column: str) -> dict[Hashable, Fraction]:
    """p(t, mb): share of the row's matching tuples (its class) in each bucket of the column."""
    members = [other for other in rows if other["class_id"] == row["class_id"]]
    counts = Counter(other[f"{column}_bucket"] for other in members)
    return {b: Fraction(n, len(members)) for b, n in counts.items() if b is not None}


def lemma2_bound(row: Row, rows: Sequence[Row], column: str) -> Fraction:
    """Lemma 2 as printed: sum of p(t, mb)·|mb(s')|/|mb|, s' the commonest value of each bucket.

    0 if the row's cell is not bucketed. Record 1006 of Fig. 2, disease: 1/2·1/2 + 1/2·1/2 = 1/2.
    """
    buckets = buckets_of(rows, column)
    return sum(
        (p * _largest_share(buckets[b]) for b, p in _matching(row, rows, column).items()),
        Fraction(0),
    )


def _largest_share(values: Iterable[Any]) -> Fraction:
    counts = frequencies(values)
    return Fraction(max(counts.values()), sum(counts.values())) if counts else Fraction(0)


def exposure(row: Row, rows: Sequence[Row], column: str) -> Fraction:
    """Largest probability of one value, max over s of sum p(t, mb)·|mb(s)|/|mb|.

    The exact middle line in the proof of Lemma 2, never above `lemma2_bound`, and the number that
    the paper states: record 1006 of Fig. 2, disease: 1/4 (its own bucket alone, Fig. 4: 1/2).
    """
    buckets, total = buckets_of(rows, column), dict[Any, Fraction]()
    for bucket, p in _matching(row, rows, column).items():
        counts = frequencies(buckets[bucket])
        for value, n in counts.items():
            total[value] = total.get(value, Fraction(0)) + p * Fraction(n, sum(counts.values()))
    return max(total.values(), default=Fraction(0))
