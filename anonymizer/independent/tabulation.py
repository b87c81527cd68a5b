"""Judges a table of counts: its cells, totals, and the persons left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from anonymizer.independent.layout import ALL, CountsForm
from anonymizer.independent.rows import OpenRelease, number
from anonymizer.independent.rules import Check, form_check

OTHER = "(other)"
Place: TypeAlias = tuple[tuple[int, str], ...]
"""Level and label in every column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of the release."""

    place: Place
    figures: tuple[int | None, ...]
    status: str | None


def judge_counts(opened: OpenRelease, form: CountsForm, minimum: int) -> Iterator[Check]:
    """Every check of a table of counts."""
    cells = list(_cells(opened, form))
    shown = {cell.place: cell for cell in cells if cell.status == "shown"}
    yield form_check("cell_form", None, sum(not _is_well_formed(cell, form) for cell in cells))
    places = Counter(cell.place for cell in cells)
    yield form_check("cell_once", None, sum(n > 1 for n in places.values()))
    odd = sum(cell.status not in ("shown", "hidden", "other") for cell in cells)
    yield form_check("no_reason", None, odd)
    told = [cell.figures[form.persons] for cell in cells if cell.status in ("shown", "other")]
    small = [n for n in told if n is None or n < minimum]
    least = min((n for n in told if n is not None), default=None)
    yield Check("no_small_cells", None, {"n": minimum}, {"n": least}, len(small))
    yield form_check("additive", None, sum(_differences(shown, form)))
    yield form_check("other_room", None, 0 if _has_room(cells, form, minimum) else 1)


def _cells(opened: OpenRelease, form: CountsForm) -> Iterator[Cell]:
    at = {name: i for i, name in enumerate(opened.rows.columns)}
    for row in opened.rows.rows:
        place = []
        for d in form.by:
            label = str(row[at[d.name]])
            level = 0 if label != ALL else d.levels
            if d.level is not None:
                stated = number(row[at[d.level]])
                level = -1 if stated is None else stated
            place.append((-1 if label == OTHER and d.level is None else level, label))
        figures = tuple(number(row[at[one.name]]) for one in form.measures)
        status = row[at[form.status]]
        yield Cell(tuple(place), figures, None if status is None else str(status))


def _is_well_formed(cell: Cell, form: CountsForm) -> bool:
    levels = tuple(level for level, _ in cell.place)
    labels = [label for _, label in cell.place]
    counted = all(n is not None and n >= 1 for n in cell.figures)
    if cell.status == "shown":
        placed = zip(cell.place, form.by, strict=True)
        total = [(label == ALL) == (level == d.levels) for (level, label), d in placed]
        return counted and all(total) and OTHER not in labels and levels in form.groupings
    if cell.status == "hidden":
        none = all(n is None for n in cell.figures)
        return form.list_hidden and none and not any(levels) and not {ALL, OTHER} & {*labels}
    if cell.status == "other":
        return counted and {*labels} == {OTHER} and {*levels} == {-1}
    return True  # which is another check


def _differences(shown: Mapping[Place, Cell], form: CountsForm) -> Iterator[bool]:
    """For each total and every finer grouping below it: whether it is not the sum of its parts."""
    published = {*form.groupings}
    sums: dict[tuple[Place, int, int], list[int]] = {}
    for place, cell in shown.items():
        for i, d in enumerate(form.by):
            for above in d.above(*place[i]) if place[i][0] < d.levels else ():
                whole = (*place[:i], above, *place[i + 1 :])
                if tuple(level for level, _ in whole) in published:
                    parts = sums.setdefault((whole, i, place[i][0]), [0] * len(cell.figures))
                    for j, figure in enumerate(cell.figures):
                        parts[j] += figure or 0
    for (whole, _, _), parts in sums.items():
        cell_or_none = shown.get(whole)
        yield cell_or_none is None or list(cell_or_none.figures) != parts
    for place in shown:
        levels = tuple(level for level, _ in place)
        for i in range(len(form.by)):
            for below in range(levels[i]):
                if (*levels[:i], below, *levels[i + 1 :]) in published:
                    yield (place, i, below) not in sums


def _has_room(cells: list[Cell], form: CountsForm, minimum: int) -> bool:
    """Return whether the persons left out are enough to be all in one group."""
    others = [cell.figures[form.persons] or 0 for cell in cells if cell.status == "other"]
    listed = sum(cell.status == "hidden" for cell in cells)
    if not others:
        return listed == 0
    return len(others) == 1 and others[0] - max(listed - 1, 0) >= minimum
