"""The result of a verification: one `Check` per condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from anonymizer.independent.rules import Figure


@dataclass(frozen=True, slots=True)
class Check:
    """One condition, with the required and the achieved figure."""

    name: str
    column: str | None
    """Source column, or the published column of numbers for `dense`."""
    required: Mapping[str, Figure]
    achieved: Mapping[str, Figure | None]
    """The figure of the worst group; None without groups."""
    failing: int
    """How many groups (conditions of form: rows, cells or groups) violate it."""
    empty: int = 0
    """How many of the failing groups have no value at all."""
    reason: str | None = None

    @property
    def passed(self) -> bool:
        return self.failing == 0

    @property
    def form(self) -> bool:
        """Whether this is a condition of form, not a guarantee."""
        return set(self.required) == {"broken"}


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A guarantee that cannot be judged."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """All checks of a release."""

    view: str
    rows: int
    checks: tuple[Check, ...]
    not_checked: tuple[NotChecked, ...] = ()
    kind: str = "anonymised"
    """The kind of release in its manifest."""

    @property
    def passed(self) -> bool:
        return bool(self.checks) and all(check.passed for check in self.checks)


def counted(name: str, column: str | None, broken: int) -> Check:
    """A condition of form."""
    return Check(name, column, {"broken": 0}, {"broken": broken}, broken)
