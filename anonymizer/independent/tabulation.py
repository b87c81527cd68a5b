"""Judges a table of counts: its cells, totals, and the persons left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import TypeAlias

from anonymizer.independent.cells import Raw
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.layout import ALL, WITNESS, CountsForm
from anonymizer.independent.rows import OpenRelease, number
from anonymizer.independent.rules import Check, form_check

OTHER = "(other)"
EXACT = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")
REAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?")
Figure: TypeAlias = int | Fraction
Place: TypeAlias = tuple[tuple[int, str], ...]
"""Level and label in every column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A row of the release."""

    place: Place
    figures: tuple[Figure | None, ...]
    status: str | None


def judge_counts(
    opened: OpenRelease,
    form: CountsForm,
    minimum: int,
    epsilon: Decimal | None,
    shares: Mapping[str, Fraction],
) -> Iterator[Check]:
    """Every check of a table of counts. `shares`: the largest share of one value, by column."""
    cells = list(_cells(opened, form))
    shown = {cell.place: cell for cell in cells if cell.status == "shown"}
    suppresses = opened.manifest.layout.algorithm == "suppress"
    odd = sum(not _is_well_formed(cell, form, suppresses) for cell in cells)
    yield form_check("cell_form", None, odd)
    places = Counter(cell.place for cell in cells)
    yield form_check("cell_once", None, sum(n > 1 for n in places.values()))
    odd = sum(cell.status not in ("shown", "hidden", "other") for cell in cells)
    yield form_check("no_reason", None, odd)
    for name, share in shares.items():
        if any(d.multiple for d in form.by if d.name == name):
            raise UnreadableError("manifest.requirements: limit a column that does not add up")
        found = [*_shares(shown.values(), form, name)]
        over = sum(one > share for one in found)
        largest = max(found, default=None)
        yield Check("groups_share", name, {"share": share}, {"share": largest}, over)
    if form.zeros or form.noise is not None:
        yield form_check("all_groups", None, sum(_lacks_groups(cells, form)))
    if form.noise is not None:
        spent, budget = form.noise.spent, form.noise.budget
        yield form_check("additive", None, sum(_differences(shown, form)))
        over = epsilon is None or not form.noise.epsilon <= min(epsilon, spent) or spent > budget
        required, achieved = {"epsilon": Fraction(budget)}, {"epsilon": Fraction(spent)}
        yield Check("budget", None, required, achieved, int(over))
        return
    told = [cell.figures[form.persons] for cell in cells if cell.status in ("shown", "other")]
    told = [n for n in told if n != 0 or not form.zeros]
    small = [n for n in told if n is None or n < minimum]
    least = min((n for n in told if n is not None), default=None)
    yield Check("no_small_cells", None, {"n": minimum}, {"n": least}, len(small))
    if suppresses:
        yield from _judge_hidden(opened, cells, form, minimum)
        return
    yield form_check("additive", None, sum(_differences(shown, form)))
    if form.base is not None:
        figures = [_persons(cell, form) for cell in shown.values()]
        figures = [n for n in figures if n or not form.zeros]
        below = sum(n < form.base for n in figures)
        yield Check("rounded", None, {"n": form.base}, {"n": min(figures, default=None)}, below)
        return
    yield form_check("other_room", None, 0 if _has_room(cells, form, minimum) else 1)


def _lacks_groups(cells: Sequence[Cell], form: CountsForm) -> Iterator[bool]:
    """For each published total: whether some combination of labels has no row."""
    for levels in form.groupings:
        rows = {cell.place for cell in cells if tuple(n for n, _ in cell.place) == levels}
        labels = [
            {cell.place[i] for cell in cells if cell.place[i][0] == level}
            for i, level in enumerate(levels)
        ]
        yield len(rows) != prod(map(len, labels))


def _cells(opened: OpenRelease, form: CountsForm) -> Iterator[Cell]:
    at = {name: i for i, name in enumerate(opened.rows.columns)}
    for row in opened.rows.rows:
        figures = tuple(_figure(row[at[one.name]], one.of) for one in form.measures)
        status = row[at[form.status]]
        yield Cell(_place(row, at, form), figures, None if status is None else str(status))


def _figure(text: Raw, kind: str) -> Figure | None:
    """A count, or a decimal exactly; None for anything else."""
    if kind in ("persons", "rows"):  # (noise makes some negative)
        size = number(text.removeprefix("-") if isinstance(text, str) else text)
        return size if size is None or not str(text).startswith("-") else -size
    plain = isinstance(text, str) and (REAL if kind == "ratio" else EXACT).fullmatch(text)
    return Fraction(text) if plain else None  # type: ignore[arg-type]


def _have_form(cell: Cell, form: CountsForm) -> bool:
    """Return whether every figure may be what it is; some sums of what is left out are missing."""
    named = dict(zip((one.name for one in form.measures), cell.figures, strict=True))
    least = -inf if form.least is None else form.least
    for i, (one, n) in enumerate(zip(form.measures, cell.figures, strict=True)):
        if one.of == "ratio":
            above, below = (named[part] for part in one.parts)
            if n is None or above is None or not below:
                if not (n is None and (above is None or not below)):
                    return False
            elif abs(Fraction(n) * below - Fraction(above)) * 10**9 > abs(Fraction(above)):
                return False
        elif n is None:
            if cell.status != "other" or i == form.persons:
                return False
        elif (n < least and one.of != "sum") or (one.nonnegative and n < 0):
            return False
    return True


def _shares(shown: Iterable[Cell], form: CountsForm, name: str) -> Iterator[Fraction]:
    """In every published group: the share of its largest value in a column."""
    limited = [d.name for d in form.by].index(name)
    groups: dict[Place, list[int]] = {}
    for cell in shown:
        if cell.place[limited][0] == 0:
            others = (*cell.place[:limited], *cell.place[limited + 1 :])
            groups.setdefault(others, []).append(_persons(cell, form))
    for counts in groups.values():
        if (whole := sum(counts)) != 0:  # (another check refuses groups of nobody)
            yield Fraction(max(counts), whole)


def _place(row: tuple[Raw, ...], at: Mapping[str, int], form: CountsForm) -> Place:
    place = []
    for d in form.by:
        label = str(row[at[d.name]])
        level = 0 if label != ALL else d.levels
        if d.level is not None:
            stated = number(row[at[d.level]])
            level = -1 if stated is None else stated
        place.append((-1 if label == OTHER and d.level is None else level, label))
    return tuple(place)


def _is_well_formed(cell: Cell, form: CountsForm, suppresses: bool) -> bool:
    levels = tuple(level for level, _ in cell.place)
    labels = [label for _, label in cell.place]
    counted = _have_form(cell, form)
    if cell.status == "shown":
        placed = zip(cell.place, form.by, strict=True)
        total = [(label == ALL) == (level == d.levels) for (level, label), d in placed]
        return counted and all(total) and OTHER not in labels and levels in form.groupings
    if cell.status == "hidden":
        none = all(n is None for n in cell.figures)
        if suppresses:
            placed = zip(cell.place, form.by, strict=True)
            total = [(label == ALL) == (level == d.levels) for (level, label), d in placed]
            return none and all(total) and OTHER not in labels and levels in form.groupings
        return form.list_hidden and none and not any(levels) and not {ALL, OTHER} & {*labels}
    if cell.status == "other":
        listed = not suppresses and form.least is not None
        return listed and counted and {*labels} == {OTHER} and {*levels} == {-1}
    return True  # which is another check


def _differences(shown: Mapping[Place, Cell], form: CountsForm) -> Iterator[bool]:
    """For each total and every finer grouping below it: whether it is not the sum of its parts."""
    published = {*form.groupings}
    added = [j for j, one in enumerate(form.measures) if one.of != "ratio"]
    sums: dict[tuple[Place, int, int], list[Figure]] = {}
    for place, cell in shown.items():
        for i, d in enumerate(form.by):
            for above in d.above(*place[i]) if place[i][0] < d.levels else ():
                whole = (*place[:i], above, *place[i + 1 :])
                if tuple(level for level, _ in whole) in published:
                    parts = sums.setdefault((whole, i, place[i][0]), [0] * len(added))
                    for k, j in enumerate(added):
                        parts[k] += cell.figures[j] or 0
    for (whole, _, _), parts in sums.items():
        cell_or_none = shown.get(whole)
        yield cell_or_none is None or [cell_or_none.figures[j] for j in added] != parts
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


def _judge_hidden(
    opened: OpenRelease, cells: Sequence[Cell], form: CountsForm, minimum: int
) -> Iterator[Check]:
    """Every check of hidden figures: lines of the table, and the tables of witnesses."""
    shown = {cell.place: _persons(cell, form) for cell in cells if cell.status == "shown"}
    hidden = {cell.place for cell in cells if cell.status == "hidden"}
    members = _members({*shown, *hidden}, form)
    left = [*_left_by_lines(shown, hidden, form), *_left_by_members(shown, members)]
    small = sum(n < minimum for n in left)
    yield Check("one_step", None, {"n": minimum}, {"n": min(left, default=None)}, small)
    tables = _witnesses(opened, form)
    odd = sum(
        any(len(found) != 1 or found[0] is None or found[0] < 1 for found in table.values())
        + len(hidden ^ {*table})
        for table in tables
    )
    yield form_check("witness_whole", None, odd)
    wrong = 0
    finest = {place for place in hidden if _is_finest(place)}
    pairs = {*_pairs(hidden, members)}
    proved: set[Place] = set()
    outside: list[dict[Pair, int | None]] = []
    for table in tables or [{}]:
        values = shown | {place: found[0] or 0 for place, found in table.items()}
        wrong += sum(_wrong_totals(values, form)) + sum(_wrong_members(values, members))
        proved |= {place for place in table if max(n or 0 for n in table[place]) >= minimum}
        outside.append({pair: _outside(values, *pair) for pair in pairs})
    # who are never enough outside of their groups must be nobody, all of them in one table: the
    # rest of one may be another's, and then a sum over regions shows how many they are together
    low = [pair for pair in pairs if max(found[pair] or 0 for found in outside) < minimum]
    nobody = any(all(found[pair] == 0 for pair in low) for found in outside)
    yield form_check("witness_agrees", None, wrong)
    lacking = 0 if nobody else len(low)
    yield form_check("witness_covers", None, len(finest - proved) + lacking)


Pair: TypeAlias = tuple[Place, Place]
"""A total, and one of its groups."""


def _is_finest(place: Place) -> bool:
    return not any(level for level, _ in place)


def _members(places: Iterable[Place], form: CountsForm) -> dict[Place, list[Place]]:
    """For every published total over the column whose groups share persons: its groups."""
    found: dict[Place, list[Place]] = {}
    at = form.multiple
    if at is not None:
        published = {*form.groupings}
        for place in places:
            whole = (*place[:at], (form.by[at].levels, ALL), *place[at + 1 :])
            levels = tuple(level for level, _ in whole)
            if {levels, (*levels[:at], 0, *levels[at + 1 :])} <= published:
                own = found.setdefault(whole, [])
                if place != whole:
                    own.append(place)
    return found


def _left_by_members(
    shown: Mapping[Place, int], members: Mapping[Place, Sequence[Place]]
) -> Iterator[int]:
    """How many persons of a total are not in one of its groups, where that is not nobody."""
    for whole, groups in members.items():
        for place in groups if whole in shown else ():
            if place in shown and shown[whole] != shown[place]:
                yield shown[whole] - shown[place]


def _wrong_members(
    values: Mapping[Place, int], members: Mapping[Place, Sequence[Place]]
) -> Iterator[bool]:
    """For every total: whether no persons can be in its groups so often, and all in one."""
    for whole, groups in members.items():
        counts = [values.get(place, 0) for place in groups]
        yield not max(counts, default=0) <= values.get(whole, 0) <= sum(counts)


def _pairs(
    hidden: set[Place], members: Mapping[Place, Sequence[Place]]
) -> Iterator[tuple[Place, Place]]:
    """Every total with each of its finest groups, where one of the two is hidden."""
    for whole, groups in members.items():
        for place in groups:
            if _is_finest(place) and (whole in hidden or place in hidden):
                yield whole, place


def _outside(values: Mapping[Place, int], whole: Place, place: Place) -> int | None:
    """How many persons of a total are outside of a group; None where one of them has no figure."""
    if whole not in values or place not in values:
        return None
    return values[whole] - values[place]


def _persons(cell: Cell, form: CountsForm) -> int:
    return int(cell.figures[form.persons] or 0)


def _witnesses(opened: OpenRelease, form: CountsForm) -> list[dict[Place, list[int | None]]]:
    """By table of witnesses: the figures of its cells."""
    held = opened.tables.get(WITNESS)
    if held is None:
        raise UnreadableError("release: has no table of witnesses")
    at = {name: i for i, name in enumerate(held.columns)}
    if {*at} != {*form.witness_columns}:
        raise UnreadableError("release: its table of witnesses has other columns")
    persons = at[form.measures[form.persons].name]
    tables: dict[object, dict[Place, list[int | None]]] = {}
    for row in held.rows:
        table = tables.setdefault(row[at[WITNESS]], {})
        table.setdefault(_place(row, at, form), []).append(number(row[persons]))
    return [*tables.values()]


def _wrong_totals(values: Mapping[Place, int], form: CountsForm) -> Iterator[bool]:
    """For every published place: whether it is not the total of its finest groups."""
    totals: Counter[Place] = Counter()
    published = {*form.groupings}
    for place, n in values.items():
        if any(level for (level, _), d in zip(place, form.by, strict=True) if not d.multiple):
            continue
        above = [
            [one] if d.multiple else [one, *d.above(*one)]
            for one, d in zip(place, form.by, strict=True)
        ]
        for whole in product(*above):
            if tuple(level for level, _ in whole) in published:
                totals[whole] += n
    for place in {*values, *totals}:
        yield values.get(place) != totals.get(place)


def _left_by_lines(
    shown: Mapping[Place, int], hidden: set[Place], form: CountsForm
) -> Iterator[int]:
    """What a total leaves for its hidden parts along one column."""
    lines: dict[tuple[Place, int, int], list[int]] = {}
    for place in (*shown, *hidden):
        for i, d in enumerate(form.by):
            for above in d.above(*place[i]) if place[i][0] < d.levels and not d.multiple else ():
                key = ((*place[:i], above, *place[i + 1 :]), i, place[i][0])
                line = lines.setdefault(key, [0, 0])
                line[0] += shown.get(place, 0)
                line[1] += place in hidden
    for (whole, _, _), (figure, n) in lines.items():
        if n and whole in shown:
            yield shown[whole] - figure
