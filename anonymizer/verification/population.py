"""Verification against a population: k-map and delta-presence of every published tuple.

A member of the population matches a tuple if all cells of the tuple admit the member's values. This
cannot be checked from the release alone: if the population (or the hierarchy of a column) is not
available, these requirements are reported as not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.compile import Sql, Table, ident
from anonymizer.contract.checks import NotChecked
from anonymizer.contract.columns import cell_parts, quasi, type_sql
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.privacy.of_policy.registry import BY_NAME, GUARANTEES
from anonymizer.verification.guarantees import question, refuse_unread
from anonymizer.verification.questions import Question

NEEDED = "needs the population, which is not part of the release"


@dataclass(frozen=True, slots=True)
class Members:
    """A population as distinct tuples, with `members` (their number) and quasi-identifiers."""

    table: Table
    values: Mapping[str, str]
    """Source column to the physical column that holds the population's values."""
    nodes: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (value, label): every value with itself and with each ancestor."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A published column with that of the population, as the template needs them."""

    column: PublishedColumn
    physical: str
    nodes: Table | None

    @property
    def parts(self) -> list[Sql]:
        return [ident(part) for part in cell_parts(self.column)]

    @property
    def type(self) -> Sql:
        return type_sql(self.column.sql_type)

    @property
    def body(self) -> Sql:
        """The cell's text without ` or NULL`, in the template."""
        return Sql("c.body")

    @property
    def label(self) -> Sql:
        """The label of a node, in the template."""
        return Sql("h.label")


def of_population(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that need a population."""
    names = {guarantee.name for guarantee in GUARANTEES if guarantee.of_population}
    return tuple(item for item in requirements if item.name in names)


def not_checked(requirements: Sequence[Requirement], reason: str) -> tuple[NotChecked, ...]:
    """The requirements as not checked, with the reason."""
    return tuple(NotChecked(item.name, reason) for item in of_population(requirements))


def population_questions(
    view: Table, layout: Layout, requirements: Sequence[Requirement], members: Members
) -> Iterator[Question]:
    """The conditions on every published tuple, and (delta-presence) on every member."""
    shared: dict[str, Any] = {
        "data": view,
        "group": layout.class_id,
        "label": layout.class_id or "class",
        "person": layout.person_id,
        "members": members.table,
        "columns": [
            Compared(column, members.values[column.column], members.nodes.get(column.column))
            for column in quasi(layout)
        ],
        "nodes": list(members.nodes.values()),
    }
    for item in of_population(requirements):
        guarantee = BY_NAME[item.name]
        refuse_unread(guarantee, item)
        for ask in guarantee.asks:
            yield question(ask, item, shared)
