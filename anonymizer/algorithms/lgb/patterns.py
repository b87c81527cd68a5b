"""Handles flag patterns that too few rows share.

A class holds rows of one pattern only (LGB Definition 8), so a pattern with fewer than k rows
cannot be published as it is. Promotion flags more cells of those rows, until they belong to a
pattern that is large enough; the values of these cells are then published in buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anonymizer.steps import Row


def promote(counts: Mapping[int, int], k: int, everything: int) -> dict[int, int | None]:
    """The final pattern of every pattern; None if its rows have to be suppressed.

    `counts` maps a pattern (a bit mask of sensitive cells) to its rows. The smallest pattern is
    promoted first, to the superset that flags the fewest further cells: one that is large enough,
    else the union with another small pattern, else `everything` flagged. Rows of patterns that are
    large enough are unchanged.
    """
    target: dict[int, int] = {pattern: pattern for pattern in counts}
    size = dict(counts)
    while True:
        small = [p for p, n in size.items() if n < k]
        if not small:
            break
        pattern = min(small, key=lambda p: (size[p], -p.bit_count(), p))
        others = [q for q in size if q != pattern]
        large = [q for q in others if q & pattern == pattern and size[q] >= k]
        unions = [pattern | q for q in others if size[q] < k]
        options = large or unions or ([everything] if pattern != everything else [])
        if not options:
            break
        best = min(options, key=lambda q: ((q ^ pattern).bit_count(), -size.get(q, 0), q))
        if best == pattern:
            # another small pattern is a subset of this one: promote that one instead
            pattern, best = _inner([q for q in others if size[q] < k], pattern, size), pattern
        size[best] = size.get(best, 0) + size.pop(pattern)
        for source, at in target.items():
            if at == pattern:
                target[source] = best
    return {source: at if size[at] >= k else None for source, at in target.items()}


def _inner(others: list[int], pattern: int, size: Mapping[int, int]) -> int:
    within = [q for q in others if q | pattern == pattern]
    return min(within, key=lambda q: ((q ^ pattern).bit_count(), size[q], q))


def suppress(counts: Mapping[int, int], k: int) -> dict[int, int | None]:
    """Suppress every small pattern."""
    return {pattern: pattern if n >= k else None for pattern, n in counts.items()}


def pattern_table(k: int, everything: int, mode: str) -> Callable[[list[Row]], list[Row]]:
    """The computation that turns pattern counts into the table of final patterns."""

    def final_patterns(rows: list[Row]) -> list[Row]:
        """Promote or suppress patterns of sensitive cells that fewer than k rows share."""
        counts = {int(pattern): int(n) for pattern, n in rows}
        final = promote(counts, k, everything) if mode == "promote" else suppress(counts, k)
        return [(pattern, target) for pattern, target in sorted(final.items())]

    return final_patterns
