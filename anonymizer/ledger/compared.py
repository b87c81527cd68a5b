"""Releases as a comparison sees them: their groups and numbers, and what is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import NumberedColumn, Sql
from anonymizer.errors import Problem
from anonymizer.ledger.facets import Facet


@dataclass(frozen=True, slots=True)
class Place:
    """A facet in one release: its column of groups."""

    facet: Facet
    at: int
    release: int
    """The ledger's number of the release."""
    group: Sql
    """Where the release keeps the group of a member."""

    @property
    def g(self) -> Sql:
        return Sql(f"g_{self.facet.index}")

    @property
    def column(self) -> Sql:
        return Sql(f"g{self.at}_{self.facet.index}")

    @property
    def truth(self) -> Sql:
        return self.facet.truth

    sets = NumberedColumn("sets_", "at")
    own = NumberedColumn("own_", "at")


@dataclass(frozen=True, slots=True)
class Compared:
    """One release among those that are compared; number 0 is the new one."""

    at: int
    release: int
    places: tuple[Place, ...]
    marks: tuple[tuple[int, int], ...] = ()
    """Positions of the same column among the new pseudonyms and among its own."""
    pseudonyms: int = 0

    alias = NumberedColumn("r", "at")
    c = NumberedColumn("c", "at")
    n = NumberedColumn("n", "at")
    m = NumberedColumn("m", "at")
    p = NumberedColumn("p", "at")
    e = NumberedColumn("e", "at")
    sizes = NumberedColumn("sizes_", "at")


@dataclass(slots=True)
class Findings:
    """Counts of persons, and the problems among them."""

    releases: int = 0
    """Earlier releases that hold persons of the new one."""
    persons: int = 0
    """Persons of the new release who are also in an earlier one."""
    candidates: int | None = None
    """Fewest persons that the classes of all releases leave for a person."""
    values: dict[str, int | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {
            "earlier_releases": self.releases,
            "returning_persons": self.persons,
            "fewest_candidates": self.candidates,
        }
