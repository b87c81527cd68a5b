"""One quasi-identifier while rows are assigned: position in its domain, and extents."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import NumberedColumn
from anonymizer.source.profile import OfAttribute


@dataclass(frozen=True, slots=True)
class Placed(OfAttribute):
    """The names of an attribute's columns in the statements of this package."""

    p = NumberedColumn("p")
    """Position in the domain, 0 to 1; -1 for NULL."""
    w = NumberedColumn("w")
    low = NumberedColumn("low")
    high = NumberedColumn("high")
