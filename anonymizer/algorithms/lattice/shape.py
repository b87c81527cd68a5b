"""The size of a lattice: the product of the numbers of levels."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.errors import PolicyError, Problem
from anonymizer.hierarchy.shape import Shape

MOST_NODES = 1_000_000
"""Largest lattice that is searched."""


def lattice_size(shapes: Sequence[Shape]) -> int:
    """Number of nodes."""
    size = 1
    for shape in shapes:
        size *= shape.height + 1
    return size


def refuse_large(shapes: Sequence[Shape]) -> None:
    """Raises PolicyError for a lattice with more nodes than are searched."""
    size = lattice_size(shapes)
    if size > MOST_NODES:
        raise PolicyError(
            Problem(
                "algorithm.name",
                f"would search a lattice of {size:,} nodes",
                allowed=f"at most {MOST_NODES:,}",
                hint="fewer quasi columns or levels, or algorithm: {name: privacyfrost}",
            )
        )
