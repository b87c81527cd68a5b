"""The form of a table of counts: its groups, totals and figures, and what has to hold of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, with_config

from anonymizer.policy.aggregate import WITNESS

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, defer_build=True)
MINIMUM = "minimum"
"""The requirement that no group of 1 to n - 1 persons is shown to exist."""
DOMINANCE = "dominance"
"""The requirement that no sum shows what one contributor adds to another."""
GROUPS = "groups"
"""The requirement that no value is that of nearly everybody in a group."""
REQUIRED = (MINIMUM, DOMINANCE, GROUPS)
PRIVACY_LOSS = "differential_privacy"
"""The requirement that a person changes no probability by a factor above exp(epsilon)."""
INTERVALS = ("sum_interval", "insider_interval")
"""The checks of what readers can compute of hidden sums."""
DIGITS = 38
"""Digits of a sum."""


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class CountedColumn:
    """A column of labels."""

    name: str
    levels: Annotated[int, Field(ge=1)]
    """The number of levels below the total, whose level this is."""
    level: str | None = None
    """The column with the level of the label, if there are several."""
    nested: tuple[tuple[str, ...], ...] = ()
    """For several levels: the published labels of each finest group, the finest first."""
    multiple: bool = False
    """True if a person may be in several groups: they do not add up to their total."""

    @property
    def paths(self) -> tuple[tuple[int, str, int, str], ...]:
        """Level and label, with each level and label above them."""
        steps = {
            (below, path[below], level, "(all)" if level == self.levels else path[level])
            for path in self.nested
            for below in range(self.levels)
            for level in range(below + 1, self.levels + 1)
        }
        return tuple(sorted(steps))


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class CountedMeasure:
    """A column of figures."""

    name: str
    of: Literal["persons", "rows", "sum", "ratio"]
    places: Annotated[int, Field(ge=0, le=DIGITS)] = 0
    """Decimal places of a sum."""
    parts: tuple[str, ...] = ()
    """Of a ratio: the two measures."""
    nonnegative: bool = False
    """Of a sum: whether no value is negative."""

    @property
    def sql_type(self) -> str:
        """The type of its column."""
        types = {"sum": f"DECIMAL({DIGITS},{self.places})", "ratio": "DOUBLE"}
        return types.get(self.of, "BIGINT")


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Spending:
    """The privacy loss of the release, and what the releases of its ledger add up to with it."""

    epsilon: Annotated[float, Field(gt=0)]
    spent: Annotated[float, Field(gt=0)]
    budget: Annotated[float, Field(gt=0)]


@with_config(STRICT)
@dataclass(frozen=True, slots=True)
class Counts:
    """A table of counts."""

    by: Annotated[tuple[CountedColumn, ...], Field(min_length=1)]
    groupings: Annotated[tuple[tuple[int, ...], ...], Field(min_length=1)]
    """The published totals, by the level of every column."""
    measures: Annotated[tuple[CountedMeasure, ...], Field(min_length=1)]
    status: str
    list_hidden: bool = False
    """True if groups that are left out are listed, without figures."""
    base: int | None = None
    """The base to which small groups are rounded."""
    zeros: bool = False
    """True if every group of the domain is listed."""
    noise: Spending | None = None
    """The privacy loss of all releases, where the figures have noise."""

    @property
    def least(self) -> int | None:
        """The least figure that is published; None if it may be negative."""
        return None if self.noise is not None else 0 if self.zeros else 1

    @property
    def persons(self) -> int:
        """The place of the measure by which groups are judged, from 1."""
        kinds = [one.of for one in self.measures]
        return kinds.index("persons" if "persons" in kinds else "rows") + 1

    @property
    def witness_columns(self) -> tuple[str, ...]:
        """The columns of the table of witnesses."""
        names = (name for d in self.by for name in (d.name, d.level) if name is not None)
        return (*names, self.measures[self.persons - 1].name, WITNESS)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Counts:
        by = (
            CountedColumn(**{**one, "nested": tuple(map(tuple, one["nested"]))})
            for one in data["by"]
        )
        measures = (
            CountedMeasure(**{**one, "parts": tuple(one["parts"])}) for one in data["measures"]
        )
        groupings = tuple(map(tuple, data["groupings"]))
        parts = {"by": tuple(by), "groupings": groupings, "measures": tuple(measures)}
        noise = Spending(**data["noise"]) if data.get("noise") is not None else None
        return cls(**{**data, **parts, "noise": noise})
