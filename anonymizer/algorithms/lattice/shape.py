"""The size of a lattice: the product of the numbers of levels."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.errors import PolicyError, Problem
from anonymizer.hierarchy.shape import Shape

MOST_LISTED = 1_000_000
"""Number of nodes of the largest lattice whose nodes are listed."""


def lattice_size(shapes: Sequence[Shape]) -> int:
    """Number of nodes."""
    size = 1
    for shape in shapes:
        size *= shape.height + 1
    return size


def refuse_large(shapes: Sequence[Shape]) -> None:
    """Raises PolicyError for a lattice that is too large to be listed."""
    size = lattice_size(shapes)
    if size > MOST_LISTED:
        raise PolicyError(
            Problem(
                "columns",
                f"make a lattice of {size:,} nodes, too many to judge them all",
                allowed=f"at most {MOST_LISTED:,}",
                hint="fewer quasi columns or levels; a run with algorithm: {name: full_domain}"
                " searches a lattice of any size",
            )
        )
