"""The section `tables` of a manifest: the tables of a release that are linked by keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fields import flag, known, listed, mapping, name, text, whole
from anonymizer.independent.layout import (
    Column,
    Requirement,
    read_column,
    read_requirement,
    refuse_twice,
)

ROLES = ("event", "sensitive", "keep")
MOST_EVENTS = 3


@dataclass(frozen=True, slots=True)
class Knows:
    """What an observer may know of a person besides the quasi-identifiers."""

    events: int
    rows: bool
    sensitive: bool


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """One published table. Names of columns are those in the release."""

    table: str
    """Its name in the policy."""
    name: str
    """Its name in the release."""
    key: str | None
    links: Mapping[str, str]
    """The table (by its name in the policy) whose key a column holds, by column."""
    columns: tuple[Column, ...]
    """The columns of a further table; those of the persons are in the layout."""
    requirements: tuple[Requirement, ...]
    """The requirements in the classes of the persons."""

    @property
    def events(self) -> bool:
        """Whether an observer may know rows of it."""
        return any(one.role == "event" for one in self.columns)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns of random numbers."""
        return tuple(dict.fromkeys([*([self.key] if self.key else []), *self.links]))


@dataclass(frozen=True, slots=True)
class Linked:
    """All tables of a release, parents before the tables that are linked to them."""

    person: LinkedTable
    children: tuple[LinkedTable, ...]
    k: int
    knows: Knows


def read_linked(given: Any, cells: str) -> Linked:
    """Parse the tables. Raises UnreadableError for anything unknown."""
    where = "manifest.tables"
    data = known(given, where, {"person", "k", "knows", "tables"})
    knows = known(data.get("knows"), f"{where}.knows", {one.name for one in fields(Knows)})
    entries = listed(data.get("tables"), f"{where}.tables")
    tables = [_table(one, f"{where}.tables[{i}]", cells) for i, one in enumerate(entries)]
    for what in ("table", "name"):
        named = [getattr(one, what).lower() for one in tables]
        if len(set(named)) < len(named):
            raise UnreadableError(f"{where}.tables: a {what} stands twice")
    person, children = _in_order(tables, text(data.get("person"), f"{where}.person"))
    return Linked(
        person,
        children,
        whole(data.get("k"), f"{where}.k", 2, 10**18),
        Knows(
            whole(knows.get("events"), f"{where}.knows.events", 0, MOST_EVENTS),
            flag(knows.get("rows"), f"{where}.knows.rows"),
            flag(knows.get("sensitive"), f"{where}.knows.sensitive"),
        ),
    )


def _table(given: Any, where: str, cells: str) -> LinkedTable:
    data = known(given, where, {one.name for one in fields(LinkedTable)})
    links = mapping(data.get("links"), f"{where}.links")
    columns = listed(data.get("columns"), f"{where}.columns")
    requirements = listed(data.get("requirements"), f"{where}.requirements")
    table = LinkedTable(
        text(data.get("table"), f"{where}.table"),
        text(data.get("name"), f"{where}.name"),
        name(data.get("key"), f"{where}.key"),
        {text(key, f"{where}.links"): text(to, f"{where}.links") for key, to in links.items()},
        tuple(
            read_column(one, f"{where}.columns[{i}]", cells, ROLES) for i, one in enumerate(columns)
        ),
        tuple(
            read_requirement(one, f"{where}.requirements[{i}]")
            for i, one in enumerate(requirements)
        ),
    )
    refuse_twice(table.columns, f"{where}.columns")
    if any(one.bucket for one in table.columns):
        raise UnreadableError(f"{where}.columns: has buckets")
    if any(one.scope != "class" for one in table.requirements):
        raise UnreadableError(f"{where}.requirements: is not judged class by class")
    if links and any(one.column is None for one in table.requirements):
        raise UnreadableError(f"{where}.requirements: is on no column")
    return table


def _in_order(
    tables: list[LinkedTable], person: str
) -> tuple[LinkedTable, tuple[LinkedTable, ...]]:
    """The persons' table, and the others, each after the one that it is linked to."""
    where = "manifest.tables"
    first = next((one for one in tables if one.table == person), None)
    if first is None or first.key is None or first.links or first.columns:
        raise UnreadableError(f"{where}.person: names no table of persons")
    placed, left = {first.table: first}, [one for one in tables if one is not first]
    for one in left:
        if len(one.links) != 1:
            raise UnreadableError(f"{where}.tables: a table has {len(one.links)} links, and not 1")
    while left:
        ready = [one for one in left if set(one.links.values()) <= set(placed)]
        if not ready:
            raise UnreadableError(f"{where}.tables: a link leads to no table, or in a circle")
        for one in ready:
            if any(placed[to].key is None for to in one.links.values()):
                raise UnreadableError(f"{where}.tables: a link leads to a table without a key")
            placed[one.table] = one
        left = [one for one in left if one.table not in placed]
    return first, tuple(one for one in placed.values() if one is not first)
