"""The link: the published rows, in order, each with a reference to its source row.

It exists in scratch only. The rows of a release are copied from it, so that they are joined and
sorted once. For a large table memory is the limit: work tables are emptied after their last use,
and the link stores the texts of cells as numbers (values of an ENUM), which also halves the time of
sorting and joining. The release has the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from anonymizer.algorithms.cells import CELLS, Cell
from anonymizer.algorithms.compiled import Assembly, RowWriter
from anonymizer.algorithms.encode import CODED, UNITS
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.compile import Sql, Table, work
from anonymizer.policy.names import ROW_REF
from anonymizer.run.prepare import Prepared
from anonymizer.source.profile import Attribute
from anonymizer.steps import Step

LINK = work("link")
CLASSES = work("classes_of_tuples")

LARGE_FROM = 200_000
"""Rows from which a table is large: below, saving memory costs more time than it gains."""

NUMBERED_TO = 256
"""Distinct values of a column up to which its cells are numbered, whatever the number of rows."""

ROWS_PER_TEXT = 10
"""Least number of rows per numbered text: with fewer, texts hardly repeat."""


def linked_writes(
    prepared: Prepared, rows: Table, place: Callable[[str], Table]
) -> tuple[Step, ...]:
    """The steps that write the link, and from it the release; `place` names further tables."""
    compiled = prepared.compiled
    assembly = compiled.assembly
    further = tuple(one.step(place(one.table)) for one in compiled.separated)
    if not isinstance(assembly, Assembly) or prepared.rows < LARGE_FROM:
        return (link_step(assembly), _published(rows), *further)
    numbered = _numbered(prepared)
    keys = {"keys": assembly.keys, "units": UNITS, "members": MEMBERS, "classes": CLASSES}
    spent = (CLASSES, CELLS) if further else (CLASSES, CELLS, CODED)
    own = {a.column for a in numbered}
    written = [c.name for c in compiled.layout.columns if c.name and c.column in own]
    return (
        Step("classes of tuples", "link/classes.sql.j2", keys),
        # (the bound of the loss may still be reading them)
        _forget(UNITS, aside=True),
        _forget(MEMBERS, aside=True),
        *_numbers(numbered),
        link_step(replace(assembly, units=None, members=CLASSES)),
        *map(_forget, spent),
        _published(rows, written),
        *further,
    )


def link_step(assembly: RowWriter, *, ordered: bool = True) -> Step:
    """The step that writes the link; `ordered`: in the order of the release."""
    return assembly.step(LINK, [(ROW_REF, Sql("r.row_ref"))], ordered=ordered)


def _published(rows: Table, written: Sequence[str] = ()) -> Step:
    """The step that copies the rows of the link; `written`: numbered columns, written as texts."""
    context = {"link": LINK, "release": rows, "row_ref": ROW_REF, "written": written}
    return Step("publish the rows", "link/published.sql.j2", context)


def _forget(spent: Table, *, aside: bool = False) -> Step:
    return Step("release memory", "prepare/forget.sql.j2", {"spent": spent}, aside=aside)


def _numbers(numbered: Sequence[Attribute]) -> tuple[Step, ...]:
    """The steps that number the distinct cell texts of some columns."""
    if not numbered:
        return ()
    named = [(Cell(a).out, work(f"texts_{a.index}")) for a in numbered]
    return (
        *(
            Step(
                "texts of cells",
                "link/texts.sql.j2",
                {"cells": CELLS, "name": name, "texts": texts},
            )
            for name, texts in named
        ),
        Step("numbers for cells", "link/numbered_cells.sql.j2", {"cells": CELLS, "named": named}),
    )


def _numbered(prepared: Prepared) -> list[Attribute]:
    """The quasi-identifiers whose cell texts the link of a large table stores as numbers.

    A column of d values has at most d (d + 1) / 2 intervals.
    """
    if prepared.compiled.layout.cells != "text":
        return []
    texts = prepared.rows // ROWS_PER_TEXT
    return [
        a
        for a in prepared.roles.quasi
        if a.distinct <= NUMBERED_TO or a.distinct * (a.distinct + 1) // 2 <= texts
    ]
