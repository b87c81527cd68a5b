"""How the levels of a column nest, derived from published figures."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from anonymizer.algorithms.aggregate.linear import solver

Figures: TypeAlias = Mapping[Hashable, tuple[float, float]]
"""Of one label, by the labels of all other columns: the bounds of its figure."""
MOST_PAIRS = 20_000
SECONDS = 20.0


def parents(fine: Sequence[Figures], coarse: Sequence[Figures]) -> list[int] | None:
    """Find for every finer label the coarser one that contains it.

    None unless there is exactly one way in which the figures of the parts can add up.
    """
    pairs = [
        (part, whole)
        for part, figures in enumerate(fine)
        for whole, others in enumerate(coarse)
        if all(rest in others and low <= others[rest][1] for rest, (low, _) in figures.items())
    ]
    if len(pairs) > MOST_PAIRS:
        return None
    chosen = _choice(pairs, fine, coarse, None)
    if chosen is None or _choice(pairs, fine, coarse, chosen) is not None:
        return None
    return [whole for _, whole in sorted(pairs[at] for at in chosen)]


def _choice(
    pairs: Sequence[tuple[int, int]],
    fine: Sequence[Figures],
    coarse: Sequence[Figures],
    other: Sequence[int] | None,
) -> list[int] | None:
    """Choose a pair for every part so that all sums are possible, not all as in `other`."""
    import highspy

    highs = solver("TABLE")
    highs.setOptionValue("time_limit", SECONDS)
    for _ in pairs:
        highs.addCol(0.0, 0.0, 1.0, 0, np.zeros(0, np.int32), np.zeros(0))
    places = np.arange(len(pairs), dtype=np.int32)
    highs.changeColsIntegrality(len(pairs), places, np.ones(len(pairs), np.uint8))
    for low, high, weights in _rows(pairs, fine, coarse, other):
        at = np.array([*weights], np.int32)
        highs.addRow(low, high, len(at), at, np.array([*weights.values()], np.float64))
    highs.run()
    if highs.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return [] if other is not None else None  # out of time: it may be ambiguous
    values = np.array(highs.getSolution().col_value)
    return [int(at) for at in np.flatnonzero(values > 0.5)]


def _rows(
    pairs: Sequence[tuple[int, int]],
    fine: Sequence[Figures],
    coarse: Sequence[Figures],
    other: Sequence[int] | None,
) -> Iterator[tuple[float, float, dict[int, float]]]:
    """Bounds of weighted sums of the pairs: each part in one whole, and sums that can be."""
    for part in range(len(fine)):
        yield 1.0, 1.0, {at: 1.0 for at, pair in enumerate(pairs) if pair[0] == part}
    for whole, figures in enumerate(coarse):
        parts = [(at, fine[part]) for at, (part, of) in enumerate(pairs) if of == whole]
        for rest, (least, most) in figures.items():
            bounds = [(at, *figures[rest]) for at, figures in parts if rest in figures]
            yield -np.inf, most, {at: low for at, low, _ in bounds}
            yield least, np.inf, {at: min(high, least) for at, _, high in bounds}
    if other is not None:
        yield -np.inf, len(other) - 1.0, dict.fromkeys(other, 1.0)
