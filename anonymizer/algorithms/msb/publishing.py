"""Publishes the rows with their group, and a separate table for every sensitive column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.cells import Cell
from anonymizer.algorithms.compiled import Separated, published
from anonymizer.algorithms.encode import CODED, PERSONS
from anonymizer.compile import Sql, Table, ident
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.policy import Policy
from anonymizer.policy.names import separated_tables
from anonymizer.source.draws import later_draw
from anonymizer.source.profile import Attribute, published_type
from anonymizer.source.roles import Roles
from anonymizer.steps import Step

Columns = tuple[tuple[str, Sql], ...]

GROUP = Sql("r.group_number")


@dataclass(frozen=True, slots=True)
class ExactRows:
    """The statement that writes rows whose quasi-identifiers are published exactly."""

    columns: Columns
    """Published names and expressions over the row `r` and its cells `c`, in order."""
    cells: tuple[tuple[Sql, Sql], ...]
    attributes: tuple[Attribute, ...]
    persons: Table | None = None
    """The table of persons' numbers, if rows belong to persons."""

    def step(
        self, target: Table, extra: Sequence[tuple[str, Sql]] = (), *, ordered: bool = True
    ) -> Step:
        """The step that writes the rows to `target`, with `extra` columns where it is a link."""
        return Step(
            "write the release",
            "msb/rows.sql.j2",
            {
                "release": target,
                "coded": CODED,
                "domains": [a.domain for a in self.attributes],
                "attributes": self.attributes,
                "cells": self.cells,
                "persons": self.persons,
                "columns": [(sql, ident(name)) for name, sql in (*self.columns, *extra)],
                "ordered": ordered,
            },
        )


def layout_of(policy: Policy, roles: Roles, *, generalized: bool) -> tuple[Layout, Columns]:
    """The layout, and the columns of the view, which has no sensitive columns."""
    layout, columns = published(policy, replace(roles, sensitive=()), {})
    group = policy.generated_name("group_id")
    sensitive = tuple(
        PublishedColumn(
            s.column,
            "sensitive",
            s.kind,
            published_type(s.sql_type),
            name=policy.column_name(s.column),
        )
        for s in roles.sensitive
    )
    layout = replace(
        layout,
        class_id=layout.class_id if generalized else None,
        group_id=group,
        tables=separated_tables(policy),
        columns=(*layout.columns, *sensitive),
    )
    # the first column is the class number, which does not exist without classes
    return layout, ((group, GROUP), *(columns if generalized else columns[1:]))


def exact_rows(policy: Policy, roles: Roles, columns: Columns) -> ExactRows:
    """The statement for rows whose cells are the exact values."""
    typed = policy.publish.cells == "typed"
    cells: list[tuple[Sql, Sql]] = []
    for a in roles.quasi:
        cells += _typed(a) if typed else [(Cell(a).out, Sql(f"{a.d}.label"))]
    persons = PERSONS if policy.person is not None else None
    return ExactRows(columns, tuple(cells), roles.quasi, persons)


def _typed(attribute: Attribute) -> list[tuple[Sql, Sql]]:
    cell, value = Cell(attribute), Sql(f"{attribute.d}.value")
    nullable = (cell.out_nullable, Sql(f"{value} is null"))
    if cell.shape == "range":
        return [(cell.out_lo, value), (cell.out_hi, value), nullable]
    if cell.shape == "set":
        return [(cell.out, Sql(f"[{value}]"))]
    return [(cell.out, Sql(f"{attribute.d}.label")), nullable]


@dataclass(frozen=True, slots=True)
class SeparateValues:
    """The statement that writes one sensitive column with the groups of its values."""

    table: str
    group: str
    name: str
    value: Sql
    draw: Sql
    records: Table

    def step(self, target: Table) -> Step:
        """The step that writes the table to `target`."""
        return Step(
            f"write {self.table}",
            "msb/separate.sql.j2",
            {
                "release": target,
                "coded": self.records,
                "group": self.group,
                "name": self.name,
                "value": self.value,
                "draw": self.draw,
            },
        )


def separate_values(
    policy: Policy, roles: Roles, layout: Layout, records: Table
) -> tuple[Separated, ...]:
    """One table per sensitive column, each in a separate order."""
    assert layout.group_id is not None
    return tuple(
        SeparateValues(
            layout.tables[s.column],
            layout.group_id,
            policy.column_name(s.column),
            s.s,
            later_draw("draw", f"table {s.index}"),
            records,
        )
        for s in roles.sensitive
    )
