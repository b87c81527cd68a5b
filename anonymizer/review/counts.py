"""Attack a table of counts that is published already: which hidden figures can be recomputed."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from anonymizer.algorithms.aggregate.cells import (
    UNBOUNDED,
    Cell,
    ContradictionError,
    Dimension,
    Floats,
    Lattice,
    lattice,
)
from anonymizer.algorithms.aggregate.linear import Ranges, shown_behind, solver
from anonymizer.algorithms.aggregate.nesting import Figures, parents
from anonymizer.compile import Sql, ident, work
from anonymizer.engines.base import Limits
from anonymizer.engines.session import Database
from anonymizer.errors import PolicyError, Problem, SourceError
from anonymizer.process.document import Document, NotebookResult, Section, say, table_section
from anonymizer.process.text import many
from anonymizer.review.assess.classes import QUERY, AssessedTable, open_table
from anonymizer.source.profile import kind_of

CELLS = work("counts_cells")
"""c1…, l1… (labels and levels), hidden, figure; one row per cell."""
MOST_CELLS = 200_000
MOST_HIDDEN = 12_000
MOST_FIGURE = 9 * 10**11
"""Beyond it sums of doubles are not exact."""
TOTAL = "(all)"
"""The usual mark of a total."""
SECONDS = 300.0
"""For all programs together."""
SHOWN = 20
"""Cells that are listed."""
PARTS = 4
"""Most figures that an equation lists."""
Row: TypeAlias = tuple[Any, ...]
Label: TypeAlias = tuple[str | None, str | None]
"""A level, NULL if its column has none, and a label."""
Key: TypeAlias = tuple[Label | None, ...]
"""Of a row: the label in each column, None for a total."""
Bounds: TypeAlias = tuple[Floats, Floats]
"""The least and the largest value that each figure may have."""


@dataclass(frozen=True, slots=True)
class Disclosed:
    """A hidden cell of which the published figures say too much."""

    labels: tuple[str, ...]
    least: int
    most: int
    how: str

    @property
    def figures(self) -> str:
        return f"{self.least:,}" if self.least == self.most else f"{self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True, repr=False)
class CountsAttack(NotebookResult):
    """What the published figures of a table say of those that it hides."""

    table: str
    by: tuple[str, ...]
    measure: str
    minimum: int
    rounded: int | None
    cells: int
    hidden: int
    exact: int
    """Hidden figures that can be recomputed; of rounded ones those below the minimum."""
    below: int
    """Figures that are at least 1 and below the minimum in every table that agrees."""
    undecided: int
    """Cells of which one of both is open: there was not enough time."""
    shown_below: int
    """Published figures between 1 and the minimum."""
    complete: bool
    """False if the finest groups are too many, so that not all relations were used."""
    derived: tuple[str, ...]
    """The columns with levels of which the nesting was derived from the figures."""
    recomputed: tuple[Disclosed, ...] = ()
    """The first of the exact ones."""
    narrow: int = 0
    """How many are below the minimum, and not exact."""
    narrowed: tuple[Disclosed, ...] = ()
    """The first of these."""

    @property
    def passed(self) -> bool:
        """True if nothing was recomputed and nothing is below the minimum."""
        return self.exact == self.below == 0

    def as_dict(self) -> dict[str, Any]:
        """Plain data: the counts, and the first cells."""
        names = ("cells", "hidden", "exact", "below", "minimum")
        return {
            "table": self.table,
            "by": list(self.by),
            "measure": self.measure,
            "counts": {name: getattr(self, name) for name in names},
            "undecided": self.undecided,
            "shown_below": self.shown_below,
            "recomputed": [*map(self._cell, self.recomputed)],
            "narrowed": [*map(self._cell, self.narrowed)],
        }

    def _cell(self, found: Disclosed) -> dict[str, Any]:
        labels = dict(zip(self.by, found.labels, strict=True))
        return {"cell": labels, "least": found.least, "most": found.most, "how": found.how}

    def _document(self) -> Document:
        return self.document()

    def document(self) -> Document:
        """The result on one page."""
        n = self.minimum
        what = "rounded" if self.rounded else "hidden"
        top = [
            say(f"{many(self.exact, f'{what} figure')} can be recomputed exactly"),
            say(f"{many(self.below, 'figure is', 'figures are')} shown to be below {n}"),
        ]
        if self.undecided:
            top.append(say(f"{many(self.undecided, 'cell')} could not be decided in time"))
        if self.derived:
            said = f"how the levels of {', '.join(self.derived)} nest follows from the figures"
            top.append(say(said))
        if not self.complete:
            said = "the finest groups are not listed, and too many to be combined"
            top.append(say(f"{said}: more may be recomputed"))
        sections = [
            table_section(
                f"{title} ({len(cells)} of {of:,})",
                ("count", *self.by, "how"),
                ((cell.figures, *cell.labels, cell.how) for cell in cells),
            )
            for title, cells, of in (
                ("Recomputed", self.recomputed, self.exact),
                (f"Shown to be below {n}", self.narrowed, self.narrow),
            )
            if cells
        ]
        sections.append(Section("Next", tuple(say(f"- {said}") for said in self._advice())))
        table = "the query" if QUERY.match(self.table) else self.table
        title = f"{table}: {many(self.cells, 'cell')}, {self.hidden:,} hidden"
        return Document(title, tuple(top), tuple(sections))

    def _advice(self) -> Iterator[str]:
        if not self.hidden and not self.rounded:
            yield "no figure is hidden: if some are blanked by a mark, name it with --hidden"
        elif self.passed:
            yield "no hidden figure gives way; figures published elsewhere were not considered"
        else:
            yield "hiding small figures alone does not protect: totals less their parts show them"
            yield "publish fewer totals or coarser groups, or hide further figures beside these"


def assess_counts(
    table: str,
    database: Database = None,
    *,
    by: Sequence[str],
    minimum: int = 5,
    measure: str | None = None,
    total: str | None = None,
    hidden: str | None = None,
    rounded: int | None = None,
    zeros: bool = False,
    limits: Limits | None = None,
) -> CountsAttack:
    """Attack a published table of counts: which hidden figures do the others give away?

    `table`: a table, file or query with one row per cell. `by`: its grouping columns, in which
    `total` (default `(all)`, else NULL) marks a total. `measure`: the column of the counts; NULL
    and `hidden` mark a hidden one. `rounded`: the figures are multiples of this number. A cell
    without a row is zero, and a hidden one is at least 1, or with `zeros` may be zero.

    Raises PolicyError, SourceError and EngineError for what cannot be attacked.
    """
    _refuse_options(by, minimum, measure, hidden, rounded)
    solver("--counts")  # before the table is read
    with open_table(table, database, limits=limits, queries=True) as opened:
        columns = opened.find_all({"--by": by, "--measure": [measure] if measure else []})
        by = columns[0]
        measure = columns[1][0] if columns[1] else _measure(opened, by, hidden)
        rows = _read(opened, by, measure, hidden, rounded or 1)
    figures = np.array([np.nan if row[-1] is None else row[-1] for row in rows], np.float64)
    # what is listed has somebody in it, unless zeros are listed too
    least, half = 0 if zeros else 1, rounded // 2 if rounded else 0
    bounds = (
        np.where(np.isnan(figures), least, np.maximum(figures - half, least if half else 0)),
        np.where(np.isnan(figures), UNBOUNDED, figures + half),
    )
    shape = _shape(by, rows, total, bounds)
    return _attack(table, shape, figures, bounds, by, measure, minimum, rounded, zeros)


def _refuse_options(
    by: Sequence[str], minimum: int, measure: str | None, hidden: str | None, rounded: int | None
) -> None:
    problems = []
    if not by:
        hint = "as in --by region,sex"
        problems.append(Problem("--by", "names no column of the table's groups", hint=hint))
    problems += [Problem("--by", f"names {name} twice") for name in {*by} if by.count(name) > 1]
    if measure is not None and measure in by:
        problems.append(Problem("--measure", f"{measure} is among the columns of --by"))
    if minimum < 2:
        problems.append(Problem("--minimum", "protects nobody", allowed="2 or more"))
    if rounded is not None and rounded < 2:
        problems.append(Problem("--rounded", "is not a base of rounding", allowed="2 or more"))
    if hidden is not None and re.fullmatch(r"\s*\+?[\d.]+\s*", hidden):
        said = "is a count as well, and cannot mark hidden ones"
        hint = "nullif(count, ...) in a query makes NULL of it"
        problems.append(Problem("--hidden", said, allowed="a mark such as '*'", hint=hint))
    PolicyError.refuse(problems)


def _level_of(column: str) -> str:
    """The name, in small letters, of the column that holds the levels of a column."""
    return f"{column}_level".lower()


def _measure(opened: AssessedTable, by: Sequence[str], mark: str | None) -> str:
    """The column that holds the counts, if there is one candidate."""
    levels = {_level_of(name) for name in by}
    others = [one for one in opened.columns if one[0] not in by and one[0].lower() not in levels]
    found = [name for name, sql_type in others if kind_of(sql_type) == "numeric"]
    texts = [name for name, sql_type in others if sql_type == "VARCHAR"]
    if mark is not None and texts:
        asked = {"columns": [ident(name) for name in texts], "mark": mark}
        (row,) = opened.select("counts/readable", "TABLE", **asked)
        found += [name for name, readable in zip(texts, row, strict=True) if readable]
    if len(found) == 1:
        return found[0]
    if found:
        said = "is needed: several columns may hold the counts"
        raise SourceError.at("--measure", said, allowed=", ".join(found))
    hint = None if mark else "if hidden counts are texts, name their mark: --hidden '*'"
    listed = ", ".join(name for name, _ in others) or None
    said = "is needed: no column besides those of --by holds numbers"
    raise SourceError.at("--measure", said, allowed=listed, hint=hint)


def _read(
    opened: AssessedTable, by: Sequence[str], measure: str, mark: str | None, base: int
) -> list[Row]:
    """The cells, each with labels and a figure. Raises SourceError for figures that are none."""
    spelled = {name.lower(): ident(name) for name, _ in opened.columns}
    levels = [spelled.get(_level_of(name), Sql("null")) for name in by]
    names = [Sql(f"c{at}") for at in range(1, 2 * len(by) + 1)]
    status = [ident(name) for name, _ in opened.columns if name.lower() == "status"]
    opened.select(
        "counts/cells",
        "TABLE",
        cells=CELLS,
        keys=[*zip([*map(ident, by), *levels], names, strict=True)],
        measure=ident(measure),
        mark=mark,
        status=status[0] if status and status[0] not in map(ident, (*by, measure)) else None,
    )
    asked = {"cells": CELLS, "most": MOST_FIGURE, "base": base}
    ((count, unreadable, negative, fractional, large, uneven),) = opened.select(
        "counts/faults", "TABLE", **asked
    )
    if not count:
        raise SourceError.at("TABLE", "has no rows", hint="there is nothing to attack")
    if count > MOST_CELLS:
        said = f"has {count:,} rows, and each is taken for a cell"
        hint = "count first, as in: select region, sex, count(*) from t group by cube(region, sex)"
        raise SourceError.at("TABLE", said, allowed=f"up to {MOST_CELLS:,}", hint=hint)
    whole = "counts are attacked, not means or shares; name their column with --measure"
    cells = f"column {measure}: "
    SourceError.refuse(
        Problem("TABLE", cells + many(of, one, several), hint=hint)
        for of, one, several, hint in (
            (unreadable, "value is no number", "values are no numbers",
             "if they mark hidden counts, name the mark: --hidden '*'"),
            (negative, "figure is negative", "figures are negative",
             "if a number such as -1 marks hidden counts: --hidden=-1"),
            (fractional, "figure is not whole", "figures are not whole", whole),
            (large, "figure is too large", "figures are too large", whole),
            (uneven * (base > 1), "figure is no multiple", "figures are no multiples",
             f"of {base}: --rounded is the base to which all figures were rounded"),
        )
        if of
    )  # fmt: skip
    return opened.select("counts/figures", "TABLE", cells=CELLS, names=names)


def _shape(by: Sequence[str], rows: Sequence[Row], total: str | None, bounds: Bounds) -> Lattice:
    """The cells of the rows, and the sums among them. Raises SourceError for rows that are none."""
    width = len(by)
    marks = _marks(by, [{row[at] for row in rows} for at in range(width)], total)
    keys = [
        tuple(None if row[at] == marks[at] else (row[width + at], row[at]) for at in range(width))
        for row in rows
    ]
    twice = len(keys) - len(set(keys))
    if twice:
        said = f"{many(twice, 'row repeats', 'rows repeat')} the cell of another"
        hint = (
            "name all grouping columns with --by; if a group has the label of a total, or is NULL"
            " like one, rename it, as in coalesce(region, 'unknown')"
        )
        raise SourceError.at("TABLE", said, hint=hint)
    dimensions, nodes = [], []
    for at, name in enumerate(by):
        dimension, node = _dimension(name, at, keys, bounds)
        dimensions.append(dimension)
        nodes.append(node)
    cells: list[Cell] = [
        tuple(node[label] for node, label in zip(nodes, key, strict=True)) for key in keys
    ]
    shape = lattice(dimensions, cells)
    if not len(shape.sums.parents):
        said = "has no totals, so that nothing can be recomputed from it"
        hint = "name the mark of a total: --total MARK (default: (all), else NULL)"
        raise SourceError.at("TABLE", said, hint=hint)
    return shape


def _dimension(
    name: str, at: int, keys: Sequence[Key], bounds: Bounds
) -> tuple[Dimension, dict[Label | None, int]]:
    """The labels of a column, by level, with the node of each. Raises SourceError where it is open
    how the levels nest.
    """
    by_level: dict[str | None, list[Label]] = {}
    found_labels = {label for key in keys if (label := key[at]) is not None}
    for label in sorted(found_labels, key=str):
        by_level.setdefault(label[0], []).append(label)
    levels = sorted(by_level.values(), key=lambda level: (-len(level), level[0][0] or ""))
    ordered = [label for level in levels for label in level]
    node: dict[Label | None, int] = {label: number for number, label in enumerate((*ordered, None))}
    up = [len(ordered)] * len(ordered)
    for fine, coarse in pairwise(levels):
        found = parents(*_common(fine, coarse, at, keys, bounds))
        if found is None:
            said = f"it does not follow from the figures how the levels of {name} nest"
            hint = (
                "give each level a column of its own, with the mark of a total where it is not used"
            )
            raise SourceError.at(f"--by {name}", said, hint=hint)
        for label, parent in zip(fine, found, strict=True):
            up[node[label]] = node[coarse[parent]]
    texts = [["(null)" if text is None else text for _, text in level] for level in levels]
    return Dimension.nested(name, texts, up), node


def _common(
    fine: Sequence[Label], coarse: Sequence[Label], at: int, keys: Sequence[Key], bounds: Bounds
) -> tuple[list[Figures], list[Figures]]:
    """The figures of the labels of two levels, in the groupings that both have."""
    found: dict[Label | None, dict[tuple[Hashable, Hashable], tuple[float, float]]]
    found = {label: {} for label in (*fine, *coarse)}
    groupings: list[set[Hashable]] = [set(), set()]
    places: dict[Label | None, int]
    places = {label: number for number, level in enumerate((fine, coarse)) for label in level}
    for key, low, high in zip(keys, *bounds, strict=True):
        if key[at] in found:
            rest = key[:at] + key[at + 1 :]
            grouping = tuple(one if one is None else one[0] or "" for one in rest)
            groupings[places[key[at]]].add(grouping)
            found[key[at]][grouping, rest] = low, high
    common = groupings[0] & groupings[1]
    kept = {
        label: {rest: figures for (of, rest), figures in by_rest.items() if of in common}
        for label, by_rest in found.items()
    }
    return [kept[label] for label in fine], [kept[label] for label in coarse]


def _marks(
    by: Sequence[str], labels: Sequence[set[str | None]], total: str | None
) -> list[str | None]:
    """By column: the label that marks a total."""
    if total is not None:
        mark = None if total == "NULL" else total
        if not any(mark in found for found in labels):
            said = "marks no total in the columns of --by"
            raise SourceError.at("--total", said, allowed="a label of theirs, or NULL")
        return [mark] * len(by)
    for name, found in zip(by, labels, strict=True):
        if {TOTAL, None} <= found:
            said = f"is needed: column {name} has both {TOTAL} and NULL"
            raise SourceError.at("--total", said, allowed=f"'{TOTAL}', NULL")
    return [TOTAL if TOTAL in found else None for found in labels]


def _attack(
    table: str,
    shape: Lattice,
    figures: Floats,
    listed: Bounds,
    by: tuple[str, ...],
    measure: str,
    minimum: int,
    rounded: int | None,
    zeros: bool,
) -> CountsAttack:
    """Find what the figures say of the cells that are hidden or rounded."""
    hidden = np.flatnonzero(np.isnan(figures))
    if len(hidden) > MOST_HIDDEN:
        said = f"hides {len(hidden):,} figures"
        raise SourceError.at("TABLE", said, allowed=f"up to {MOST_HIDDEN:,}")
    others = len(shape.cells) - shape.listed
    low = np.append(listed[0], np.zeros(others))
    high = np.append(listed[1], np.full(others, UNBOUNDED))
    if not rounded:
        _refuse_unequal(shape, np.where(high < UNBOUNDED / 2, low, 0), high)
    targets = np.arange(len(figures)) if rounded else hidden
    bounds = low.copy(), high.copy()
    try:
        found = Ranges(shape.sums, *bounds, targets, minimum, SECONDS)
    except ContradictionError as error:
        raise SourceError(_contradiction(shape, error.cell, rounded, zeros)) from error
    low_of, high_of = found.low[targets], found.high[targets]
    below = (high_of < minimum) & (low_of >= 1)
    exact = (low_of == high_of) & ((high_of < minimum) if rounded else True)
    explain = Explanations(shape, low, high, found, rounded)
    first = targets[exact][:SHOWN], targets[below & ~exact][:SHOWN]
    return CountsAttack(
        table=table,
        by=by,
        measure=measure,
        minimum=minimum,
        rounded=rounded,
        cells=len(figures),
        hidden=len(hidden),
        exact=int(exact.sum()),
        below=int(below.sum()),
        undecided=int(found.open().sum()),
        shown_below=0 if rounded else int(((figures > 0) & (figures < minimum)).sum()),
        complete=shape.finest,
        derived=tuple(one.name for one in shape.dimensions if len(one.above[-1]) > 2),
        recomputed=tuple(map(explain.disclosed, first[0])),
        narrow=int((below & ~exact).sum()),
        narrowed=tuple(map(explain.disclosed, first[1])),
    )


def _refuse_unequal(shape: Lattice, low: Floats, high: Floats) -> None:
    """Raises SourceError for totals that cannot be the sum of their parts."""
    sums = shape.sums
    parents = sums.parents
    wrong = np.flatnonzero((sums.totals(low) > high[parents]) | (sums.totals(high) < low[parents]))
    if not len(wrong):
        return
    relation = int(wrong[np.argmin(sums.totals(low)[wrong])])
    cell = ", ".join(shape.names(int(parents[relation])))
    along = shape.along(relation)
    more = f" ({len(wrong):,} such sums)" if len(wrong) > 1 else ""
    raise SourceError.at(
        "TABLE",
        f"the total of {cell} is not the sum of its parts along {along}{more}",
        hint="every group needs a row, those that `having` left out too, with NULL or the mark of"
        " --hidden if its count is hidden; a group without a row counts as zero",
    )


def _contradiction(shape: Lattice, cell: int, rounded: int | None, zeros: bool) -> Problem:
    said = f"the figures around {', '.join(shape.names(cell))} contradict each other"
    if rounded:
        hint = f"--rounded {rounded} means that each figure is the multiple next to its count"
    elif zeros:
        hint = "every group needs a row, with NULL or the mark of --hidden if its count is hidden"
    else:
        hint = "a hidden count is taken for at least 1: --zeros if it may be zero"
    return Problem("TABLE", said, hint=hint)


class Explanations:
    """How figures are recomputed: an equation of one line, or how many figures it takes."""

    def __init__(
        self, shape: Lattice, low: Floats, high: Floats, found: Ranges, rounded: int | None
    ) -> None:
        self.shape, self.low, self.high, self.found = shape, low, high, found
        self.shown = high - low < UNBOUNDED / 2
        self.rounded = rounded

    def disclosed(self, cell: int) -> Disclosed:
        """A cell with its range, and how it follows."""
        least, most = int(self.found.low[cell]), int(self.found.high[cell])
        how = None if self.rounded else self._line(cell)
        if how is None:
            both = least == most
            count = shown_behind(self.shape.sums, self.low, self.high, cell, self.shown, both)
            how = "the published figure alone"
            if count > 1:
                how = f"a combination of {count:,} published figures"
        return Disclosed(self.shape.names(cell), least, most, how)

    def _line(self, cell: int) -> str | None:
        """The shortest equation of published figures that has the cell on one side."""
        sums = self.shape.sums
        for relation in np.flatnonzero(sums.parents == cell):
            parts = sums.parts_of(int(relation))
            if self.shown[parts].all():
                return self._write(self.low[parts], " + ", int(relation))
        for relation in sums.of[sums.parts == cell]:
            parent, parts = sums.parents[relation], sums.parts_of(int(relation))
            others = parts[parts != cell]
            if self.shown[parent] and self.shown[others].all():
                figures = np.append(self.low[parent], self.low[others])
                return self._write(figures, " - ", int(relation))
        return None

    def _write(self, figures: Floats, sign: str, relation: int) -> str:
        whole = [f"{int(figure):,}" for figure in figures]
        if len(whole) > PARTS + 1 and sign == " - ":
            whole = [whole[0], f"{int(figures[1:].sum()):,} ({len(whole) - 1} figures)"]
        elif len(whole) > PARTS:
            whole = [f"the sum of {len(whole)} figures"]
        return f"{sign.join(whole)} along {self.shape.along(relation)}"
