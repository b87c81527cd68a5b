"""k-anonymity: every class holds at least k rows, or persons.

    |E| >= k

Units: rows, or different persons where `n` counts those. Source: Samarati, Sweeney, "Protecting
privacy when disclosing information" (1998). Exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from anonymizer.compile import Sql, lit
from anonymizer.privacy.rule import Basis, Rule


@dataclass(frozen=True, slots=True)
class KAnonymity(Rule):
    """At least `k` units in the group."""

    name: ClassVar[str] = "k_anonymity"
    basis: ClassVar[Basis] = "classes"
    worst: ClassVar[Literal["min", "max"]] = "min"

    k: int

    def required(self) -> Mapping[str, object]:
        return {"k": self.k}

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.k)}")

    def achieved(self) -> Sql:
        return Sql("cast(coalesce(sum(n), 0) as bigint)")
