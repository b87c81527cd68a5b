"""Guarantees as questions about the release alone, or about a population."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Any

from anonymizer.compile import Sql, Table, ident
from anonymizer.contract.checks import NotChecked
from anonymizer.contract.layout import (
    Ask,
    Layout,
    PublishedColumn,
    Requirement,
    cell_parts,
    cells,
    flags,
    quasi,
    type_sql,
)
from anonymizer.errors import NothingToCheckError
from anonymizer.guarantees.guarantee import Guarantee
from anonymizer.guarantees.requirements import BY_NAME, GUARANTEES
from anonymizer.policy.paths import column_path
from anonymizer.verification.questions import FigureColumn, Over, Question

# Guarantees: for each requirement, the questions of its descriptor, from the release alone.


DIGITS = 18
"""Decimals of a bound below 1, significant digits of a larger one; more are cut off strictly, so
that no release passes because of it. Products with counts stay within 128-bit integers."""
MOST = 10**12
"""A bound of more is as good as none: no ratio of two counts is as large."""
TOLERANCES = {"entropy_l": 1e-12}
"""By template: what a logarithm may lack, since a tie of logarithms is lost in rounding."""


def upper_bound(value: float | int | str | Decimal) -> Fraction:
    """The decimal as written, cut off downwards."""
    return _round_decimal(_decimal(value), ROUND_FLOOR)


def lower_bound(value: float | int | str | Decimal) -> Fraction:
    """The decimal as written, cut off upwards."""
    return _round_decimal(_decimal(value), ROUND_CEILING)


def factor(value: float | int | str | Decimal) -> Fraction:
    """The ratio whose logarithm is the bound, cut off downwards."""
    with localcontext() as context:
        context.prec = 60
        # (e^28 is more than `MOST`)
        return _round_decimal(min(_decimal(value), Decimal(28)).exp(), ROUND_FLOOR)


def _decimal(value: float | int | str | Decimal) -> Decimal:
    return Decimal(repr(value) if isinstance(value, float) else value)


def _round_decimal(number: Decimal, rounding: str) -> Fraction:
    exact = Fraction(number)
    if exact >= MOST:
        return Fraction(MOST)
    places = DIGITS - max(0, number.adjusted() + 1)
    with localcontext() as context:
        context.prec = 60
        return Fraction(number.quantize(Decimal(1).scaleb(-places), rounding))


Groups = dict[str, Any]


def questions(view: Table, layout: Layout, requirement: Requirement) -> Iterator[Question]:
    """Every condition of one requirement.

    Raises `NothingToCheckError` for requirements that the release alone cannot answer.
    """
    guarantee = BY_NAME.get(requirement.name)
    if guarantee is None or guarantee.of_population or guarantee.of_source:
        raise NothingToCheckError.at(
            f"privacy.{requirement.name}",
            "cannot be judged from the release alone",
            allowed=", ".join(g.name for g in GUARANTEES if not g.of_population | g.of_source),
        )
    refuse_unread(guarantee, requirement)
    for ask in guarantee.asks_in(requirement.scope):
        if ask.of == "values":
            yield question(ask, requirement, _values(view, layout, requirement))
            continue
        groups = {"data": view, "group": layout.class_id, "person": layout.person_id}
        groups["label"] = layout.class_id or "tuple"
        if ask.of == "tuples":
            cut = {**groups, "flags": flags(layout), "cells": cells(layout)}
            yield question(ask, requirement, cut)
        elif layout.class_id is not None:
            yield question(ask, requirement, groups)


def refuse_unread(guarantee: Guarantee, requirement: Requirement) -> None:
    """Refuse parameters that no question reads: they might change what the guarantee means."""
    if guarantee.unread(requirement):
        raise NothingToCheckError.at(
            f"privacy.{requirement.name}",
            "has a parameter that no check reads",
            hint="was the manifest written by this version of the tool?",
        )


def question(ask: Ask, requirement: Requirement, groups: Mapping[str, Any]) -> Question:
    """The question of a descriptor about a requirement on these groups."""
    if ask.persons and groups["person"] is None:
        said = "counts persons, which the release does not distinguish"
        raise NothingToCheckError.at(f"privacy.{requirement.name}", said)
    parameters = ask.parameters(requirement)
    worst = ask.worst if isinstance(ask.worst, Mapping) else {"achieved": ask.worst}
    return Question(
        ask.name.format(name=requirement.name),
        requirement.column,
        ask.required(parameters),
        ask.template.format(**parameters),
        {
            **groups,
            **{name: parameters[name] for name in ask.given},
            **{name: upper_bound(parameters[of]) for name, of in ask.upper.items()},
            **{name: lower_bound(parameters[of]) for name, of in ask.lower.items()},
            **{name: factor(parameters[of]) for name, of in ask.logarithms.items()},
            **({"tolerance": TOLERANCES[ask.template]} if ask.template in TOLERANCES else {}),
            **ask.settings,
            **(ask.computed(requirement) if ask.computed is not None else {}),
        },
        tuple(FigureColumn(name, which) for name, which in worst.items()),
        {name: parameters[name] for name in ask.constants} or None,
    )


def _values(view: Table, layout: Layout, requirement: Requirement) -> Groups:
    """The groups of the requirement's scope, with the values of its column."""
    column = next((c for c in layout.columns if c.column == requirement.column), None)
    if column is None:
        raise NothingToCheckError.at(
            f"privacy.{requirement.name}", "names no column that the release publishes"
        )
    data, group, person = view, layout.class_id, layout.person_id
    if requirement.scope == "bucket":
        # at most one row per person and bucket is a condition of form, so rows count here
        group, person = column.bucket, None
    elif requirement.scope == "group":
        data = Table(layout.tables[column.column], view.schema, view.catalog)
        group, person = layout.group_id, None
    if group is None:
        where = {"class": "classes", "bucket": "buckets", "group": "groups"}[requirement.scope]
        raise NothingToCheckError.at(
            column_path(column.column, "protect"), f"the release has no {where} to judge"
        )
    nulls_count = bool(requirement.parameters.get("null_as_value", False))
    return groups_of(data, group, person, column, type_sql(column.sql_type), nulls_count)


