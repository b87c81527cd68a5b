"""k-map and delta-presence: published tuples compared with the population they come from.

A member of the population matches a published tuple if every cell admits its value
(docs/models.md). k-map (Sweeney 2001): at least k members match every tuple. delta-presence
(Nergiz, Atzori and Clifton 2007): units of the tuple / members that match it is between min and
max; a member that no tuple admits is in the table with probability 0, which violates a min above 0.

The values below a node of a hierarchy are not published: with such a column neither is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from anonymizer.independent.cells import Cell
from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.fetch import Table
from anonymizer.independent.layout import Layout
from anonymizer.independent.release import Release
from anonymizer.independent.result import Check
from anonymizer.independent.rules import Figure, Terms, lower, upper
from anonymizer.independent.values import Value, ValueFormError, read_value

PARAMETERS = {"k_map": ("k",), "delta_presence": ("min", "max")}
"""The guarantees, and the parameters of each."""


@dataclass(frozen=True, slots=True)
class Members:
    """The distinct tuples of the population, and the number of members with each."""

    counts: tuple[tuple[tuple[Value | None, ...], int], ...]


def members(table: Table, layout: Layout, person: str | None) -> Members:
    """Tuples of the population's quasi-identifiers; with a person column, persons are counted."""
    places = {name: i for i, name in enumerate(table.columns)}
    wanted = [one.column for one in layout.quasi]
    missing = [name for name in [*wanted, *([person] if person else [])] if name not in places]
    if missing:
        raise UnreadableError(f"--population: has no column {missing[0]!r}")
    found: dict[tuple[Value | None, ...], set[object]] = {}
    for number, row in enumerate(table.rows):
        values: list[Value | None] = []
        for column in layout.quasi:
            text = row[places[column.column]]
            try:
                values.append(None if text is None else read_value(str(text), column.sql_type))
            except ValueFormError:
                said = f"--population: {column.column!r} has values of another type"
                raise UnreadableError(said) from None
        who: object = number
        if person is not None:
            who = row[places[person]]
            if who is None:
                continue
        found.setdefault(tuple(values), set()).add(who)
    return Members(tuple((values, len(who)) for values, who in found.items()))


def unanswerable(layout: Layout) -> str | None:
    """Why the models of a population cannot be judged even with it; None if they can."""
    if any(one.hierarchy for one in layout.quasi):
        return "needs the hierarchies of the columns, which the release does not hold"
    return None


def judge(terms: Terms, release: Release, population: Members) -> Check:
    """Judge every published tuple, and for delta-presence every member."""
    units: dict[tuple[Cell, ...], set[int]] = {}
    for row in release.rows:
        unit = release.unit(row)
        units.setdefault(row.tuple, set()).update(() if unit is None else (unit,))
    matching = {cells: _matching(cells, population) for cells in units}
    name = terms.requirement.name
    if name == "k_map":
        k = terms.whole("k")
        failing = sum(n < k for n in matching.values())
        return Check(name, None, {"k": k}, {"k": min(matching.values())}, failing)
    low, high = terms.number("min"), terms.number("max")
    shares: list[Figure] = [
        Fraction(len(who), matching[cells]) if matching[cells] else float("inf")
        for cells, who in units.items()
    ]
    failing = sum(not within(low, share, high) for share in shares)
    least: Figure = min(shares)
    if low:
        absent = sum(
            not any(_admits(cells, values) for cells in units) for values, _ in population.counts
        )
        failing += absent
        least = 0 if absent else least
    achieved = {"min": least, "max": max(shares)}
    return Check(name, None, {"min": low, "max": high}, achieved, failing)


def within(low: Fraction, share: Figure, high: Fraction) -> bool:
    """Whether a share is within bounds, of which digits beyond the last are cut off."""
    return lower(low) <= share <= upper(high)


def _matching(cells: tuple[Cell, ...], population: Members) -> int:
    return sum(n for values, n in population.counts if _admits(cells, values))


def _admits(cells: Sequence[Cell], values: Sequence[Value | None]) -> bool:
    return all(cell.admits(value) for cell, value in zip(cells, values, strict=True))
