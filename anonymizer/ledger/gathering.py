"""Data collected about the members of a new release: columns of one entry, and counts."""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.compile import Sql, ident
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.facets import Facet
from anonymizer.ledger.tables import NEW_MEMBERS


def places(seen: tuple[Facet, ...]) -> list[tuple[Sql, list[Facet]]]:
    """The groups of the members with the columns that are gathered from them together: those of
    which a signature has every value once are by themselves.
    """
    places: dict[tuple[str, str], list[Facet]] = {}
    for facet in seen:
        alone = facet.column if facet.once else ""
        places.setdefault((facet.place.text, alone), []).append(facet)
    return [(held[0].place, held) for held in places.values()]


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows and persons of the new release."""

    rows: int
    """Rows of persons."""
    persons: int
    counterfeits: int

    @property
    def several(self) -> bool:
        """Whether a person may have several rows."""
        return self.rows > self.persons


def counted(engine: DuckDBEngine, *, several: bool) -> Counts:
    """`several`: whether persons may repeat. Keys were found to be unique, and rows without one
    are numbered.
    """
    row = engine.raw(
        f"select count(person), count({'distinct ' if several else ''}person),"
        f" count(*) filter (where person is null) from {ident(NEW_MEMBERS)}",
        "ledger",
    )[0]
    return Counts(*map(int, row))
