"""Releases in a comparison: their groups and numbers, and the findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import NumberedColumn, Sql
from anonymizer.errors import Problem
from anonymizer.ledger.facets import Facet


@dataclass(frozen=True, slots=True)
class Place:
    """A facet in one release, with its column of groups."""

    facet: Facet
    at: int
    release: int
    """The ledger's number of the release."""
    group: Sql
    """The release's group of a member."""

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
    """One of the compared releases; number 0 is the new one."""

    at: int
    release: int
    places: tuple[Place, ...]
    marks: tuple[tuple[int, int], ...] = ()
    """Positions of the same column among the new pseudonyms and among this release's."""
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
    """Counts of persons, and the resulting problems."""

    releases: int = 0
    """Earlier releases that contain persons of the new one."""
    persons: int = 0
    """Persons of the new release who are also in an earlier one."""
    candidates: int | None = None
    """Fewest candidates left for a person by the classes of all releases."""
    values: dict[str, int | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    hint: str = ""
    """The ways out of the problems."""

    def as_dict(self) -> dict[str, Any]:
        return {
            "earlier_releases": self.releases,
            "returning_persons": self.persons,
            "fewest_candidates": self.candidates,
        }
