"""Models that compare a class with the population it was drawn from: k-map, delta-presence.

k-map: every class matches at least k members of the population.

    |{x in P : x matches E}| >= k

Source: Sweeney, "Computational disclosure control" (2001); formal in El Emam, Dankar (2008).

delta-presence: an attacker who knows a member of the population cannot tell well enough whether
it is in the table.

    delta_min <= n(E) / |{x in P : x matches E}| <= delta_max

Source: Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases" (2007),
definition 2. Members that match no class are in the table with chance 0: they have to be given as
groups with `n` = 0, and violate any delta_min above 0.

Units: members, or persons, and shares of them. Both need, beside `n`, the column `population`, the
members that match the group (additive over its rows). Exact (whole numbers).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import at_least, at_most, big
from anonymizer.privacy.rule import Basis, Rule

MEMBERS = "coalesce(sum(population), 0)"
IN_TABLE = "coalesce(sum(n), 0)"


@dataclass(frozen=True, slots=True)
class KMap(Rule):
    """At least `k` members of the population match the group."""

    name: ClassVar[str] = "k_map"
    basis: ClassVar[Basis] = "classes"
    extra: ClassVar[tuple[str, ...]] = ("population",)
    worst: ClassVar[Literal["min", "max"]] = "min"

    k: int

    def required(self) -> Mapping[str, object]:
        return {"k": self.k}

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.k)}")

    def achieved(self) -> Sql:
        return Sql(f"cast({MEMBERS} as bigint)")


@dataclass(frozen=True, slots=True)
class PresenceAtMost(Rule):
    """No more than a share `most` of the matching members is in the table."""

    name: ClassVar[str] = "delta_presence_max"
    basis: ClassVar[Basis] = "classes"
    extra: ClassVar[tuple[str, ...]] = ("population",)

    most: float

    def required(self) -> Mapping[str, object]:
        return {"max": self.most}

    def holds(self) -> Sql:
        most = at_most(self.most)
        return Sql(
            f"{big(IN_TABLE)} * {lit(most.denominator)} <= {big(MEMBERS)} * {lit(most.numerator)}"
        )

    def achieved(self) -> Sql:
        """Share of the matching members; infinite for rows that no member matches."""
        return _presence(f"case when {IN_TABLE} > 0 then {lit(math.inf)} else 0 end")


@dataclass(frozen=True, slots=True)
class PresenceAtLeast(Rule):
    """At least a share `least` of the matching members is in the table."""

    name: ClassVar[str] = "delta_presence_min"
    basis: ClassVar[Basis] = "classes"
    extra: ClassVar[tuple[str, ...]] = ("population",)
    worst: ClassVar[Literal["min", "max"]] = "min"

    least: float

    def required(self) -> Mapping[str, object]:
        return {"min": self.least}

    def holds(self) -> Sql:
        least = at_least(self.least)
        return Sql(
            f"{big(MEMBERS)} * {lit(least.numerator)} <= {big(IN_TABLE)} * {lit(least.denominator)}"
        )

    def achieved(self) -> Sql:
        """Share of the matching members; 1 for a group that no member matches."""
        return _presence("1")


def _presence(without_members: str) -> Sql:
    ratio = f"cast({IN_TABLE} as double) / nullif(cast({MEMBERS} as double), 0)"
    return Sql(f"coalesce({ratio}, cast({without_members} as double))")
