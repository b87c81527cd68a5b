"""Data collected about the members of a new release: columns of one entry, and counts."""

from __future__ import annotations

from collections.abc import Sequence
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
from anonymizer.source.persons import NEARLY_UNIQUE


@dataclass(frozen=True, slots=True)
class Contents:
    """What the ledger stores of a release: the persons' table, and further ones."""

    layout: Layout
    link: Table
    originals: Table
    own_facets: tuple[Facet, ...]
    own_marks: tuple[Mark, ...]
    tables: tuple[Further, ...] = ()
    """Further tables of which something is stored."""
    opens: tuple[Mark, ...] = ()
    """Columns by which rows can be joined: gathered after the marks, and not stored."""

    @property
    def facets(self) -> tuple[Facet, ...]:
        """The facets of all tables."""
        return self.own_facets + tuple(f for t in self.tables for f in t.facets)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of all tables."""
        return self.own_marks + tuple(m for t in self.tables for m in t.marks)

    @property
    def stored(self) -> str:
        """The condition for members to store: it excludes values of further tables."""
        if not self.tables:
            return "true"
        return "n.whole or n.marks is not null" if self.marks else "n.whole"

    @property
    def statements(self) -> tuple[str, ...]:
        """Templates of the gathering statements, in order."""
        added = any(t.facets or t.marks for t in self.tables)
        return (
            *(("numbered",) if self.facets else ()),
            "members",
            *(("rows",) if self.tables else ()),
            *(("members_of_rows",) if added else ()),
            *(("signatures", "dictionary") if self.facets else ()),
        )

    def binds(self, template: str) -> tuple[str, ...]:
        """The bound parameters of a statement."""
        if template not in ("members", "rows"):
            return ()
        known = template == "rows" and any(t.values for t in self.tables)
        return ("ledger_key", "secret") if known else ("ledger_key",)

    def parameters(self, digested: dict[str, Any], spells: Table | None) -> dict[str, Any]:
        """The parameters of the templates; `digested`: those of the digests of persons."""
        return {
            **digested,
            "marks": (*digested["marks"], *self.opens),
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
    """Gather what is stored into scratch of `home`.

    On a server, rows are processed there, and the lists of classes are made in `home`.
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
    """The groups of members, with the columns gathered together. Columns whose signatures list
    every value once are gathered separately.
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
    """Rows that belong to persons."""
    persons: int
    counterfeits: int

    @property
    def several(self) -> bool:
        """Whether a person may have several rows."""
        return self.rows > self.persons


def counted(engine: DuckDBEngine, *, several: bool) -> Counts:
    """Count rows and persons; `several`: persons may repeat. Keys have been checked for uniqueness,
    and rows without a key are numbered.
    """
    row = engine.raw(
        f"select count(person), count({'distinct ' if several else ''}person),"
        f" count(*) filter (where person is null) from {ident(NEW_MEMBERS)}",
        "ledger",
    )[0]
    return Counts(*map(int, row))


def shared_marks(engine: DuckDBEngine, marks: Sequence[Mark]) -> frozenset[int]:
    """Marks, by index, that are not declared or named as identifying, and in which too few values
    belong to one person only to require an acknowledgement.
    """
    found = []
    for mark in marks:
        if mark.unnamed:
            one = f"marks[{mark.index}]"
            text = (
                "select count(*) filter (where persons = 1), count(*) from"
                f" (select {one}, count(distinct person) as persons from {ident(NEW_MEMBERS)}"
                f" where {one} is not null group by 1)"
            )
            alone, values = engine.raw(text, "ledger")[0]
            if alone < NEARLY_UNIQUE * values:
                found.append(mark.index)
    return frozenset(found)
