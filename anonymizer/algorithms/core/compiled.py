"""The result of compiling a policy: stages, the statement that writes the rows, the layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

from anonymizer.algorithms.core.cells import CELLS, Cell, typed_cells
from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.contract.layout import Layout, PublishedColumn
from anonymizer.policy import Policy
from anonymizer.policy.columns import weights_given
from anonymizer.source.profile import Attribute, KeptColumn, Sensitive, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import coding
from anonymizer.steps import Plan, Row, Stage, Step

STAGED = work("staged")
"""Placeholder for a release whose target is only known at run time."""


def staged_values(number: int) -> Table:
    """Placeholder for a further table of a release, whose target is only known at run time."""
    return work(f"staged_values_{number}")


BY_DRAW = Sql("r.draw")


class RowWriter(Protocol):
    """Makes the statement that writes the view's rows."""

    @property
    def columns(self) -> Sequence[tuple[str, Sql]]:
        """Published names and their expressions, in order."""

    def step(
        self, target: Table, extra: Sequence[tuple[str, Sql]] = (), *, ordered: bool = True
    ) -> Step:
        """The step that writes the rows to `target`, with `extra` columns where it is a link."""


class SeparateTable(Protocol):
    """Makes the statement that writes a sensitive column to a separate table."""

    @property
    def table(self) -> str:
        """Name of the published table."""

    def step(self, target: Table) -> Step:
        """The step that writes the table to `target`."""


