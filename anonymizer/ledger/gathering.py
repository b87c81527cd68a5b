"""Data collected about the members of a new release: columns of one entry, and counts."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Sql, Table, ident, render
from anonymizer.contract.layout import Layout
from anonymizer.engines.base import Engine
from anonymizer.engines.duckdb.connection import DuckDBEngine
from anonymizer.ledger.carried import carry
from anonymizer.ledger.facets import Facet, Mark
from anonymizer.ledger.further import Further
from anonymizer.ledger.tables import (
    NEW_DICTIONARY,
    NEW_MEMBERS,
    NEW_ROWS,
    NEW_SIGNATURES,
    NUMBERED,
)
from anonymizer.policy.names import ROW_REF


@dataclass(frozen=True, slots=True)
class Contents:
    """What is remembered of a release: the table of its persons, and further ones."""

    layout: Layout
    link: Table
    originals: Table
    own_facets: tuple[Facet, ...]
    own_marks: tuple[Mark, ...]
    tables: tuple[Further, ...] = ()
    """Further tables of which something is remembered."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """Those of all tables."""
        return self.own_facets + tuple(f for t in self.tables for f in t.facets)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """Those of all tables."""
        return self.own_marks + tuple(m for t in self.tables for m in t.marks)

    @property
    def stored(self) -> str:
        """The condition on the members that are stored: values of further tables are not."""
        if not self.tables:
            return "true"
        return "n.whole or n.marks is not null" if self.marks else "n.whole"

    @property
    def statements(self) -> tuple[str, ...]:
        """Templates of the statements that gather it, in order."""
        added = any(t.facets or t.marks for t in self.tables)
        return (
            *(("numbered",) if self.facets else ()),
            "members",
            *(("rows",) if self.tables else ()),
            *(("members_of_rows",) if added else ()),
            *(("signatures", "dictionary") if self.facets else ()),
        )

    def binds(self, template: str) -> tuple[str, ...]:
        """What a statement is bound to."""
        if template not in ("members", "rows"):
            return ()
        known = template == "rows" and any(t.values for t in self.tables)
        return ("ledger_key", "secret") if known else ("ledger_key",)

    def parameters(self, digested: dict[str, Any], spells: Table | None) -> dict[str, Any]:
        """`digested`: what the digests of persons are made from."""
        return {
            **digested,
            "members": NEW_MEMBERS,
            "signatures": NEW_SIGNATURES,
            "dictionary": NEW_DICTIONARY,
            "numbered": NUMBERED,
            "rows": NEW_ROWS,
            "link": self.link,
            "original": self.originals,
            "row_ref": ROW_REF,
            "facets": self.facets,
            "own_facets": self.own_facets,
            "further_facets": self.facets[len(self.own_facets) :],
            "further_marks": self.marks[len(self.own_marks) :],
            "pseudonyms": self.marks,
            "tables": self.tables,
            "kept": [t.kept for t in self.tables],
            "links": [t.link for t in self.tables],
            "places": places(self.facets),
            "group": self.layout.class_id or self.layout.group_id,
            "number": self.layout.person_id,
            "spells": spells,
        }


def gather(
    engine: Engine, home: DuckDBEngine, contents: Contents, parameters: dict[str, Any]
) -> None:
    """Collect what is remembered into scratch of `home`.

    A server says for each row what it has of it; the lists of classes are made here.
    """
    here = {"signatures"}
    for name in contents.statements:
        at = home if name in here else engine
        with at.in_any_order() if isinstance(at, DuckDBEngine) else nullcontext():
            statement = render(f"ledger/{name}.sql.j2", parameters)
            at.execute(statement, "ledger", contents.binds(name))
        if engine is not home and name in ("members", "dictionary"):
            carry(engine, home, NEW_MEMBERS if name == "members" else NEW_DICTIONARY)


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
