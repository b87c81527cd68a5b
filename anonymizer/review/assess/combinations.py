"""Columns that single people out: minimal unique combinations, and the risk of every subset.

A combination of columns singles out a row (or person) if no other has the same values in them. It
is minimal if no proper subset does (a minimal sample unique; Manning, Haglin, Keane 2008, SUDA2).
All combinations of one size are found together, over the distinct tuples: the number of statements
depends on the number of columns, not on the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any

from anonymizer.compile import work
from anonymizer.review.assess.staging import Staged

UNITS = work("assess_units")
GROUPS = work("assess_groups")
SINGLES = work("assess_singles")
MINIMAL = work("assess_minimal")
BATCH = 12
"""Combinations per statement; limits the number of groups in memory at once."""
MOST = 400
"""Largest number of combinations examined; with more columns, combinations are smaller."""


@dataclass(frozen=True, slots=True)
class Subset:
    """A combination of quasi-identifiers, and the risk from an observer who knows only these."""

    columns: tuple[str, ...]
    classes: int
    k: int
    singled_out: int
    """Rows (persons) that are unique in these columns."""
    average_risk: float
    """Classes per unit: the mean probability of picking the right unit in a class."""
    minimal: int | None = None
    """Rows (persons) that no proper subset of the combination singles out."""


@dataclass(frozen=True, slots=True)
class Combinations:
    """All subsets of up to `size` columns, and the contribution of each column."""

    size: int
    subsets: tuple[Subset, ...]
    singled_out: int
    """Rows (persons) that some combination of at most `size` columns singles out."""
    column_involved: dict[str, int]
    """Rows (persons) for which the column is part of a minimal combination."""
    without: dict[str, Subset]
    """The risk that remains if one column is dropped."""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "subsets": [asdict(subset) for subset in self.subsets]}


def look_at(columns: int, size: int) -> int:
    """The largest size at which all combinations can be examined."""
    total = 0
    for reached in range(1, min(size, columns) + 1):
        total += comb(columns, reached)
        if total > MOST:
            return max(reached - 1, 1)
    return min(size, columns)


def find_combinations(staged: Staged, size: int) -> Combinations:
    """Find all combinations of at most `size` columns (fewer if there are too many to examine)."""
    names = staged.quasi
    reached = look_at(len(names), size)
    staged.select("risk/units.sql.j2", units=UNITS)
    staged.select("risk/no_singles.sql.j2", singles=SINGLES)
    found: dict[int, Subset] = {}
    for columns in range(1, reached + 1):
        found |= dict(_of_size(staged, columns, keep=True))
    staged.select("risk/minimal.sql.j2", singles=SINGLES, minimal=MINIMAL)
    minimal = dict(staged.select("risk/minimal_counts.sql.j2", minimal=MINIMAL))
    everything = (1 << len(names)) - 1
    bits = [1 << (len(names) - i) for i in range(1, len(names) + 1)]
    row = staged.select("risk/columns.sql.j2", minimal=MINIMAL, everything=everything, bits=bits)[0]
    without: dict[str, Subset] = {}
    if len(names) > 1:
        for left_out, subset in _of_size(staged, len(names) - 1, keep=False):
            without[names[len(names) - left_out.bit_length()]] = subset
    subsets = [
        Subset(s.columns, s.classes, s.k, s.singled_out, s.average_risk, minimal.get(key, 0))
        for key, s in found.items()
    ]
    subsets.sort(key=lambda s: (-(s.minimal or 0), -s.singled_out, len(s.columns), s.columns))
    return Combinations(
        reached, tuple(subsets), row[0], dict(zip(names, row[1:], strict=True)), without
    )


def _of_size(staged: Staged, columns: int, *, keep: bool) -> Iterator[tuple[int, Subset]]:
    high = len(staged.quasi) - 1
    every = (1 << len(staged.quasi)) - 1
    combined = [
        (every - sum(1 << (high - i) for i in some), [staged.q[i] for i in some])
        for some in combinations(range(len(staged.quasi)), columns)
    ]
    for start in range(0, len(combined), BATCH):
        batch = combined[start : start + BATCH]
        staged.select("risk/groups.sql.j2", units=UNITS, groups=GROUPS, combined=batch)
        if keep:
            staged.select("risk/singles.sql.j2", groups=GROUPS, singles=SINGLES, columns=columns)
        for left_out, classes, k, alone, units in staged.select(
            "risk/subsets.sql.j2", groups=GROUPS
        ):
            used = tuple(n for i, n in enumerate(staged.quasi) if not left_out >> (high - i) & 1)
            yield left_out, Subset(used, classes, k, alone, classes / units)
