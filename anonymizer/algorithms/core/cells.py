"""Turn classes of units into published cells: labels of values and nodes, intervals, sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from anonymizer.algorithms.core.encode import CODED, UNITS, in_parts
from anonymizer.algorithms.core.loss import WORD_BITS, shape
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.compile import NumberedColumn, NumberedTable, Sql, Table, sql, work
from anonymizer.hierarchy.scale import Scale, exact, from_text, scale_of
from anonymizer.hierarchy.sets import KEPT
from anonymizer.policy.hierarchies import (
    Cardinality,
    Conventional,
    Date,
    Divisor,
    Frequency,
    Intervals,
    Order,
    Prefix,
    Suffix,
    Taxonomy,
)
from anonymizer.source.profile import Attribute, OfAttribute
from anonymizer.source.snapshot import later_draw, value_text
from anonymizer.steps import Step

# Computes the published labels of values and hierarchy nodes.
#
# Hierarchies are built before it is known which rows an algorithm suppresses. Their labels are
# computed afterwards, from the published values alone: members of sets, and bounds that depend on
# the data, are those of published values, and a node that covers all of them is `*`.


GRID = (Conventional, Divisor, Cardinality)
"""Builders whose bounds depend on the ends of the domain, by default those of the data."""


def present(attribute: Attribute) -> Table:
    """The table of a column's codes among the published rows."""
    return work(f"present_{attribute.index}")


def labels_table(attribute: Attribute) -> Table:
    """The table of a column's published values and nodes: level, node, label, lo and hi."""
    return work(f"shown_{attribute.index}")


def present_step(attribute: Attribute, units: Table = UNITS) -> Step:
    """The step that writes `present` from `members` and the tuples of `units`."""
    return Step(
        f"published values of {attribute.column}",
        "nodes/present",
        {
            "members": MEMBERS,
            "units": units,
            "coded": CODED,
            "present": present(attribute),
            "code": attribute.c,
            "dealt": attribute.r if attribute.flagged else None,
        },
    )


def labels_steps(attribute: Attribute, units: Table = UNITS) -> tuple[Step, ...]:
    """Steps that write `labels_table`, from `members` and the tuples of `units`."""
    shared = {
        "present": present(attribute),
        "domain": attribute.domain,
        "hierarchy": attribute.hierarchy,
        "shown": labels_table(attribute),
        "height": attribute.height,
    }
    if attribute.ordered:
        template, own = "bounds", _bounds(attribute, attribute.spec)
    else:
        template, own = "labels", _labels(attribute, attribute.spec)
    name = f"nodes of {attribute.column}"
    return (
        present_step(attribute, units),
        Step(name, f"nodes/{template}", {**shared, **own}),
    )


def _labels(attribute: Attribute, spec: Any) -> dict[str, Any]:
    affix = isinstance(spec, Prefix | Suffix)
    return {
        "sets": isinstance(spec, Frequency | Order),
        "kept": work(f"{KEPT}_{attribute.index}") if affix else None,
        "suffix": isinstance(spec, Suffix),
        "written": exact(Sql("n.text")),
    }


def _bounds(attribute: Attribute, spec: Any) -> dict[str, Any]:
    listed = isinstance(spec, Taxonomy)
    built = isinstance(spec, GRID) and spec.domain is None
    lo, hi = _hull(spec)
    value_lo = value_hi = Sql("value")
    scale = scale_of(attribute.sql_type)
    if isinstance(spec, Intervals) and scale is not None:
        lo, hi = _between_cuts(spec, scale)
        value_lo, value_hi = _coded_value(spec, scale)
    return {
        "lo": lo,
        "hi": hi,
        "listed": work(f"listed_{attribute.index}") if listed else None,
        "typed": from_text(Sql("value"), attribute.sql_type),
        "built": built,
        "hung": isinstance(spec, Intervals | Date) and attribute.height > 1,
        "below": attribute.height - 1,
        "value_lo": value_lo,
        "value_hi": value_hi,
        "lo_text": value_text("b.lo", attribute),
        "hi_text": value_text("b.hi", attribute),
    }


def _hull(spec: Any) -> tuple[Sql, Sql]:
    """The bounds of the node above one published value; the node gets the outermost of them."""
    match spec:
        case Taxonomy():
            return Sql("e.lo"), Sql("e.hi")
        case Date() | Intervals():
            return Sql("h.lo"), Sql("h.hi")
        case Conventional() | Divisor() | Cardinality():
            if spec.domain is not None:
                return Sql("h.lo"), Sql("h.hi")
            # a grid between the ends of the data would disclose ends that are not published
            return (
                Sql("case when x.complete then h.lo else h.value end"),
                Sql("case when x.complete then h.hi else h.value end"),
            )
        case _:
            return Sql("h.value"), Sql("h.value")


