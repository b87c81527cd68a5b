"""The tables of a release of several tables, as listed in its manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from anonymizer.compile import Table
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.contract.reading import is_asked, is_column


@dataclass(frozen=True, slots=True)
class Released:
    """One published table."""

    table: str
    """Its name in the policy."""
    name: str
    """Its name in the release."""
    layout: Layout
    """Its layout, in which events are quasi-identifiers."""
    requirements: tuple[Requirement, ...] = ()
    """The requirements on its columns in the classes of their persons."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A release of several tables: the persons' first, each other one after its parent."""

    person: str
    k: int
    events: int
    rows: bool
    sensitive: bool
    tables: tuple[Released, ...]
    required: tuple[Requirement, ...] = ()
    """The requirements on the columns of the persons, as in a release of their table alone."""

    @property
    def persons(self) -> Released:
        return self.tables[0]

    @property
    def children(self) -> tuple[Released, ...]:
        return self.tables[1:]

    def named(self, table: str) -> Released:
        """The table with this name in the policy."""
        return next(one for one in self.tables if one.table == table)

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest, whose `layout` has the columns of the persons' table."""
        return {
            "person": self.person,
            "k": self.k,
            "knows": {"events": self.events, "rows": self.rows, "sensitive": self.sensitive},
            "tables": [
                {
                    "table": one.table,
                    "name": one.name,
                    "key": one.layout.key,
                    "links": dict(one.layout.links),
                    "columns": [_column(column) for column in one.layout.columns]
                    if one is not self.persons
                    else [],
                    "requirements": [asdict(item) for item in one.requirements],
                }
                for one in self.tables
            ],
        }

    @classmethod
    def from_dict(
        cls, data: Mapping[str, Any], persons: Layout, required: Iterable[Requirement] = ()
    ) -> Tables:
        """Read a manifest. Raises KeyError, TypeError or ValueError for an invalid mapping."""
        listed = [_released(one, persons) for one in data["tables"]]
        knows = data["knows"]
        first = listed[0]
        if first.table != data["person"] or first.layout.links:
            raise ValueError("the first table is not that of the persons")
        names = [one.table for one in listed]
        for place, one in enumerate(listed[1:], 1):
            if len(one.layout.links) != 1 or not set(one.layout.links.values()) <= {*names[:place]}:
                raise ValueError("a table hangs on none before it")
        events, k = knows["events"], data["k"]
        if type(events) is not int or type(k) is not int or not 0 <= events <= 3 or k < 2:
            raise ValueError("a figure that cannot be")
        known = any(c.role == "quasi" for one in listed[1:] for c in one.layout.columns)
        more = events or knows["rows"] or not knows["sensitive"]
        if (events and not known) or (knows["rows"] and not listed[1:]) or not more:
            raise ValueError("something is known that the tables do not have")
        if len(set(names)) < len(names) or len({one.name for one in listed}) < len(names):
            raise ValueError("two tables have one name")
        return cls(
            str(data["person"]),
            int(data["k"]),
            int(knows["events"]),
            bool(knows["rows"]),
            bool(knows["sensitive"]),
            (replace(first, layout=replace(persons, key=first.layout.key)), *listed[1:]),
            tuple(required),
        )


def in_release(view: Table) -> Callable[[Released], Table]:
    """A function that locates each table of a release with this view of its persons."""

    def where(one: Released) -> Table:
        return replace(view, name=one.name)

    return where


def _column(column: PublishedColumn) -> dict[str, Any]:
    role = "event" if column.role == "quasi" else column.role
    return {**column.as_dict(), "role": role}


def _released(data: Mapping[str, Any], persons: Layout) -> Released:
    listed = [
        {**one, "role": "quasi" if one["role"] == "event" else one["role"]}
        for one in data["columns"]
    ]
    if not all(is_column(one, persons.cells) for one in listed) or not all(
        map(is_asked, data["requirements"])
    ):
        raise ValueError("a column or a requirement that cannot be")
    key, links = [data["key"]] * (data["key"] is not None), dict(data["links"])
    named = (data["table"], data["name"], *key, *links, *links.values())
    if not all(isinstance(name, str) for name in named):
        raise ValueError("a name that is no text")
    columns = [PublishedColumn.from_dict(one) for one in listed]
    layout = Layout(
        algorithm=persons.algorithm,
        cells=persons.cells,
        columns=tuple(columns),
        class_id=None,
        key=data["key"],
        links=links,
    )
    required = tuple(Requirement(**item) for item in data["requirements"])
    return Released(data["table"], data["name"], layout, required)
