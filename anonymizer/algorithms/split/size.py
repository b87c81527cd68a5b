"""When a table is divided into parts, and how large a part is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from anonymizer.source.profile import TableProfile

PartSize: TypeAlias = int | Literal["auto", "all"]
"""The option of the policy."""

AUTO = 250_000
"""Distinct tuples of a part where the policy leaves it open: some 250 MB of memory."""
ABOVE = 500_000
"""Distinct tuples up to which a table is then solved in one piece."""
SAMPLED = 500
"""Tuples of a part that are sampled: the size of a part is known to some 5 percent before."""
BITS = 32
"""Leading bits of a draw that decide whether a tuple is sampled."""


@dataclass(frozen=True, slots=True)
class Split:
    """How a table is divided. It depends on nothing but the policy and the number of rows, so that
    the release is the same whatever memory and processors there are.
    """

    size: int
    """Distinct tuples of a part that are aimed at; the most is some percent more."""
    above: int
    """Distinct tuples up to which the table is one part."""
    rows: int
    """Rows of the table, which are at least its distinct tuples."""

    @property
    def at_most(self) -> int:
        """Parts of the table, if all its tuples differ and no part has to be larger."""
        return math.ceil(2 * self.rows / self.size)

    @property
    def sampled(self) -> int:
        """Tuples of a part that the sample holds."""
        return min(self.size, SAMPLED)

    @property
    def threshold(self) -> int:
        """Draws below it are in the sample, of the numbers with `BITS` bits."""
        return self.sampled * (1 << BITS) // self.size

    @property
    def sample(self) -> int:
        """Tuples of the sample that are expected at most."""
        return max(self.rows * self.sampled // self.size, 2)


def split_of(part_size: PartSize, profile: TableProfile) -> Split | None:
    """How a table is divided; None: not at all."""
    rows = profile.rows or 0
    if part_size == "all" or not profile.in_parts:
        return None
    size, above = (AUTO, ABOVE) if part_size == "auto" else (part_size, part_size)
    return Split(size, above, rows) if rows > above else None
