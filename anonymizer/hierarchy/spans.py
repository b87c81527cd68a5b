"""Interval labels in a given hierarchy (`[20, 29]` or `20-29`): gaps and overlaps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from anonymizer.errors import Problem

SPAN = re.compile(r"\[(-?\d+), (-?\d+)\]\Z|(-?\d+)-(-?\d+)\Z")
WHOLE = re.compile(r"-?\d+\Z")


def span_problems(rows: Sequence[Sequence[str]], where: str) -> list[Problem]:
    """Levels whose labels are intervals of whole numbers must not overlap or leave gaps.

    A level with any other label is not looked at. A gap is none where every interval is just as
    wide as the values under it (such intervals are ranges of values, not parts of a domain).
    """
    if not all(WHOLE.match(row[0]) for row in rows):
        return []
    found = []
    for level in range(1, len(rows[0])):
        spans = _spans(rows, level)
        if spans is None:
            continue
        ordered = sorted(spans)
        pairs = list(pairwise(ordered))
        overlaps = sum(after[0] <= before[1] for before, after in pairs)
        gaps = sum(after[0] > before[1] + 1 for before, after in pairs)
        if overlaps:
            found.append(Problem(where, f"level {level} has {_many(overlaps, 'overlap')}"))
        if gaps and any(span != values for span, values in spans.items()):
            found.append(
                Problem(
                    where,
                    f"level {level} has {_many(gaps, 'gap')}",
                    hint="let each interval begin where the one before it ends, plus one",
                )
            )
    return found


def _spans(
    rows: Sequence[Sequence[str]], level: int
) -> dict[tuple[int, int], tuple[int, int]] | None:
    """The intervals of a level, each with the range of the values under it."""
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for row in rows:
        value = int(row[0])
        if match := SPAN.match(row[level]):
            low, high = (int(bound) for bound in match.groups() if bound is not None)
        elif WHOLE.match(row[level]):
            low = high = int(row[level])
        else:
            return None
        least, greatest = spans.get((low, high), (value, value))
        spans[low, high] = (min(least, value), max(greatest, value))
    return spans


def _many(count: int, what: str) -> str:
    return (
        f"{'an' if what[0] == 'o' else 'a'} {what} between intervals"
        if count == 1
        else (f"{count:,} {what}s between intervals")
    )
