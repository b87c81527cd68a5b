"""The achieved value of every privacy model, computed from the classes of a table. Counts only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anonymizer.compile import Table, work
from anonymizer.review.assess.staging import Staged, Valued

WORST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows, persons and class sizes. `units` are persons if a person column is given, else rows."""

    rows: int
    persons: int | None
    rows_without_person: int
    classes: int
    k: int | None
    """Rows of the smallest class (Samarati and Sweeney 1998); None for an empty table."""
    person_k: int | None
    """Different persons in the class with the fewest; None without a person column."""
    uniques: int
    """Rows that are unique in their class."""
    unique_persons: int | None
    """Persons that are unique in a class."""
    units: int
    units_below: int
    """Units in classes smaller than 1 / threshold."""
    classes_below: int
    classes_held: int
    largest: int | None


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What one sensitive column achieves in the worst class; each person counts a value once.

    * `distinct_l`: different non-NULL values; `entropy_l`: exp(entropy); `recursive_c`: c of
      recursive (c,2)-diversity must be larger than this (Machanavajjhala et al. 2006);
    * `alpha`: share of the most frequent value (Wong et al. 2006);
    * `t_equal`, `t_ordered`: distance from the whole table, 0 to 1 (Li et al. 2007), with NULL as
      a category; ordered only for numbers and dates;
    * `beta_likeness`: relative gain of a value's share (Cao and Karras 2012);
      `delta_disclosure`: |ln| of that ratio, infinite where a value is absent (Brickell and
      Shmatikov 2008).
    """

    distinct_l: int
    entropy_l: float
    recursive_c: float
    alpha: float
    t_equal: float
    t_ordered: float | None
    beta_likeness: float
    delta_disclosure: float
    distinct_values: int
    nulls: int
    commonest_share: float | None
    homogeneous_classes: int
    """Classes with at most one different value, where membership discloses the value."""
    homogeneous_units: int


def sizes(staged: Staged, threshold: int) -> Sizes:
    """Class sizes over the whole table; units in classes below `threshold` are at risk."""
    (row,) = staged.select("assess/sizes.sql.j2", threshold=threshold)
    return Sizes(*row)


def size_bins(staged: Staged) -> list[dict[str, int]]:
    """Classes by size: 1, 2, 3, 4, then from 5, 10, 20, 50, 100, …"""
    rows = staged.select("assess/size_bins.sql.j2")
    return [{"from": low, "classes": classes, "units": units} for low, classes, units in rows]


def worst_classes(staged: Staged) -> list[dict[str, int]]:
    """The smallest class sizes, with the number of classes and rows of each. No values."""
    rows = staged.select("assess/worst.sql.j2", shown=WORST_SHOWN)
    return [{"size": size, "classes": classes, "rows": n} for size, classes, n in rows]


def cells_of(column: Valued) -> Table:
    """Work table with class_id, value, n."""
    return work(f"assess_cells_{column.index}")


def column_figures(staged: Staged, column: Valued) -> ColumnFigures:
    """Every value-based model, evaluated over the classes of the table."""
    cells = cells_of(column)
    staged.select("assess/cells.sql.j2", cells=cells, value=column.s)
    (row,) = staged.select("assess/figures.sql.j2", cells=cells)
    ordered = None
    if column.kind != "categorical":
        ordered = float(staged.select("assess/t_ordered.sql.j2", cells=cells)[0][0])
    return _figures(row, ordered)


def _figures(row: tuple[Any, ...], ordered: float | None) -> ColumnFigures:
    l, entropy, c, alpha, t, beta, delta, distinct, nulls, commonest, classes, units = row
    return ColumnFigures(
        distinct_l=l or 0,
        entropy_l=_round(entropy),
        recursive_c=_round(c),
        alpha=_round(alpha),
        t_equal=_round(t),
        t_ordered=None if ordered is None else _round(ordered),
        beta_likeness=_round(beta),
        delta_disclosure=_round(delta),
        distinct_values=distinct or 0,
        nulls=nulls or 0,
        commonest_share=None if commonest is None else _round(commonest),
        homogeneous_classes=classes,
        homogeneous_units=units,
    )


def _round(figure: float | None) -> float:
    """Round to twelve digits: beyond these, sums of logarithms vary between calls."""
    return 0.0 if figure is None else float(f"{figure:.12g}")