def groups_of(
    data: Table,
    group: str,
    person: str | None,
    column: PublishedColumn,
    sql_type: Sql,
    nulls_count: bool,
) -> Groups:
    """The parameters of every template that reads the values of a column."""
    return {
        "data": data,
        "group": group,
        "label": group,
        "person": person,
        "column": column,
        "type": sql_type,
        "nulls_count": nulls_count,
    }


# Verification against a population: k-map and delta-presence of every published tuple.
#
# A member of the population matches a tuple if all cells of the tuple admit the member's values.
# This cannot be checked from the release alone: if the population (or the hierarchy of a column) is
# not available, these requirements are reported as not checked.


NEEDED = "needs the population, which is not part of the release"
UNSEEN = "needs the source, which only the run can see"


@dataclass(frozen=True, slots=True)
class Members:
    """A population as distinct tuples, with `members` (their number) and quasi-identifiers."""

    table: Table
    values: Mapping[str, str]
    """Source column to the physical column that holds the population's values."""
    nodes: Mapping[str, Table] = field(default_factory=dict)
    """Source column to a table (value, label): every value with itself and with each ancestor."""


@dataclass(frozen=True, slots=True)
class PopulationColumn:
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


def of_source(requirements: Sequence[Requirement]) -> tuple[Requirement, ...]:
    """The requirements that only a run can judge, from the source."""
    names = {guarantee.name for guarantee in GUARANTEES if guarantee.of_source}
    return tuple(item for item in requirements if item.name in names)


def source_questions(
    requirements: Sequence[Requirement], units: Mapping[str, str], groups: Mapping[str, Any]
) -> Iterator[Question]:
    """The conditions that compare the rows of every class with the source.

    `units`: the physical column of each column that is not published.
    """
    for item in of_source(requirements):
        guarantee = BY_NAME[item.name]
        refuse_unread(guarantee, item)
        for ask in guarantee.asks:
            physical = units[str(item.column)]
            yield question(ask, item, {**groups, "physical": physical, "person": None})


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
            PopulationColumn(
                column, members.values[column.column], members.nodes.get(column.column)
            )
            for column in quasi(layout)
        ],
        "nodes": list(members.nodes.values()),
    }
    for item in of_population(requirements):
        guarantee = BY_NAME[item.name]
        refuse_unread(guarantee, item)
        for ask in guarantee.asks:
            yield question(ask, item, shared)


# Rules on event columns, whose cells are generalized: judged in the worst case they allow.
#
# A cell may stand for several values. The release lists which cells admit one and the same value
# (`together`); a choice of values that breaks the rule, if there is one, is found among those. A
# cell of which nothing is said, or less than its own text says, admits anything.


OWNED = "owned_rows"
CLASS, PERSON = "anonymizer:class", "anonymizer:person"
"""Columns with a row's class and person; no published column has these names."""
RULE, TOGETHER = "eir_l", "together"


def of_cells(
    layout: Layout, column: PublishedColumn, requirement: Requirement, owned: Mapping[str, Any]
) -> Iterator[Question]:
    """The questions of a rule. Raises NothingToCheckError for a rule that cells cannot answer.

    `owned`: the parameters that lead the rows to their persons.
    """
    listed = requirement.parameters.get(TOGETHER)
    if (
        requirement.name != RULE
        or set(requirement.parameters) != {"l", TOGETHER}
        or column.kind != "categorical"
        or column.list_cells
        or column.name is None
        or not is_listed(listed)
    ):
        said = "is on an event column, and the release does not say how its cells are to be read"
        raise NothingToCheckError.at(f"privacy.{requirement.name}", said)
    assert isinstance(listed, list | tuple)
    shown = PublishedColumn(column.column, "sensitive", "categorical", "BIGINT", name=column.name)
    judged = Layout(layout.algorithm, layout.cells, (shown,), class_id=CLASS, person_id=PERSON)
    parameters = {
        **owned,
        "together": numbered_labels(listed),
        "cell": column.name,
        "nullable": column.nullable,
        "class_name": CLASS,
        "person_name": PERSON,
    }
    over = Over(OWNED, "owned_cells", parameters)
    plain = replace(requirement, parameters={"l": requirement.parameters["l"]})
    for question in questions(Table(OWNED), judged, plain):
        yield replace(question, over=over)


def numbered_labels(listed: Sequence[Sequence[str]]) -> list[tuple[int, str]]:
    """Every label with the number of its set."""
    return [(place, label) for place, labels in enumerate(listed, 1) for label in labels]


def is_listed(listed: Any) -> bool:
    """Return whether it is a list of lists of labels."""
    return isinstance(listed, list | tuple) and all(
        isinstance(labels, list | tuple) and all(isinstance(label, str) for label in labels)
        for labels in listed
    )
