"""The manifest of a release, read from an untrusted source as strict types."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, Field, TypeAdapter, model_validator, with_config

from anonymizer.compile import Table
from anonymizer.contract.layout import (
    STRICT,
    Layout,
    PublishedColumn,
    Requirement,
    only,
    with_loss,
)
from anonymizer.policy.kinds import ANONYMISED, CLASSLESS, PSEUDONYMISED, ReleaseKind
from anonymizer.policy.safe_harbor import LETTER_OF, LETTERS

GENERALIZED = frozenset({"quasi", "semi"})
FIGURES = ("required", "achieved", "failing")
"""Fields of a check in addition to its verdict."""
MOST = 10**30
"""An upper bound on the figures of a release, below the largest doubles."""

Number = Annotated[int, Field(gt=-MOST, lt=MOST)] | Annotated[float, Field(gt=-MOST, lt=MOST)]
Count = Annotated[int, Field(ge=0, lt=MOST)]
Figure = Number | Annotated[str, only(lambda text: [float(text)])] | None
"""A number, or its text (an infinity, or an engine's decimal), or none."""
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class StrictPart(BaseModel):
    """A part of a manifest."""

    model_config = STRICT


class StatedCheck(StrictPart):
    """A check that was made, with the SQL by which a recipient can repeat it."""

    name: str
    column: str | None
    required: Mapping[str, Any] | Figure
    achieved: Mapping[str, Any] | Figure
    passed: bool
    sql: str | None
    failing: Mapping[str, Any] | Figure


class StatedVerification(StrictPart):
    """The checks of a run."""

    passed: bool
    checks: list[StatedCheck]
    not_checked: list[dict[str, str]] = []


class Counts(StrictPart, extra="allow"):
    """The rows, and the persons, that are published and left out."""

    rows: Count
    suppressed: Count
    persons: Count = 0
    suppressed_persons: Count = 0
    counterfeits: Count = 0


class TableMeasures(Counts):
    """The measures of a further table."""

    ncp: dict[str, Number]


class Measures(Counts):
    """The measures of a release; reports calculate with its losses."""

    __pydantic_extra__: dict[str, Figure]
    class_max: Number | None = None
    suppressed_share: Number | None = None
    tables: dict[str, TableMeasures] = {}

    @model_validator(mode="after")
    def _losses(self) -> Measures:
        figures = self.__pydantic_extra__.items()
        if any(name.startswith("ncp") and isinstance(of, str) for name, of in figures):
            raise ValueError("a loss that is no number")
        return self


class HarborColumn(StrictPart):
    """A column with an identifier of Safe Harbor, and what was done with it."""

    column: str
    done: str


class Letter(StrictPart):
    """One of the identifiers of Safe Harbor."""

    letter: str
    identifier: str
    columns: list[HarborColumn]
    done: str | None = None


class Content(StrictPart):
    """A manifest. (`export` is no field of it: no seal covers it.)"""

    format: Any = None
    run_id: Annotated[str, Field(pattern="^[0-9a-f]{1,64}$")]
    created: str
    kind: ReleaseKind = ANONYMISED
    view: str
    policy_digest: str
    algorithm: str
    versions: Annotated[dict[str, str], only(lambda of: "anonymizer" in of)]
    reproducible: bool
    requirements: tuple[Requirement, ...]
    verification: StatedVerification
    measures: Measures
    layout: Layout
    certificate: str
    known_attacks: list[str]
    safe_harbor: list[Letter] = []
    tables: dict[str, Any] = {}
    seal: Any = None
    files: dict[str, Sha256] = {}
    carried_from: Any = None

    @model_validator(mode="after")
    def _consistent(self) -> Content:
        layout = self.layout
        alone = {column.column for column in with_loss(layout)}
        created = dt.datetime.fromisoformat(self.created).astimezone(dt.UTC)
        if (
            created.isoformat(timespec="seconds") != self.created
            or layout.algorithm != self.algorithm
            or not all(has_cells(column, layout.cells) for column in layout.columns)
            or any(c.like and c.like not in alone for c in layout.columns)
            or not self._is_of_kind()
            or not self._is_harbored()
        ):
            raise ValueError("its fields contradict each other")
        return self

    def _is_of_kind(self) -> bool:
        """Return whether it is "anonymised" only with classes and without persistent tokens."""
        layout = self.layout
        masks = [mask for column in layout.columns for mask in column.masks]
        for table in self.tables.get("tables", ()):
            masks += [mask for column in table["columns"] for mask in column.get("masks", ())]
        if self.kind != PSEUDONYMISED:
            return self.algorithm != CLASSLESS and not any(one.get("lasting") for one in masks)
        promises = (self.tables, self.requirements, layout.class_id, layout.group_id, layout.tables)
        return self.algorithm != CLASSLESS or not (
            any(promises) or any(one.role in GENERALIZED or one.bucket for one in layout.columns)
        )

    def _is_harbored(self) -> bool:
        """Return whether Safe Harbor is stated consistently in all places and for every column, or
        nowhere.
        """
        year, columns = self.layout.safe_harbor, self.layout.columns
        if year is None or "safe_harbor" not in self.model_fields_set:
            stated = "safe_harbor" in self.model_fields_set or any(c.safe_harbor for c in columns)
            return year is None and not stated
        made = int(self.created[:4])
        held = {one.column: of.letter for of in self.safe_harbor for one in of.columns if one.done}
        return (
            made - 1 <= year <= made
            and not self.tables
            and [(one.letter, one.identifier) for one in self.safe_harbor]
            == [(letter, says) for letter, (says, _) in LETTERS.items()]
            and all(one.columns or one.done is not None for one in self.safe_harbor)
            and all(
                c.safe_harbor and held.get(c.column) == LETTER_OF.get(c.safe_harbor)
                for c in columns
            )
            and not any(
                one.role == "semi" or one.hierarchy for one in columns if one.safe_harbor != "none"
            )
        )


def parse_manifest(text: str) -> Content:
    """Read a manifest. Raises ValueError for one that no run writes."""
    content, data = Content.model_validate_json(text), json.loads(text)
    told = {"layout": content.layout.as_dict(), "requirements": map(asdict, content.requirements)}
    if any(json.loads(json.dumps(of, default=list)) != data[name] for name, of in told.items()):
        raise ValueError("a field is missing")
    return content


def has_cells(column: PublishedColumn, cells: str) -> bool:
    """True if it says of its cells what there is to say: nothing, if it is not generalized; bounds,
    nodes or lists, and only one of these, if they are typed.
    """
    bounds = column.lo is not None
    if column.role not in GENERALIZED:
        kept = column.role == "keep" and column.kind != "categorical"
        odd = bounds or column.list_cells or column.hierarchy or column.like is not None
        return not (kept or odd)
    if cells == "typed":
        return bounds + column.list_cells + column.hierarchy == 1
    return not (bounds or column.list_cells)


# The tables of a release of several tables, as listed in its manifest.


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class ReleasedTable:
    """One published table."""

    table: str
    """Its name in the policy."""
    name: str
    """Its name in the release."""
    layout: Layout
    """Its layout, in which events are quasi-identifiers."""
    requirements: tuple[Requirement, ...] = ()
    """The requirements on its columns in the classes of their persons."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Tables:
    """A release of several tables: the persons' first, each other one after its parent."""

    person: str
    k: Annotated[int, Field(ge=2)]
    events: Annotated[int, Field(ge=0, le=3)]
    rows: bool
    sensitive: bool
    tables: Annotated[tuple[ReleasedTable, ...], Field(min_length=1)]
    required: tuple[Requirement, ...] = ()
    """The requirements on the columns of the persons, as in a release of their table alone."""
    joined: bool = False
    """True if known rows come with those above them, and with which of these they share."""

    @property
    def persons(self) -> ReleasedTable:
        return self.tables[0]

    @property
    def children(self) -> tuple[ReleasedTable, ...]:
        return self.tables[1:]

    def table(self, table: str) -> ReleasedTable:
        """The table with this name in the policy."""
        return next(one for one in self.tables if one.table == table)

    def as_dict(self) -> dict[str, Any]:
        """As in the manifest, whose `layout` has the columns of the persons' table."""
        return {
            "person": self.person,
            "k": self.k,
            "knows": {
                "events": self.events,
                **({"joined": True} if self.joined else {}),
                "rows": self.rows,
                "sensitive": self.sensitive,
            },
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
        shared = {"algorithm": persons.algorithm, "cells": persons.cells, "class_id": None}
        listed = [
            {
                **{name: one[name] for name in ("table", "name", "requirements")},
                "layout": shared | {name: one[name] for name in ("columns", "key", "links")},
            }
            for one in data["tables"]
        ]
        section = {"person": data["person"], "k": data["k"], **data["knows"], "tables": listed}
        found = _TABLES.validate_json(json.dumps(section))
        first, names = found.persons, [one.table for one in found.tables]
        if first.table != found.person or first.layout.links:
            raise ValueError("the first table is not that of the persons")
        for place, one in enumerate(found.children, 1):
            if len(one.layout.links) != 1 or not set(one.layout.links.values()) <= {*names[:place]}:
                raise ValueError("a table hangs on none before it")
        columns = [column for one in found.tables for column in one.layout.columns]
        if not all(has_cells(column, persons.cells) for column in columns):
            raise ValueError("a column that cannot be")
        known = any(c.role == "quasi" for one in found.children for c in one.layout.columns)
        more = found.events or found.rows or not found.sensitive
        if (found.events and not known) or (found.rows and not found.children) or not more:
            raise ValueError("something is known that the tables do not have")
        if len(set(names)) < len(names) or len({one.name for one in found.tables}) < len(names):
            raise ValueError("two tables have one name")
        own = replace(first, layout=replace(persons, key=first.layout.key))
        return replace(found, tables=(own, *found.children), required=tuple(required))


def in_release(view: Table) -> Callable[[ReleasedTable], Table]:
    """A function that locates each table of a release with this view of its persons."""

    def where(one: ReleasedTable) -> Table:
        return replace(view, name=one.name)

    return where


def _column(column: PublishedColumn) -> dict[str, Any]:
    role = "event" if column.role == "quasi" else column.role
    return {**column.as_dict(), "role": role}


_TABLES = TypeAdapter(Tables)
