"""Usefulness of a release that holds: its information loss, compared with fixed thresholds.

The thresholds are a choice of this tool, documented in docs/report.md, and not part of any model.
They identify releases of little use, and do not rank the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LOST = 0.9
"""Loss (NCP) of a column, or of all cells, from which little is left."""
GIANT = 0.5
"""Share of the published rows from which one class is a giant, ..."""
GIANT_LOST = 0.5
"""... if at least this share of the information of all cells is lost."""
MOST_NAMED = 5
"""More columns than this are reported in one line, so that they do not hide the rest."""
LEFT_OUT = 0.5
"""Share of suppressed rows (persons) from which little is left."""
COLUMN = "ncp."
"""Prefix of measures that are the loss of a single column."""


@dataclass(frozen=True, slots=True)
class Little:
    """A part of a release of which little is left, described by figures of the release alone."""

    what: str
    """`class`, `column`, `columns`, `cells`, `rows` or `table`."""
    column: str | None
    """The column or table concerned."""
    says: str
    hint: str

    def __str__(self) -> str:
        return f"{self.says} ({self.hint})"


def little_left(measures: Mapping[str, Any]) -> tuple[Little, ...]:
    """Everything of which little is left, the most important first; empty for a useful release."""
    return tuple(_poor_measures(measures))


def _poor_measures(measures: Mapping[str, Any]) -> Iterator[Little]:
    rows, ncp = measures.get("rows") or 0, measures.get("ncp")
    losses = {
        name.removeprefix(COLUMN): float(value)
        for name, value in measures.items()
        if name.startswith(COLUMN) and value is not None
    }
    worst = max(losses, key=lambda name: losses[name], default=None)
    other = "try a smaller k or weaker rules, fewer quasi-identifiers, or another algorithm"
    if worst is not None:
        other += f"; {worst} lost most"
    largest = measures.get("class_max") or 0
    if ncp is not None and rows and largest >= GIANT * rows and ncp >= GIANT_LOST:
        yield Little(
            "class",
            None,
            f"one class holds {largest:,} of {rows:,} rows, and {percent(ncp)} of the information"
            " of the generalized cells is lost (NCP)",
            "a few rows may force it: a larger suppression_limit lets them go; or " + other,
        )
    elif ncp is not None and ncp >= LOST:
        yield Little(
            "cells",
            None,
            f"{percent(ncp)} of the information of the generalized cells is lost (NCP)",
            other,
        )
    yield from _of_columns({name: lost for name, lost in losses.items() if lost >= LOST})
    for table, one in measures.get("tables", {}).items():
        yield from _of_table(table, one)
    share = measures.get("suppressed_share") or 0
    if share >= LEFT_OUT:
        unit = "persons" if "suppressed_persons" in measures else "rows"
        yield Little("rows", None, f"{percent(share)} of the {unit} are left out", other)


def _of_columns(losses: Mapping[str, float]) -> Iterator[Little]:
    """Columns that lost nearly everything, the worst first."""
    worst = sorted(losses, key=lambda name: (-losses[name], name))
    if len(worst) > MOST_NAMED:
        named = f"{', '.join(worst[:MOST_NAMED])} and {len(worst) - MOST_NAMED} more columns"
        least = losses[worst[-1]]
        share = percent(least) + (" or more" if least < 1 else "")
        yield Little(
            "columns",
            None,
            f"{share} of the information of {named} is lost (NCP)",
            "leave out the columns that are needed least (role drop), so that the others keep more",
        )
        return
    for name in worst:
        yield Little(
            "column",
            name,
            f"{percent(losses[name])} of the information of {name} is lost (NCP)",
            f"try a hierarchy or bounds that keep more of {name}, or leave it out (role drop),"
            " so that the other columns keep more",
        )


def _of_table(table: str, measures: Mapping[str, Any]) -> Iterator[Little]:
    """Little that is left of a child table, whose rows belong to persons."""
    hint = "try fewer event columns, a smaller k, or a hierarchy with more levels for its events"
    rows, left_out = measures["rows"], measures["suppressed"]
    if left_out and left_out >= LEFT_OUT * (rows + left_out):
        says = f"{percent(left_out / (rows + left_out))} of the rows of {table} are left out"
        yield Little("table", table, says, hint)
    for name, lost in measures["ncp"].items():
        if rows and lost >= LOST:
            column = f"{table}.{name}"
            says = f"{percent(lost)} of the information of {column} is lost (NCP)"
            yield Little("column", column, says, hint)


def percent(share: float) -> str:
    """A share in percent, which is 100 % only if everything is lost."""
    if 0.999 < share < 1:
        return f"{100 * share:.2f} %" if share < 0.99995 else "nearly 100 %"
    return f"{100 * share:.1f} %".replace(".0 %", " %")
