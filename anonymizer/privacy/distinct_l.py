"""Distinct l-diversity: at least l different values in every class.

    |{s : n(E, s) > 0}| >= l

Units: number of different values. Source: Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam,
"l-Diversity: privacy beyond k-anonymity" (2006), §4. A NULL is no value: a class of NULLs only
has l = 0. Exact (whole numbers).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from anonymizer.compile import Sql, lit
from anonymizer.privacy.rule import Rule


@dataclass(frozen=True, slots=True)
class DistinctL(Rule):
    """At least `l` different values."""

    name: ClassVar[str] = "distinct_l"
    worst: ClassVar[Literal["min", "max"]] = "min"

    l: int

    def required(self) -> Mapping[str, object]:
        return {"l": self.l}

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.l)}")

    def achieved(self) -> Sql:
        return Sql(f"count(*) filter (where {self.counts} and n > 0)")
