"""The link: the published rows, in order, each with a reference to its source row.

It exists in scratch only. The rows of a release are copied from it, so that they are joined and
sorted once. In large tables it stores the texts of cells as numbers (values of an ENUM), which
halves the time of sorting and joining; the release has the texts.
"""

from __future__ import annotations

from collections.abc import Callable

from anonymizer.algorithms.cells import CELLS, Cell
from anonymizer.algorithms.compiled import Assembly, Compiled
from anonymizer.compile import Sql, Table, work
from anonymizer.policy.names import ROW_REF
from anonymizer.run.prepare import Prepared
from anonymizer.source.profile import Attribute
from anonymizer.steps import Step

LINK = work("link")
TEXTS = work("cell_texts")

NUMBERED_FROM = 200_000
"""Rows from which the texts of cells are numbered: below, that takes longer than it saves."""

NUMBERED_TO = 256
"""Different values of a column up to which its cells are numbered: of more, texts hardly repeat."""


def link_step(compiled: Compiled, *, ordered: bool) -> Step:
    """The step that writes the link; in the order of the release, or in none."""
    return compiled.assembly.step(LINK, [(ROW_REF, Sql("r.row_ref"))], ordered=ordered)


def linked_writes(
    prepared: Prepared, rows: Table, place: Callable[[str], Table]
) -> tuple[Step, ...]:
    """The steps that write the link and, from it, the release; further tables as `place` says."""
    compiled = prepared.compiled
    numbered = _numbered(prepared)
    steps: tuple[Step, ...] = ()
    if numbered:
        names = [Cell(a).out for a in numbered]
        shared = {"cells": CELLS, "texts": TEXTS, "names": names}
        steps = (
            Step("texts of cells", "link/texts.sql.j2", shared),
            Step("numbers for cells", "link/numbered_cells.sql.j2", shared),
        )
    own = {a.column for a in numbered}
    written = [c.name for c in compiled.layout.columns if c.column in own]
    context = {"link": LINK, "release": rows, "row_ref": ROW_REF, "written": written}
    return (
        *steps,
        link_step(compiled, ordered=True),
        Step("publish the rows", "link/published.sql.j2", context),
        *(separated.step(place(separated.table)) for separated in compiled.separated),
    )


def _numbered(prepared: Prepared) -> list[Attribute]:
    """The quasi-identifiers whose cells the link carries as numbers of their texts."""
    compiled = prepared.compiled
    has_texts = isinstance(compiled.assembly, Assembly) and compiled.layout.cells == "text"
    if not has_texts or prepared.rows < NUMBERED_FROM:
        return []
    return [a for a in prepared.roles.quasi if a.distinct <= NUMBERED_TO]
