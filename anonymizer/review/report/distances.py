"""The distance between a column's distributions before and after, over values instead of bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Table, work
from anonymizer.measure.staging import Staged
from anonymizer.review.with_source import Published

EXACT = 1e-9
"""Precision of sums of shares."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Distances between source and release, between 0 and 1."""

    moved: float
    """Half the sum of the differences of the shares of single values: the share that has moved."""
    below: float | None
    """For an ordered column: the largest difference between the shares below any value."""
    values: int
    """Different values of the source, including NULL."""


def distance(
    release: Published,
    counted: Table,
    after: Table | None,
    attribute: Staged | None,
    *,
    ordered: bool,
    total: float,
) -> Distance:
    """Compute the distances of one column.

    `counted`: values of the source; `after`: those of the release, or `attribute`: its cells.
    `total`: rows of the release.
    """
    cells: dict[str, Any] = {"i": 0, "members": None, "domain": None, "spans": None}
    if attribute is not None:
        cells = attribute.named
    ((moved, below, values),) = release.select(
        "report/distance_ordered" if ordered else "report/distance",
        counted=counted,
        after=after,
        total=total,
        rows=work("query_rows"),
        **cells,
    )
    return Distance(_exact(moved), None if below is None else _exact(below), int(values))


def _exact(found: float) -> float:
    """Limit to 0..1; return 0 for differences that come from the order of summation only."""
    return 0.0 if abs(found) < EXACT else min(max(float(found), 0.0), 1.0)
