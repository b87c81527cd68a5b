"""The method dp: noise on every finest group of a public domain, and totals that are their sums.

A person is in one of the groups, so that the table with and without the person differ by 1 in one
count. Discrete Laplace noise of the scale 1 / epsilon on each count (Ghosh, Roughgarden and
Sundararajan 2009) changes the probability of any release by a factor of at most exp(epsilon).
Sums of noisy counts, and what anybody computes from them, add nothing to it. The noise is drawn by
OpenDP, which samples it exactly from the random numbers of the system: no seed leads to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.algorithms.aggregate.groups import ATOMS, Dimension
from anonymizer.algorithms.aggregate.method import CompiledCounts
from anonymizer.algorithms.aggregate.rest import (
    MOST_CELLS,
    SPLIT,
    adding_stages,
    compiled_cells,
    split_columns,
)
from anonymizer.algorithms.aggregate.sums import Summed
from anonymizer.errors import EngineError
from anonymizer.policy import AggregatePolicy
from anonymizer.steps import Compute, Row, Step

AT_ONCE = 50_000
"""Counts that get their noise in one call."""


def compile_dp(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
) -> CompiledCounts:
    """The stages of a policy with the method dp."""
    labels = [name for d in found for name in d.names]
    epsilon = policy.epsilon
    assert epsilon is not None
    measurement = mechanism(epsilon, policy.dp.per_person)

    def noisy(rows: list[Row]) -> list[Row]:
        """Add noise to the count of every group, whether anybody is in it or not."""
        counts = [int(row[-1]) for row in rows]
        made = with_noise(counts, measurement)
        return [(*row[:-1], n, n, False) for row, n in zip(rows, made, strict=True)]

    query = Step("finest groups", "aggregate/finest", {"atoms": ATOMS, "labels": labels})
    stages = (
        Compute(query, noisy, SPLIT, split_columns(found)),
        *adding_stages(policy, found, sums, MOST_CELLS, minimum=0, listed=False, leaves_out=False),
    )

    def words(figures: Mapping[str, int]) -> str:
        scale = policy.dp.per_person / epsilon
        return f"{figures['cells']:,} cells; the finest ones get noise of the scale {scale:g}"

    return compiled_cells(stages, found, words)


def with_noise(counts: Sequence[int], measurement: Any) -> Iterator[int]:
    """Counts with independent noise, drawn anew in every call."""
    for first in range(0, len(counts), AT_ONCE):
        yield from measurement([*counts[first : first + AT_ONCE]])


def mechanism(epsilon: float, per_person: int = 1) -> Any:
    """The measurement of OpenDP, whose loss for one person is at most epsilon by its own proof.

    Raises EngineError if OpenDP is missing.
    """
    try:
        from opendp.domains import atom_domain, vector_domain
        from opendp.measurements import make_laplace
        from opendp.metrics import l1_distance
        from opendp.mod import enable_features
    except ImportError as error:
        hint = "pip install 'sql-anonymizer[dp]'"
        raise EngineError.at("method", "needs opendp, which is missing", hint=hint) from error
    enable_features("contrib")
    scale = per_person / epsilon
    while True:
        made: Any = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale)
        if made.map(per_person) <= epsilon:
            return made
        # the loss is rounded up, so that the nearest scale may be short by a last digit
        scale = math.nextafter(scale, math.inf)
