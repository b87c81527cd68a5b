"""The link: the published rows, in their order, with the reference of the row each stands for.

It exists in scratch only. The rows of a release are copied from it, so that they are joined and
sorted once, and a row of the release and its row of the link stand in the same place.
"""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.algorithms.cells import CELLS, Cell
from anonymizer.algorithms.compiled import Assembly, Compiled
from anonymizer.compile import Sql, Table, work
from anonymizer.pipeline import Prepared
from anonymizer.plan import Step

LINK = work("link")
TEXTS = work("cell_texts")
ROW_REF = "row_ref"

NUMBERED_FROM = 200_000
"""Rows from which the texts of cells are numbered: below, that takes longer than it saves."""


def link_step(compiled: Compiled, *, ordered: bool) -> Step:
    """The step that writes the link; in the order of the release, or in none."""
    return compiled.assembly.step(LINK, [(ROW_REF, Sql("r.row_ref"))], ordered=ordered)


def linked_writes(
    prepared: Prepared, rows: Table, place: Callable[[str], Table]
) -> tuple[Step, ...]:
    """The steps that write the link and, from it, the release; further tables as `place` says."""
    compiled = prepared.compiled
    numbered: tuple[Step, ...] = ()
    written: list[str] = []
    texts = compiled.layout.cells == "text" and isinstance(compiled.assembly, Assembly)
    if texts and prepared.roles.quasi and prepared.rows >= NUMBERED_FROM:
        names = [Cell(a).out for a in prepared.roles.quasi]
        shared = {"cells": CELLS, "texts": TEXTS, "names": names}
        numbered = (
            Step("texts of cells", "link/texts.sql.j2", shared),
            Step("numbers for cells", "link/numbered_cells.sql.j2", shared),
        )
        own = {a.column for a in prepared.roles.quasi}
        written = [c.name for c in compiled.layout.columns if c.column in own and c.name]
    context = {"link": LINK, "release": rows, "row_ref": ROW_REF, "written": written}
    return (
        *numbered,
        link_step(compiled, ordered=True),
        Step("publish the rows", "link/published.sql.j2", context),
        *(separated.step(place(separated.table)) for separated in compiled.separated),
    )
