"""The interface of a rule, and access to the parameters in a manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from anonymizer.independent.errors import UnreadableError
from anonymizer.independent.groups import Group
from anonymizer.independent.layout import Requirement

Figure: TypeAlias = int | Fraction | float
LONGEST = 400
"""Most digits of a parameter: with more, exact arithmetic would take too long."""

DIGITS = 18
"""Decimals of a bound below 1, significant digits of a larger one. More are cut off, to the
stricter side: the search, too, has so many digits of a bound."""
MOST = 10**12
"""A bound of more is as good as none: no ratio of two counts is as large."""


def upper(bound: Fraction) -> Fraction:
    """An upper bound of at most `DIGITS` digits."""
    if bound >= MOST:
        return Fraction(MOST)
    scale = 10 ** (DIGITS - (len(str(int(bound))) if bound >= 1 else 0))
    return Fraction(bound * scale // 1, scale)


def lower(bound: Fraction) -> Fraction:
    """The same for a lower bound, which is a share."""
    return Fraction(-(-bound * 10**DIGITS // 1), 10**DIGITS)


@dataclass(frozen=True, slots=True)
class Finding:
    """The figures of one group."""

    achieved: Mapping[str, Figure]
    holds: bool
    empty: bool = False
    """Whether the group has no value that counts, so that the definition does not apply."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One guarantee, ready to judge groups."""

    required: Mapping[str, Figure]
    worst: Mapping[str, Callable[..., Figure]]
    """Which end of each figure is the worst: `min` or `max`."""
    judge: Callable[[Group], Finding]
    reason: str | None = field(default=None)
    """Why no group can hold, whatever the rows: a hierarchy without a path for a value."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The parameters of a requirement, type-checked on access."""

    requirement: Requirement

    @property
    def null_as_value(self) -> bool:
        given = self.requirement.parameters.get("null_as_value", False)
        if not isinstance(given, bool):
            raise self._wrong("null_as_value")
        return given

    def whole(self, name: str) -> int:
        """A whole number of at least 1."""
        given = self.requirement.parameters.get(name)
        if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given < 10**18:
            raise self._wrong(name)
        return given

    def number(self, name: str) -> Fraction:
        """The decimal as written, exactly; not negative."""
        given = self.requirement.parameters.get(name)
        if isinstance(given, float):
            given = Decimal(repr(given))
        if isinstance(given, bool) or not isinstance(given, int | Decimal):
            raise self._wrong(name)
        if isinstance(given, Decimal) and (
            not given.is_finite() or (given and abs(given.adjusted()) > LONGEST)
        ):
            raise self._wrong(name)
        exact = Fraction(given)
        if exact < 0 or exact > 10**LONGEST:
            raise self._wrong(name)
        return exact

    def has(self, name: str) -> bool:
        return self.requirement.parameters.get(name) is not None

    def only(self, *names: str) -> None:
        """Refuse other, unknown parameters: they might change the meaning."""
        of_values = {"null_as_value"} if self.requirement.column is not None else set()
        if set(self.requirement.parameters) - {*names} - of_values:
            raise self._wrong("parameters")

    def mapping(self, name: str) -> dict[str, Any]:
        given = self.requirement.parameters.get(name)
        if not isinstance(given, dict):
            raise self._wrong(name)
        return {str(key): value for key, value in given.items()}

    def _wrong(self, name: str) -> UnreadableError:
        return UnreadableError(f"manifest.requirements: {self.requirement.name}.{name}: is wrong")