def _between_cuts(spec: Intervals, scale: Scale) -> tuple[Sql, Sql]:
    """Bounds between cuts; an open interval ends with the type, so that it discloses no extremes.

    If the last interval is not open, it ends with the highest published value.
    """
    first, last = scale.ends()
    lo, hi = Sql("h.lo"), Sql("h.hi")
    if spec.bottom is not None:
        lo = sql("case when starts_with(h.label, '<') then {e} else h.lo end", e=first)
    if spec.top is not None:
        hi = sql("case when starts_with(h.label, '>=') then {e} else h.hi end", e=last)
    else:
        cut = scale.literal(spec.cuts[-1])
        hi = sql("case when h.lo = {c} then greatest(h.lo, h.value) else h.hi end", c=cut)
    return lo, hi


def _coded_value(spec: Intervals, scale: Scale) -> tuple[Sql, Sql]:
    """Bounds of a single value; beyond top or bottom, those of the open interval."""
    first, last = scale.ends()
    lo = hi = Sql("value")
    if spec.bottom is not None:
        bound = scale.literal(spec.bottom)
        lo = sql("case when value < {b} then {e} else value end", b=bound, e=first)
    if spec.top is not None:
        bound = scale.literal(spec.top)
        hi = sql("case when value >= {b} then {e} else value end", b=bound, e=last)
    return lo, hi


# Turns classes of units into published cells: intervals, hierarchy nodes, value sets.


BOXES = work("boxes")
APART = work("boxes_apart")
"""The extents of classes before those of columns that follow from others."""
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
    def on_grid(self) -> bool:
        """True if the bounds of its intervals lie on a grid."""
        return self.shape == "range" and self.attribute.grid is not None

    @property
    def whole(self) -> bool:
        """True if a cell of several values shows all values of the column."""
        return self.shape == "set" and self.attribute.grid is not None

    @property
    def as_bits(self) -> bool:
        """True if its sets fit in one integer, one bit per code.

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
        first, last = ("first_label", "last_label") if cell.on_grid else ("label", "label")
        several = f"'[' || {cell.low}.{first} || ', ' || {cell.high}.{last} || ']'"
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
    if cell.on_grid:
        several = f"b.{cell.lo} < b.{cell.hi}"
        low = f"case when {several} then {cell.low}.first else {low} end"
        high = f"case when {several} then {cell.high}.last else {high} end"
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
    alike = [cell for cell in made if cell.attribute.like]
    extents = {**shared, "boxes": APART} if alike else shared
    steps = [Step("extent of classes", "cells/boxes", extents)]
    if alike:
        steps += _alike_steps(made, alike, extents)
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
            steps.append(Step(f"sets of {cell.attribute.column}", "cells/sets", own))
        else:
            own |= {
                "labels": cell.labels,
                "hierarchy": cell.attribute.hierarchy,
                "shown": labels_table(cell.attribute),
            }
            steps += labels_steps(cell.attribute, units)
            steps.append(Step(f"nodes of {cell.attribute.column}", "cells/labels", own))
    return (*steps, *cells_steps(made, mode))


def _alike_steps(
    made: Sequence[Cell], alike: Sequence[Cell], extents: dict[str, Any]
) -> Iterator[Step]:
    """Steps that give columns the extents of the cells of others, from which they follow."""
    joined: list[tuple[Cell, Table, list[Sql]]] = []
    for cell in alike:
        of = made[cell.attribute.like - 1]
        keys = [of.lo, of.hi, of.null]
        if of.shape == "set" and not of.whole:
            keys = [*keys, of.bits] if of.as_bits else [Sql("class_id"), *keys]
        joined.append((cell, work(f"alike_{cell.index}"), keys))
        context = {
            **extents,
            "alike": joined[-1][1],
            "of": of,
            "own": cell,
            "domain": of.domain,
            "hierarchy": of.attribute.hierarchy,
            "keys": keys,
            "prefixed": [Sql(f"e.{key}") for key in keys],
            "keys_of_a": [Sql(f"a.{key}") for key in keys],
        }
        yield Step(f"{cell.attribute.column} like {of.attribute.column}", "cells/alike", context)
    tables = [table for _, table, _ in joined]
    written = {"boxes": BOXES, "apart": APART, "alike": joined, "tables": tables}
    written["attributes"] = made
    yield Step("extent of classes, and of what follows", "cells/with_alike", written)


def cells_steps(made: Sequence[Cell], mode: Mode) -> Iterator[Step]:
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
            "cells/cells",
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
        yield Step("cells of classes", "cells/joined", written)
