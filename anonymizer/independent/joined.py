"""The tables of a release joined: every row with the person that it belongs to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.linked import Linked, LinkedTable
from anonymizer.independent.release import Release, Row, decode, number, published
from anonymizer.independent.rows import Opened

Numbers: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Child:
    """A table of rows that belong to persons."""

    table: LinkedTable
    opened: Opened
    release: Release
    keys: Mapping[str, Numbers]
    """The numbers of all rows, by key column."""
    owners: Numbers
    """The person of every row; None if its keys lead to no person."""

    @property
    def link(self) -> str:
        """The column that leads to the parent."""
        return next(iter(self.table.links))

    @property
    def parent(self) -> str:
        """The table that the rows link to."""
        return self.table.links[self.link]

    def as_persons(self, persons: Release) -> Release:
        """Its rows in the classes of their persons, as if in one wide table."""
        row_of = {row.person: row for row in persons.rows}
        rows = []
        for row, who in zip(self.release.rows, self.owners, strict=True):
            if who is not None:
                own = row_of[who]
                rows.append(replace(row, class_id=own.class_id, person=who, cells=own.cells))
        layout = replace(self.release.layout, class_id="class", person_id="person")
        return replace(self.release, layout=layout, rows=tuple(rows))


def joined(opened: Opened, linked: Linked, persons: Numbers) -> tuple[Child, ...]:
    """The tables, parents before the tables that link to them. Raises UnreadableError."""
    owner = {linked.person.table: {key: key for key in persons if key is not None}}
    found = []
    for table in linked.children:
        own, release = _decoded(opened, table)
        keys = {name: _column(own, name) for name in table.keys}
        ((link, parent),) = table.links.items()
        whose = tuple(None if to is None else owner[parent].get(to) for to in keys[link])
        if table.key is not None:
            owner[table.table] = {
                key: who
                for key, who in zip(keys[table.key], whose, strict=True)
                if key is not None and who is not None
            }
        found.append(Child(table, own, release, keys, whose))
    return tuple(found)


def _decoded(opened: Opened, table: LinkedTable) -> tuple[Opened, Release]:
    """Decode one table like a release without classes and persons."""
    part = opened.linked.get(table.table)
    if part is None:
        raise UnreadableError("release: lacks a table of its manifest")
    layout = replace(opened.manifest.layout, columns=table.columns, class_id=None, person_id=None)
    missing = sorted(set(table.keys) - set(part.rows.columns))
    if missing:
        raise UnreadableError(f"release: lacks the column {missing[0]!r} of its manifest")
    if set(table.keys) & set(published(layout)):
        raise UnreadableError("manifest.tables: one published column stands for two things")
    manifest = replace(opened.manifest, layout=layout, requirements=(), linked=None)
    own = Opened(manifest, part.rows, {}, part.view, part.frozen)
    return own, decode(own)


def _column(opened: Opened, name: str) -> Numbers:
    place = opened.rows.columns.index(name)
    return tuple(number(row[place]) for row in opened.rows.rows)


def events(children: Sequence[Child]) -> dict[int, Counter[Hashable]]:
    """How often each person has each row of a table with events, by its published cells."""
    held: dict[int, Counter[Hashable]] = {}
    for child in children:
        if child.table.events:
            for row, who in zip(child.release.rows, child.owners, strict=True):
                if who is not None:
                    held.setdefault(who, Counter())[child.table.table, row.tuple] += 1
    return held


def numbers_of_rows(children: Sequence[Child]) -> dict[int, Counter[str]]:
    """How many rows each person has in each table, without zeros."""
    found: dict[int, Counter[str]] = {}
    for child in children:
        for who in child.owners:
            if who is not None:
                found.setdefault(who, Counter())[child.table.table] += 1
    return found


def classes(persons: Release) -> Iterator[tuple[str, dict[Hashable, list[int]]]]:
    """The persons of every class number, and (`_tuples`) of equal quasi-identifiers."""
    label: Callable[[Row], Hashable]
    for suffix, label in (("", lambda row: row.class_id), ("_tuples", lambda row: row.tuple)):
        found: dict[Hashable, dict[int, None]] = {}
        for row in persons.rows:
            if row.person is not None:
                found.setdefault(label(row), {})[row.person] = None
        yield suffix, {one: list(some) for one, some in found.items()}
