"""Figures that only the run knew: what a release refutes of them all the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from anonymizer.contract.coarse import BOUNDS

SAMPLE = "_sample"
OF_RUNS = (
    *BOUNDS,
    *(f"{bound}{SAMPLE}" for bound in BOUNDS),
    *("ncp_nodes", "ncp_sets", "lattice_nodes", "lattice_judged"),
    *("lattice_gap", "lattice_loss", "lattice_bound", "lattice_score"),
)
"""Measures that only the run could take, besides how many rows it left out."""
SHARES = ("ncp_sets", "lattice_gap")
COUNTS = ("lattice_nodes", "lattice_judged")
STATED = ("created", "reproducible", "versions")
"""What a manifest states of the run itself."""
CLOSE = 1e-9
"""Relative difference of two doubles that were summed in another order."""


def refuted(stated: Mapping[str, Any], levels: set[str]) -> Iterator[tuple[str, str]]:
    """Measures of the run that the other ones contradict, and what is wrong with them.

    Losses and rows were compared with the release before. `levels`: names of levels of hierarchies.
    """
    for bound, loss in BOUNDS.items():
        yield from _of_bound(stated, bound, loss)
    for name in stated.keys() & {*SHARES}:
        if not _within(stated[name], 1):
            yield name, "is no share"
    for name in stated.keys() & {*COUNTS, *levels}:
        if not _within(stated[name]) or number(stated[name]) % 1:
            yield name, "is no count"
    if not _within(stated.get("lattice_loss", 0)):
        yield "lattice_loss", "is no loss"
    elif not _within(stated.get("lattice_bound", 0), stated.get("lattice_loss", math.inf)):
        yield "lattice_bound", "is no lower bound of lattice_loss"
    if stated.get("ncp_nodes", stated.get("ncp")) != stated.get("ncp"):
        yield "ncp_nodes", "is not the ncp of the release"


def _of_bound(stated: Mapping[str, Any], bound: str, loss: str) -> Iterator[tuple[str, str]]:
    """A release is a grouping into classes, too: no bound is above its loss."""
    sample = f"{bound}{SAMPLE}"
    if (bound in stated) != (sample in stated):
        yield bound, f"is stated without {sample}, or the other way round"
    elif bound in stated and not _within(stated[bound], stated.get(loss, 0)):
        yield bound, f"is above the {loss} of the release, or is no loss"
    elif bound in stated and not _within(stated[sample], stated["rows"] + stated["suppressed"]):
        yield sample, "is no number of rows"


def _within(value: Any, most: Any = math.inf) -> bool:
    """Whether a figure is between 0 and another one."""
    found, end = number(value), number(most)
    return 0 <= found <= end * (1 + CLOSE)


def number(value: Any) -> float | int:
    """A figure, or NaN; a manifest writes a decimal of some engine, and an infinity, as text."""
    if isinstance(value, int | float):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
