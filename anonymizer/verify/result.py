"""What a verification found: one `Check` per condition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

Rows = list[tuple[Any, ...]]
RunSql = Callable[[str], Rows]
"""Executes one SQL text on a connection that sees the release, and fetches its rows."""

Figure = float | int | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Check:
    """One condition that a release has to meet, and what it reaches."""

    name: str
    """The guarantee (`k_anonymity`, …) or the condition of form (`class_cells`, …)."""
    column: str | None
    """The source column it is about; None for the table."""
    required: Figure
    """The parameter, or a mapping of several; 0 for conditions of form."""
    achieved: Figure
    """The worst class or bucket; for conditions of form, how many break it."""
    passed: bool
    sql: str
    """Returns the classes or buckets (ids and sizes) that break the condition: no rows, it holds.
    Names no catalog, so that it runs under any alias."""
    failing: int = 0
    """How many rows `sql` returns."""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NotChecked:
    """A requirement that could not be judged, so that nothing is claimed of it."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks of one release."""

    passed: bool
    """Whether every check that was made holds; it says nothing of `not_checked`."""
    checks: tuple[Check, ...]
    not_checked: tuple[NotChecked, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        found = {"passed": self.passed, "checks": [check.as_dict() for check in self.checks]}
        left = [asdict(item) for item in self.not_checked]
        return {**found, "not_checked": left} if left else found

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.passed)

    def __add__(self, other: Verification) -> Verification:
        left = (*self.not_checked, *other.not_checked)
        return verification((*self.checks, *other.checks), left)


def verification(
    checks: tuple[Check, ...], not_checked: tuple[NotChecked, ...] = ()
) -> Verification:
    """Passed if there are checks and every one of them holds."""
    passed = bool(checks) and all(check.passed for check in checks)
    return Verification(passed, checks, not_checked)
