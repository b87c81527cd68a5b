"""Gaps and overlaps of interval labels in a given hierarchy (`[20, 29]` or `20-29`)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from anonymizer.errors import Problem

SPAN = re.compile(r"\[(-?\d+), (-?\d+)\]\Z|(-?\d+)-(-?\d+)\Z")
WHOLE = re.compile(r"-?\d+\Z")


def span_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    """Report overlaps and gaps of levels whose labels are intervals of whole numbers.

    A level with any other label, or without an interval, is not checked. Space between two
    intervals is a gap if it contains a listed value. Space without listed values is harmless,
    because all values of the source must be listed.
    """
    if not all(WHOLE.match(row[0]) for row in rows):
        return []
    values = sorted(int(row[0]) for row in rows)
    found = []
    for level in range(1, len(rows[0])):
        pairs = list(pairwise(sorted(_spans(rows, level))))
        overlaps = sum(after[0] <= before[1] for before, after in pairs)
        gaps = sum(_between(values, before[1], after[0]) for before, after in pairs)
        if overlaps:
            found.append(Problem(where, f"level {level} has {_many(overlaps, 'overlap')}"))
        if gaps:
            found.append(
                Problem(
                    where,
                    f"level {level} has {_many(gaps, 'gap')}",
                    hint="let each interval begin where the one before it ends, plus one",
                )
            )
    return found


def _between(values: Sequence[int], low: int, high: int) -> bool:
    """Whether one of the sorted values lies strictly between the two."""
    at = bisect_right(values, low)
    return at < len(values) and values[at] < high


def _spans(rows: Sequence[Sequence[str]], level: int) -> set[tuple[int, int]]:
    """The intervals of a level; none if a label is not an interval, or all are numbers (codes)."""
    labels = {row[level] for row in rows}
    spans = {label: match for label in labels if (match := SPAN.match(label))}
    if not spans or not all(label in spans or WHOLE.match(label) for label in labels):
        return set()
    found = set()
    for label in labels:
        match = spans.get(label)
        ends = [bound for bound in match.groups() if bound is not None] if match else [label]
        found.add((int(ends[0]), int(ends[-1])))
    return found


def _many(count: int, what: str) -> str:
    return (
        f"{'an' if what[0] == 'o' else 'a'} {what} between intervals"
        if count == 1
        else (f"{count:,} {what}s between intervals")
    )
