"""The interface of a rule, the groups that it is judged in, and the result of a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import Field, StrictBool, StrictInt, TypeAdapter, ValidationError

from anonymizer.independent.cells import Value
from anonymizer.independent.fetch import UnreadableError
from anonymizer.independent.layout import LONGEST, Number, Requirement, only

# Groups of rows in which a guarantee is judged, and the counts of their values.
#
# A *unit* is a person if the release numbers persons, else a row. A (unit, value) pair counts once
# in its group: without persons every row is a pair, and with persons three rows of a person with
# one diagnosis are one pair. Rows without a person are not counted (docs/models.md).


Record: TypeAlias = tuple[int | None, Value | None]
"""Unit and value of one row; the unit is None if the row's person is unknown."""
Counts: TypeAlias = Mapping[Value | None, int]


@dataclass(frozen=True, slots=True)
class Group:
    """A class, a set of equal published tuples, a bucket, or a group of msb."""

    label: Hashable
    records: tuple[Record, ...]

    @property
    def known_rows(self) -> list[tuple[int, Value | None]]:
        """The rows with a known unit."""
        return [(unit, value) for unit, value in self.records if unit is not None]

    @property
    def units(self) -> set[int]:
        """All units of the group, including those without a value."""
        return {unit for unit, _ in self.known_rows}

    @property
    def pairs(self) -> set[tuple[int, Value | None]]:
        """The distinct (unit, value) pairs."""
        return set(self.known_rows)

    def counts(self, *, nulls: bool) -> Counter[Value | None]:
        """Count the units with each value; `nulls`: count NULL as a value."""
        return Counter(value for _, value in self.pairs if nulls or value is not None)

    def holdings(self, *, nulls: bool) -> dict[int, set[Value | None]]:
        """S(p): the distinct values of every unit that has one (Wang et al. 2018)."""
        held: dict[int, set[Value | None]] = {}
        for unit, value in self.pairs:
            if nulls or value is not None:
                held.setdefault(unit, set()).add(value)
        return held


def group_by_label(records: Iterable[tuple[Hashable, Record]]) -> tuple[Group, ...]:
    """Group records by label."""
    found: dict[Hashable, list[Record]] = {}
    for label, record in records:
        found.setdefault(label, []).append(record)
    return tuple(Group(label, tuple(members)) for label, members in found.items())


def total(groups: Iterable[Group], *, nulls: bool) -> Counter[Value | None]:
    """The counts of all groups together: the reference distribution q, before division."""
    whole: Counter[Value | None] = Counter()
    for group in groups:
        whole.update(group.counts(nulls=nulls))
    return whole


def shares(counts: Counts) -> dict[Value | None, Fraction]:
    """The exact distribution; empty without counts."""
    everything = sum(counts.values())
    return {value: Fraction(n, everything) for value, n in counts.items()}


# The interface of a rule, and access to the parameters in a manifest.


T = TypeVar("T")
Figure: TypeAlias = int | Fraction | float
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
    """True if the group has no value that counts, so that the definition does not apply."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One guarantee, ready to judge groups."""

    required: Mapping[str, Figure]
    worst: Mapping[str, Callable[..., Figure]]
    """The worst end of each figure: `min` or `max`."""
    judge: Callable[[Group], Finding]
    reason: str | None = field(default=None)
    """The reason why no group can hold: a hierarchy without a path for a value."""


_BOOLEAN = TypeAdapter(StrictBool)
_WHOLE = TypeAdapter(Annotated[StrictInt, Field(ge=1, lt=10**18)])
_NUMBER = TypeAdapter(Annotated[Number, only(lambda one: 0 <= one <= 10**LONGEST, "")])
_MAPPING = TypeAdapter(dict[Any, Any])


@dataclass(frozen=True, slots=True)
class Terms:
    """The parameters of a requirement, type-checked on access."""

    requirement: Requirement

    @property
    def null_as_value(self) -> bool:
        stated = "null_as_value" in self.requirement.parameters
        return self._read("null_as_value", _BOOLEAN) if stated else False

    def integer(self, name: str) -> int:
        """A whole number of at least 1."""
        return self._read(name, _WHOLE)

    def number(self, name: str) -> Fraction:
        """The decimal as written, exactly; not negative."""
        return Fraction(self._read(name, _NUMBER))

    def has(self, name: str) -> bool:
        return self.requirement.parameters.get(name) is not None

    def only(self, *names: str) -> None:
        """Refuse other, unknown parameters: they might change the meaning."""
        of_values = {"null_as_value"} if self.requirement.column is not None else set()
        if set(self.requirement.parameters) - {*names} - of_values:
            raise self._wrong("parameters")

    def mapping(self, name: str) -> dict[str, Any]:
        return self._read(name, _MAPPING)

    def _read(self, name: str, kind: TypeAdapter[T]) -> T:
        given = self.requirement.parameters.get(name)
        try:
            return kind.validate_python(Decimal(repr(given)) if isinstance(given, float) else given)
        except ValidationError:
            raise self._wrong(name) from None

    def _wrong(self, name: str) -> UnreadableError:
        return UnreadableError(f"manifest.requirements: {self.requirement.name}.{name}: is wrong")


# The result of a verification: one `Check` per condition.


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
    """Number of groups (conditions of form: rows, cells or groups) that violate it."""
    empty: int = 0
    """Number of failing groups without any value."""
    reason: str | None = None

    @property
    def passed(self) -> bool:
        return self.failing == 0

    @property
    def form(self) -> bool:
        """True if this is a condition of form, not a guarantee."""
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


def form_check(name: str, column: str | None, broken: int) -> Check:
    """A condition of form."""
    return Check(name, column, {"broken": 0}, {"broken": broken}, broken)
