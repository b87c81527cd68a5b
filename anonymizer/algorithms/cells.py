"""Turns classes of units into published cells: intervals, hierarchy nodes, value sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.nodes import present, present_step, shown, shown_steps
from anonymizer.algorithms.partition.loss import shape
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.partition.words import WORD_BITS
from anonymizer.algorithms.parts import in_parts
from anonymizer.compile import NumberedColumn, NumberedTable, Sql, Table, work
from anonymizer.source.draws import later_draw
from anonymizer.source.profile import Attribute, OfAttribute
from anonymizer.steps import Step

BOXES = work("boxes")
CELLS = work("cells")

Mode = Literal["text", "typed"]


@dataclass(frozen=True, slots=True)
class Cell(OfAttribute):
    """Names of the columns and tables that are used to make one attribute's cells."""

    @property
    def flagged(self) -> bool:
        return self.attribute.flagged

    @property
    def shape(self) -> str:
        return shape(self.attribute)

    @property
    def as_bits(self) -> bool:
        """Whether its sets fit in one integer, one bit per code.

        Classes share sets: the text of each is then made only once.
        """
        return self.shape == "set" and self.attribute.distinct <= WORD_BITS - 1

    bits = NumberedColumn("bits")
    sets = NumberedTable("sets")
    labels = NumberedTable("labels")
    lo = NumberedColumn("lo")
    hi = NumberedColumn("hi")
    null = NumberedColumn("null")
    low = NumberedColumn("low")
    high = NumberedColumn("high")
    chosen = NumberedColumn("chosen")
    """Alias of the table of its sets or labels."""
    out = NumberedColumn("cell")
    """Name of its column in the table of cells."""
    out_lo = NumberedColumn("cell_lo")
    out_hi = NumberedColumn("cell_hi")
    out_nullable = NumberedColumn("cell_nullable")


def text_cell(cell: Cell) -> Sql:
    """The text of a class's cell, in the grammar of published cells."""
    nullable = ""
    if cell.attribute.nulls:  # else nothing is appended, and texts are not copied
        nullable = f" || case when b.{cell.null} then ' or NULL' else '' end"
    single = f"b.{cell.lo} = b.{cell.hi}"
    if cell.shape == "range":
        several = f"'[' || {cell.low}.label || ', ' || {cell.high}.label || ']'"
    else:
        several = f"{cell.chosen}.cell"
    exact = f"{cell.low}.label"
    return Sql(
        f"case when b.{cell.lo} is null then null"
        f" when {single} then {exact}{nullable}"
        f" else {several}{nullable} end"
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
        f"case when b.{cell.lo} is null then null when {single} then {cell.low}.label"
        f" else {cell.chosen}.cell end"
    )
    return [(cell.out, Sql(node)), (cell.out_nullable, Sql(f"b.{cell.null}"))]


def cell_steps(
    attributes: Sequence[Attribute], mode: Mode, units: Table = UNITS
) -> tuple[Step, ...]:
    """Steps that write `cells` from `members` and the tuples of `units`."""
    made = [Cell(a) for a in attributes]
    shared = {"members": MEMBERS, "units": units, "boxes": BOXES, "attributes": made}
    steps = [Step("extent of classes", "cells/boxes.sql.j2", shared)]
    for cell in made:
        if cell.shape == "range":
            continue
        own = {**shared, "attribute": cell, "domain": cell.domain, "typed": mode == "typed"}
        if cell.shape == "set":
            own["sets"] = cell.sets
            own["present"] = None
            if cell.flagged or not cell.as_bits:
                steps.append(present_step(cell.attribute, units))
                own["present"] = present(cell.attribute)
            steps.append(Step(f"sets of {cell.attribute.column}", "cells/sets.sql.j2", own))
        else:
            own |= {
                "labels": cell.labels,
                "hierarchy": cell.attribute.hierarchy,
                "shown": shown(cell.attribute),
            }
            steps += shown_steps(cell.attribute, units)
            steps.append(Step(f"nodes of {cell.attribute.column}", "cells/labels.sql.j2", own))
    return (*steps, *_written(made, mode))


def _written(made: Sequence[Cell], mode: Mode) -> Iterator[Step]:
    """Steps that write `cells`, in parts that are joined if there are very many attributes."""
    parts = in_parts(made, "cells_part")
    names: list[Sql] = []
    for number, (table, cells) in enumerate(parts or ((CELLS, made),), 1):
        columns: list[tuple[Sql, Sql]] = []
        for cell in cells:
            columns += [(cell.out, text_cell(cell))] if mode == "text" else typed_cells(cell)
        names += [name for name, _ in columns]
        yield Step(
            f"cells of classes, part {number}" if parts else "cells of classes",
            "cells/cells.sql.j2",
            {
                "cells": table,
                "boxes": BOXES,
                "attributes": cells,
                "domains": [cell.domain for cell in cells],
                "chosen": [
                    cell.sets if cell.shape == "set" else cell.labels
                    for cell in cells
                    if cell.shape != "range"
                ],
                "columns": columns,
                "class_draw": later_draw("draw", "class"),
            },
        )
    if parts:
        written = {"cells": CELLS, "parts": [table for table, _ in parts], "names": names}
        yield Step("cells of classes", "cells/joined.sql.j2", written)
