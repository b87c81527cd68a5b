"""From classes of units to published cells: intervals, hierarchy nodes, value sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from anonymizer.algorithms.mondrian.loss import shape
from anonymizer.algorithms.mondrian.partition import MEMBERS
from anonymizer.algorithms.prepare import UNITS
from anonymizer.compile import Sql, Table, ident, work
from anonymizer.plan import Step
from anonymizer.profile import Attribute

BOXES = work("boxes")
CELLS = work("cells")

Mode = Literal["text", "typed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One attribute's columns and tables while its cells are made."""

    attribute: Attribute

    @property
    def c(self) -> Sql:
        return self.attribute.c

    @property
    def f(self) -> Sql:
        return self.attribute.f

    @property
    def flagged(self) -> bool:
        return self.attribute.flagged

    @property
    def shape(self) -> str:
        return shape(self.attribute)

    @property
    def domain(self) -> Table:
        return self.attribute.domain

    @property
    def sets(self) -> Table:
        return work(f"sets_{self.attribute.index}")

    @property
    def labels(self) -> Table:
        return work(f"labels_{self.attribute.index}")

    def _named(self, prefix: str) -> Sql:
        return Sql(f"{prefix}{self.attribute.index}")

    @property
    def lo(self) -> Sql:
        return self._named("lo")

    @property
    def hi(self) -> Sql:
        return self._named("hi")

    @property
    def null(self) -> Sql:
        return self._named("null")

    @property
    def low(self) -> Sql:
        return self._named("low")

    @property
    def high(self) -> Sql:
        return self._named("high")

    @property
    def chosen(self) -> Sql:
        """Alias of its sets or labels."""
        return self._named("chosen")

    @property
    def out(self) -> Sql:
        """Its cell in the table of cells."""
        return self._named("cell")

    @property
    def out_lo(self) -> Sql:
        return self._named("cell_lo")

    @property
    def out_hi(self) -> Sql:
        return self._named("cell_hi")

    @property
    def out_nullable(self) -> Sql:
        return self._named("cell_nullable")


def value_label(value: str) -> str:
    """A category as it stands in a cell: in double quotes where it could be misread."""
    text = f"cast({value} as varchar)"
    return (
        f"case when {text} in ('', '*', 'NULL') or regexp_matches({text}, '[][,{{}}\"]')"
        f" or starts_with({text}, ' ') or ends_with({text}, ' ')"
        f" or ends_with({text}, ' or NULL')"
        f" then '\"' || replace({text}, '\"', '\"\"') || '\"' else {text} end"
    )


def text_cell(cell: Cell) -> Sql:
    """The text of a class's cell, by the grammar of published cells."""
    low, high = f"{cell.low}.value", f"{cell.high}.value"
    nullable = f"case when b.{cell.null} then ' or NULL' else '' end"
    single = f"b.{cell.lo} = b.{cell.hi}"
    if cell.shape == "range":
        several = f"'[' || cast({low} as varchar) || ', ' || cast({high} as varchar) || ']'"
        exact = f"cast({low} as varchar)"
    else:
        several, exact = f"{cell.chosen}.cell", value_label(low)
    return Sql(
        f"case when b.{cell.lo} is null then null"
        f" when {single} then {exact} || {nullable}"
        f" else {several} || {nullable} end"
    )


def typed_cells(cell: Cell) -> list[tuple[Sql, Sql]]:
    """The typed columns of a class's cell: bounds, or a list, or a node."""
    low, high = f"{cell.low}.value", f"{cell.high}.value"
    if cell.shape == "range":
        return [
            (cell.out_lo, Sql(low)),
            (cell.out_hi, Sql(high)),
            (cell.out_nullable, Sql(f"b.{cell.null}")),
        ]
    single = f"b.{cell.lo} = b.{cell.hi}"
    if cell.shape == "set":
        members = (
            f"case when b.{cell.lo} is null then [] when {single} then [{low}]"
            f" else {cell.chosen}.cell end"
        )
        unflagged = f"case when b.{cell.null} then list_append({members}, null) else {members} end"
        if cell.flagged:
            unflagged = f"case when b.{cell.f} then null else {unflagged} end"
        return [(cell.out, Sql(unflagged))]
    node = (
        f"case when b.{cell.lo} is null then null when {single} then {value_label(low)}"
        f" else {cell.chosen}.cell end"
    )
    return [(cell.out, Sql(node)), (cell.out_nullable, Sql(f"b.{cell.null}"))]


def cell_steps(attributes: Sequence[Attribute], mode: Mode) -> tuple[Step, ...]:
    """Steps that write `cells` from `members` and `units`."""
    made = [Cell(a) for a in attributes]
    shared = {"members": MEMBERS, "units": UNITS, "boxes": BOXES, "attributes": made}
    steps = [Step("extent of classes", "cells/boxes.sql.j2", shared)]
    for cell in made:
        if cell.shape == "range":
            continue
        own = {
            **shared,
            "attribute": cell,
            "domain": cell.domain,
            "typed": mode == "typed",
            "label": Sql(value_label("value")),
        }
        if cell.shape == "set":
            own["sets"] = cell.sets
            steps.append(Step(f"sets of {cell.attribute.column}", "cells/sets.sql.j2", own))
        else:
            own |= {
                "labels": cell.labels,
                "hierarchy": cell.attribute.hierarchy,
                "height": cell.attribute.height,
                "label": Sql(value_label("l.label")),
            }
            steps.append(Step(f"nodes of {cell.attribute.column}", "cells/labels.sql.j2", own))
    columns: list[tuple[Sql, Sql]] = []
    for cell in made:
        columns += [(cell.out, text_cell(cell))] if mode == "text" else typed_cells(cell)
    steps.append(
        Step(
            "cells of classes",
            "cells/cells.sql.j2",
            {
                **shared,
                "cells": CELLS,
                "domains": [cell.domain for cell in made],
                "chosen": [
                    cell.sets if cell.shape == "set" else cell.labels
                    for cell in made
                    if cell.shape != "range"
                ],
                "columns": columns,
            },
        )
    )
    return tuple(steps)


def value_text(value: str, attribute: Attribute) -> Sql:
    """A single value as the text of a cell."""
    if attribute.ordered:
        return Sql(f"cast({value} as varchar)")
    return Sql(value_label(value))


def quoted(name: str) -> Sql:
    return ident(name)
