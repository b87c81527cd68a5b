"""Decides whether a table is divided into parts, and how large a part is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from anonymizer.source.profile import TableProfile

PartSize: TypeAlias = int | Literal["auto", "all"]
"""The option of the policy."""

AUTO = 250_000
"""Distinct tuples per part with `part_size: auto`: about 250 MB of memory."""
ABOVE = 500_000
"""Number of distinct tuples up to which a table is then solved in one piece."""
SAMPLED = 500
"""Sampled tuples per part, which predict the size of a part to about 5 percent."""
BITS = 32
"""Leading bits of a draw that decide whether a tuple is sampled."""


@dataclass(frozen=True, slots=True)
class Split:
    """How a table is divided. It only depends on the policy and the number of rows, so that the
    release does not depend on memory and processors.
    """

    size: int
    """Target number of distinct tuples per part; a part may have a few percent more."""
    above: int
    """Number of distinct tuples up to which the table is one part."""
    rows: int
    """Number of rows of the table, at least the number of distinct tuples."""

    @property
    def at_most(self) -> int:
        """Most parts of the table, if all tuples differ and no part has to be larger."""
        return math.ceil(2 * self.rows / self.size)

    @property
    def sampled(self) -> int:
        """Number of tuples per part in the sample."""
        return min(self.size, SAMPLED)

    @property
    def threshold(self) -> int:
        """Draws, as numbers of `BITS` bits, below this are in the sample."""
        return self.sampled * (1 << BITS) // self.size

    @property
    def sample(self) -> int:
        """Largest expected number of tuples in the sample."""
        return max(self.rows * self.sampled // self.size, 2)


def split_of(part_size: PartSize, profile: TableProfile) -> Split | None:
    """How a table is divided; None if it is not divided."""
    rows = profile.rows or 0
    if part_size == "all" or not profile.in_parts:
        return None
    size, above = (AUTO, ABOVE) if part_size == "auto" else (part_size, part_size)
    return Split(size, above, rows) if rows > above else None
