"""The result of a trial run."""

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
    """The columns of the source, each with its path in a policy; empty if it cannot be read. With
    several tables, each is named with its table."""
    replaces: tuple[str, ...] = ()
    """What a run would replace or drop."""
    problems: tuple[Problem, ...] = ()
    """Why the policy cannot run; all other fields are empty then."""
    achieved: dict[Named, tuple[Any, bool]] = field(default_factory=dict)
    """Achieved figure and verdict of every guarantee, by name and column."""
    figures: dict[str, float | int | None] = field(default_factory=dict)
    """Rows, suppression, loss and risk of the table, or of each of several tables."""
    losses: dict[str, float] = field(default_factory=dict)
    """Mean NCP of each quasi-identifier and of each event column."""
    observers: dict[str, int] = field(default_factory=dict)
    """Persons found by observers who know some of their rows; empty for one table."""
    holds: bool = False
    """Whether every guarantee and the suppression limit hold."""

    @property
    def runs(self) -> bool:
        return not self.problems


def of_whole(
    units: str, share: float, measures: Mapping[str, Any], many: int, smallest: int | None
) -> dict[str, float | int | None]:
    """The figures of the table that is divided into classes.

    `many`: published `units` (rows, or persons); `smallest`: units of the smallest class.
    """
    if "classes" not in measures:  # the algorithm forms no classes
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
