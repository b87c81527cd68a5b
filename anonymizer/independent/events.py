"""Rules on event columns, whose cells are generalized: judged in the worst case they allow.

The manifest lists sets of cells that admit one and the same value (`together`). A person with some
of these cells may have the value of every set with one of them, and a rule has to hold whichever it
is. Nothing of a cell that admits anything, or of which nothing is listed, is proved; nor of a cell
whose own text says that it admits what another one does, if they are not listed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from anonymizer.independent.cells import Cell, CellError, read_node, read_text_cell
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fields import listed, text
from anonymizer.independent.guarantees import judge_requirement
from anonymizer.independent.layout import Column, Requirement
from anonymizer.independent.release import Release
from anonymizer.independent.result import Check

WHERE = "manifest.tables: a rule on an event column"


def judge_event(
    requirement: Requirement, column: Column, cells: Sequence[Cell], release: Release
) -> Iterator[Check]:
    """Every check of a rule on an event column. Raises UnreadableError if it cannot be judged.

    `release`: the rows in the classes of their persons; `cells`: those of the column, row by row.
    """
    if requirement.name != "eir_l" or set(requirement.parameters) != {"l", "together"}:
        raise UnreadableError(f"{WHERE}: is not eir_l with the cells that admit one value")
    if column.kind != "categorical" or column.list_cells or column.name is None:
        raise UnreadableError(f"{WHERE}: is on cells that are not nodes")
    sets = [
        frozenset(_cell(text(label, WHERE), column) for label in listed(one, WHERE))
        for one in listed(requirement.parameters["together"], WHERE)
    ]
    told = _told(set(cells), column, sets)
    held: dict[int | None, set[Cell]] = {}
    for row, cell in zip(release.rows, cells, strict=True):
        held.setdefault(row.person, set()).add(cell)
    rows = []
    for row in {row.person: row for row in release.rows}.values():
        some = {cell for cell in held[row.person] if cell.form != "null"}
        values = {one for cell in some for one in told[cell]} if some <= told.keys() else set()
        shown: list[str | None] = [*sorted(values)] or [None]
        rows += [replace(row, values={column.column: one}) for one in shown]
    judged = replace(column, role="sensitive", sql_type="VARCHAR", nullable=None)
    layout = replace(release.layout, columns=(judged,))
    plain = replace(requirement, parameters={"l": requirement.parameters["l"]})
    yield from judge_requirement(plain, replace(release, layout=layout, rows=tuple(rows)))


def _cell(label: str, column: Column) -> Cell:
    """The cell that is published as this label."""
    try:
        if column.nullable is not None:
            return read_node(label, "false")
        return read_text_cell(label, "categorical", column.sql_type, column.hierarchy)
    except CellError as error:
        raise UnreadableError(f"{WHERE}: names a cell that {error}") from None


def _told(
    cells: set[Cell], column: Column, sets: Sequence[frozenset[Cell]]
) -> dict[Cell, set[str]]:
    """The numbers of the sets of every cell that says no more than is listed of it."""
    places: dict[Cell, set[str]] = {}
    for number, one in enumerate(sets):
        for cell in one:
            places.setdefault(cell, set()).add(str(number))
    texts = {cell: _text(cell, column) for cell in cells if cell.form in ("exact", "node")}
    doubtful: set[Cell] = set()
    for cell, other in _overlapping(texts):
        if places.get(cell, set()).isdisjoint(places.get(other, set())):
            doubtful |= {cell, other}
    return {
        cell: places[cell]
        for cell, shown in texts.items()
        if cell in places and cell not in doubtful and not cell.nullable and not _is_set(cell)
    }


def _text(cell: Cell, column: Column) -> str:
    """The text of a node without quotes."""
    (label,) = cell.values
    if column.nullable is None or not isinstance(label, str):
        return str(label)
    try:
        (inner,) = read_text_cell(label, "categorical", "VARCHAR", hierarchy=True).values
    except (CellError, ValueError):
        return label
    return str(inner)


def _is_set(cell: Cell) -> bool:
    """Whether a typed node is written as a set or an interval, which may overlap others."""
    return str(cell.values[0]).startswith(("{", "["))


def _overlapping(texts: Mapping[Cell, str]) -> Iterator[tuple[Cell, Cell]]:
    """Cells of which one says by stars at an end of its text that it admits what the other is."""
    for strip, cut in ((str.rstrip, str.startswith), (str.lstrip, str.endswith)):
        stems: dict[str, list[Cell]] = {}
        for cell, shown in texts.items():
            stem = strip(shown, "*")
            if stem and stem != shown:
                stems.setdefault(stem, []).append(cell)
        lengths = sorted({len(stem) for stem in stems})
        for other, shown in texts.items():
            its = strip(shown, "*")
            for length in lengths:
                stem = its[:length] if cut is str.startswith else its[-length:]
                yield from ((one, other) for one in stems.get(stem, ()) if one != other)
