"""Verification against a population: k-map and delta-presence of every published tuple.

A member of the population matches a tuple where all of its cells admit the member's values. The
release alone cannot tell: where the population (or the hierarchy of a column) is not at hand these
requirements are not checked, and nothing is claimed of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from anonymizer.compile import Sql, Table, ident
from anonymizer.release.layout import Layout, PublishedColumn, Requirement
from anonymizer.verify.columns import cell_parts, quasi, type_sql
from anonymizer.verify.exact import DENOMINATOR, upper_bound
from anonymizer.verify.questions import Question, greatest, least
from anonymizer.verify.result import NotChecked

NAMES = ("k_map", "delta_presence")
NEEDED = "needs the population, which is not part of the release"


@dataclass(frozen=True, slots=True)
class Members:
    """A population as distinct tuples: `members` of each, and a column per quasi-identifier."""

    table: Table
    values: Mapping[str, str]
    """Source column to the physical column that holds the population's values."""
    nodes: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (value, label): every value with itself and with each ancestor."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One published column beside the population's, as the template needs them."""

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
        """The cell's text without its NULL, in the template."""
        return Sql("c.body")

    @property
    def label(self) -> Sql:
        """The label of a node, in the template."""
        return Sql("h.label")


def of_population(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that only a population can answer."""
    return tuple(item for item in requirements if item.name in NAMES)


def not_checked(requirements: Sequence[Requirement], reason: str) -> tuple[NotChecked, ...]:
    """What is said of them where they cannot be answered."""
    return tuple(NotChecked(item.name, reason) for item in of_population(requirements))


def population_questions(
    view: Table, layout: Layout, requirements: Sequence[Requirement], members: Members
) -> Iterator[Question]:
    """What has to hold for every published tuple, and (delta-presence) for every member."""
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
        if item.name == "k_map":
            k = item.parameters["k"]
            own = {**shared, "k": k}
            yield Question(item.name, None, k, "verify/population.sql.j2", own, (least(),))
            continue
        low, high = item.parameters["min"], item.parameters["max"]
        own = {**shared, "k": None, "least": _lower_bound(low), "most": upper_bound(high)}
        parts = (least("min"), greatest("max"))
        required = {"min": low, "max": high}
        yield Question(item.name, None, required, "verify/population.sql.j2", own, parts)


def _lower_bound(value: float) -> Fraction:
    """The decimal that was written; one that has to be cut is taken upwards, the strict side."""
    cut = upper_bound(value)
    exact = Fraction(repr(value))
    return cut if cut == exact else cut + Fraction(1, DENOMINATOR)
