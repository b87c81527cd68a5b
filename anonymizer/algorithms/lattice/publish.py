"""From classes and the levels they are published at to cells: full- or partial-domain recoding."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.algorithms.cells import CELLS, Cell, Mode
from anonymizer.algorithms.draws import later_draw
from anonymizer.algorithms.lattice.recode import Climbed, climbed
from anonymizer.algorithms.mondrian.partition import MEMBERS
from anonymizer.algorithms.prepare import UNITS
from anonymizer.algorithms.roles import Roles
from anonymizer.compile import Sql, sql, work
from anonymizer.plan import Step
from anonymizer.profile import published_type

CLASS_LEVELS = work("class_levels")


def recoded_cells(roles: Roles, mode: Mode) -> tuple[Step, ...]:
    """Steps that write `cells` from `members`, `class_levels` and `units`.

    `members` (unit, class_id) holds the units that are published; the others are suppressed.
    `class_levels` (class_id, l<i>) says at which level each column of a class is published, 0
    being the values themselves. All units of a class have to be under one node there.
    """
    attributes = climbed(roles)
    columns: list[tuple[Sql, Sql]] = []
    for a in attributes:
        columns += _columns(a, mode)
    return (
        Step(
            "cells of classes",
            "lattice/cells.sql.j2",
            {
                "members": MEMBERS,
                "units": UNITS,
                "class_levels": CLASS_LEVELS,
                "recodings": [a.recoding for a in attributes],
                "cells": CELLS,
                "attributes": attributes,
                "columns": columns,
                "class_draw": later_draw("draw", "class"),
            },
        ),
    )


def _columns(a: Climbed, mode: Mode) -> Sequence[tuple[Sql, Sql]]:
    cell = Cell(a.attribute)
    if mode == "text":
        nullable = f"case when {a.r}.nullable then ' or NULL' else '' end"
        return [(cell.out, Sql(f"{a.r}.label || {nullable}"))]
    if cell.shape == "range":
        return [
            (cell.out_lo, Sql(f"{a.r}.lo")),
            (cell.out_hi, Sql(f"{a.r}.hi")),
            (cell.out_nullable, Sql(f"{a.r}.nullable")),
        ]
    if cell.shape == "set":  # a column of NULLs only: its hierarchy has no levels
        # a list of the column's type: the verifier looks for the column's values in it
        kind = Sql(published_type(a.attribute.sql_type))
        return [(cell.out, sql("[cast(null as {t})]", t=kind))]
    return [(cell.out, Sql(f"{a.r}.label")), (cell.out_nullable, Sql(f"{a.r}.nullable"))]
