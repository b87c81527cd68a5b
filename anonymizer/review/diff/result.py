"""What a trial run finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anonymizer.errors import Problem
from anonymizer.review.diff.required import Named


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial run."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """The columns of its source, each with its path in a policy; none where that cannot be read. Of
    several tables they are named with their table."""
    replaces: tuple[str, ...] = ()
    """What a run would replace or drop."""
    problems: tuple[Problem, ...] = ()
    """Why it cannot run; the rest is empty then."""
    achieved: dict[Named, tuple[Any, bool]] = field(default_factory=dict)
    """Figure and verdict of every guarantee, by its name and column."""
    figures: dict[str, float | int | None] = field(default_factory=dict)
    """Rows, suppression, loss and risk of the whole table, or of each of several."""
    losses: dict[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifying column, and of each column of events."""
    observers: dict[str, int] = field(default_factory=dict)
    """Persons whom observers find that know some of their rows; of one table none."""
    holds: bool = False
    """Every guarantee, and the limit on suppression."""

    @property
    def runs(self) -> bool:
        return not self.problems


def of_whole(
    units: str, share: float, measures: Mapping[str, Any], many: int, smallest: int | None
) -> dict[str, float | int | None]:
    """The figures of the table that is put into classes.

    `many`: the `units` (rows, or persons) published; `smallest`: those of the smallest class.
    """
    if "classes" not in measures:  # the algorithm none
        return {"suppressed (share)": share}
    classes = measures["classes"]
    return {
        "suppressed (share)": share,
        "classes": classes,
        f"smallest class ({units})": smallest,
        "loss per cell (NCP)": measures["ncp"],
        "mean risk": classes / many if many else None,
        "largest risk": 1 / smallest if smallest else None,
    }