@dataclass(frozen=True, slots=True)
class Assembly:
    """The statement that joins everything into the published rows."""

    columns: tuple[tuple[str, Sql], ...]
    """Published names and expressions, in order."""
    keys: tuple[Sql, ...]
    buckets: tuple[Any, ...] = ()
    order: Sql = BY_DRAW
    persons: Table | None = None
    units: Table | None = UNITS
    """The units; None where `members` has the keys of units itself."""
    members: Table = MEMBERS

    def step(
        self, target: Table, extra: Sequence[tuple[str, Sql]] = (), *, ordered: bool = True
    ) -> Step:
        """The step that writes the rows to `target`, with `extra` columns where it is a link."""
        columns = [(expression, ident(name)) for name, expression in (*self.columns, *extra)]
        return Step(
            "write the release",
            "release/rows",
            {
                "release": target,
                "coded": CODED,
                "units": self.units,
                "members": self.members,
                "cells": CELLS,
                "buckets": [b.dealt for b in self.buckets],
                "persons": self.persons,
                "buckets_used": self.buckets,
                "columns": columns,
                "keys": self.keys,
                "order": self.order if ordered else None,
            },
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """An additional entry of the manifest: counts and levels, no values."""

    name: str
    """Its name in the manifest."""
    query: Step
    tell: Callable[[list[Row]], Any]
    """Converts the query's rows to the value in the manifest."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A policy compiled for one table: the stages to run, and the layout to publish."""

    stages: tuple[Stage, ...]
    assembly: RowWriter
    layout: Layout
    counterfeits: Table | None = None
    """Counterfeit rows, in the columns of the snapshot with a negative `row_ref`."""

    separated: tuple[SeparateTable, ...] = ()
    """Sensitive columns that are published in separate tables."""

    findings: tuple[Finding, ...] = ()
    """Additional entries of the manifest."""

    def writes(self, rows: Table, place: Callable[[str], Table]) -> tuple[Step, ...]:
        """The steps that write the rows to `rows`, and each further table to its `place`."""
        return (self.assembly.step(rows), *(s.step(place(s.table)) for s in self.separated))

    def plan(self, title: str, target: Table = STAGED) -> Plan:
        return Plan(title, (*self.stages, *self.writes(target, work)))


Read: TypeAlias = Attribute | Sensitive | KeptColumn
Expressions: TypeAlias = list[tuple[str, Sql]]
"""Published names of columns, each with its expression over r, c and buckets."""


def published_columns(
    policy: Policy, roles: Roles, buckets: Mapping[str, Any]
) -> tuple[Layout, tuple[tuple[str, Sql], ...]]:
    """The columns of a release: their layout, and the expressions over r, c and buckets.

    `buckets` maps a protected column to its assigned values (`alias`, `value`, `label`).
    """
    columns: Expressions = [(policy.generated_name("class_id"), Sql("c.number"))]
    person = None
    if policy.person is not None:
        person = policy.generated_name("person_id")
        # numbered without gaps if persons were suppressed
        columns.append((person, Sql("dense_rank() over (order by p.number)")))
    every: tuple[Read, ...] = (*roles.kept, *roles.sensitive, *roles.quasi)
    shown = {one.column: one for one in every}
    described: list[PublishedColumn] = []
    for name in policy.columns:
        if name not in shown:
            continue
        dealt = buckets.get(name)
        item, expressions = _column(policy, shown[name], dealt)
        columns += expressions
        if dealt:
            bucket = policy.generated_name(f"{name}_bucket")
            columns.append((bucket, Sql(f"{dealt.alias}.bucket")))
            item = replace(item, bucket=bucket)
        described.append(replace(item, masks=roles.mask_descriptions(name)))
    layout = Layout(
        algorithm=policy.algorithm.name,
        cells=policy.publish.cells,
        columns=tuple(described),
        class_id=policy.generated_name("class_id"),
        person_id=person,
    )
    return layout, tuple(columns)


def _column(policy: Policy, column: Read, dealt: Any) -> tuple[PublishedColumn, Expressions]:
    """A published column; `dealt`: its values in buckets, if it has any."""
    if isinstance(column, Attribute):
        return _cells(policy, column, dealt)
    name, own = column.column, policy.column_name(column.column)
    sql_type = published_type(column.sql_type)
    if isinstance(column, KeptColumn):
        item = PublishedColumn(name, "keep", "categorical", sql_type, own)
        return item, [(own, Sql(f"r.{column.k}"))]
    value = Sql(str(dealt.value) if dealt else f"r.{column.s}")
    return PublishedColumn(name, "sensitive", column.kind, sql_type, own), [(own, value)]


def _cells(policy: Policy, attribute: Attribute, dealt: Any) -> tuple[PublishedColumn, Expressions]:
    """A published quasi-identifier: cells of its classes, or values in buckets."""
    name, cell = attribute.column, Cell(attribute)
    item = PublishedColumn(
        column=name,
        role="semi" if dealt else "quasi",
        kind=attribute.kind,
        sql_type=published_type(attribute.sql_type),
        hierarchy=cell.shape == "node",
        grid=attribute.grid,
        weight=weights_given(policy.columns).get(name),
        like=policy.columns[name].like,
        **codes_of(policy, attribute),
    )
    typed = policy.publish.cells == "typed"
    own = policy.column_name(name)
    item, names = named_cells(item, cell.shape, own, policy.generated_name, typed=typed)
    texts = [f"c.{out}" for out, _ in (typed_cells(cell) if typed else ((cell.out, None),))]
    if dealt and not typed:
        texts = [f"coalesce({dealt.label}, {text})" for text in texts]
    columns = [(one, Sql(text)) for one, text in zip(names, texts, strict=True)]
    if dealt and typed:
        value = policy.generated_name(f"{name}_value")
        columns.append((value, Sql(str(dealt.value))))
        item = replace(item, value=value)
    return item, columns


def codes_of(policy: Policy, attribute: Attribute) -> dict[str, Any]:
    """The bottom and top codes beyond which a column's intervals are open."""
    spec = coding(policy, attribute.column, attribute.sql_type)
    return {"bottom": spec.bottom, "top": spec.top} if spec is not None else {}


def named_cells(
    item: PublishedColumn,
    shape: str,
    own: str,
    generated: Callable[[str], str] = str,
    *,
    typed: bool,
) -> tuple[PublishedColumn, tuple[str, ...]]:
    """A generalized column with the names under which its cells are published, and these names."""
    if not typed or shape == "set":
        return replace(item, name=own, list_cells=typed), (own,)
    nullable = generated(f"{item.column}_nullable")
    if shape == "range":
        lo, hi = generated(f"{item.column}_lo"), generated(f"{item.column}_hi")
        return replace(item, lo=lo, hi=hi, nullable=nullable), (lo, hi, nullable)
    return replace(item, name=own, nullable=nullable), (own, nullable)
