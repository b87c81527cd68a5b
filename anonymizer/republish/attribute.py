"""One quasi-identifier while rows are assigned: position in its domain, and extents."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql, Table
from anonymizer.source.profile import Attribute


@dataclass(frozen=True, slots=True)
class Placed:
    """The names of an attribute's columns in the statements of this package."""

    attribute: Attribute

    @property
    def c(self) -> Sql:
        return self.attribute.c

    @property
    def q(self) -> Sql:
        return self.attribute.q

    @property
    def d(self) -> Sql:
        return self.attribute.d

    @property
    def domain(self) -> Table:
        return self.attribute.domain

    def _named(self, prefix: str) -> Sql:
        return Sql(f"{prefix}{self.attribute.index}")

    @property
    def p(self) -> Sql:
        """Position in the domain, 0 to 1; -1 for NULL."""
        return self._named("p")

    @property
    def w(self) -> Sql:
        return self._named("w")

    @property
    def low(self) -> Sql:
        return self._named("low")

    @property
    def high(self) -> Sql:
        return self._named("high")
