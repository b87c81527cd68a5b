"""Writes cells from the levels of each class: full- or partial-domain recoding."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.cells import CELLS, Cell, Mode
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.lattice.recode import Climbed, climbed
from anonymizer.algorithms.nodes import shown_steps
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.compile import Sql, sql, work
from anonymizer.source.draws import later_draw
from anonymizer.source.profile import published_type
from anonymizer.source.roles import Roles
from anonymizer.steps import Step

CLASS_LEVELS = work("class_levels")


def recoded_cells(roles: Roles, mode: Mode) -> tuple[Step, ...]:
    """Steps that write `cells` from `members`, `class_levels` and `units`.

    `members` (unit, class_id) holds the published units; the others are suppressed.
    `class_levels` (class_id, l<i>) holds the level at which each column of a class is published, 0
    for the values themselves. All units of a class have to be under one node at this level.
    """
    attributes = climbed(roles)
    columns: list[tuple[Sql, Sql]] = []
    for a in attributes:
        columns += cell_columns(a, mode)
    return (
        *(step for a in attributes for step in shown_steps(a.attribute)),
        Step(
            "cells of classes",
            "lattice/cells.sql.j2",
            {
                "members": MEMBERS,
                "units": UNITS,
                "class_levels": CLASS_LEVELS,
                "recodings": [a.recoding for a in attributes],
                "shown": [a.shown for a in attributes],
                "cells": CELLS,
                "attributes": attributes,
                "columns": columns,
                "class_draw": later_draw("draw", "class"),
            },
        ),
    )


def cell_columns(a: Climbed, mode: Mode) -> Sequence[tuple[Sql, Sql]]:
    """The columns of the cell of a node, as names and expressions over `shown`."""
    cell = Cell(a.attribute)
    if mode == "text":
        nullable = f"case when {a.s}.nullable then ' or NULL' else '' end"
        return [(cell.out, Sql(f"{a.s}.label || {nullable}"))]
    # a node that is not among the published ones is NULL
    shown_nullable = Sql(f"coalesce({a.s}.nullable, true)")
    if cell.shape == "range":
        return [
            (cell.out_lo, Sql(f"{a.s}.lo")),
            (cell.out_hi, Sql(f"{a.s}.hi")),
            (cell.out_nullable, shown_nullable),
        ]
    if cell.shape == "set":  # a column of NULLs only: its hierarchy has no levels
        # a list of the column's type: the verifier looks for the column's values in it
        kind = Sql(published_type(a.attribute.sql_type))
        return [(cell.out, sql("[cast(null as {t})]", t=kind))]
    return [(cell.out, Sql(f"{a.s}.label")), (cell.out_nullable, shown_nullable)]
