"""Models that compare a class with a population: k-map, delta-presence.

k-map: every class matches at least k members of the population.

    |{x in P : x matches E}| >= k

Source: Sweeney, "Computational disclosure control" (2001); formal in El Emam, Dankar (2008).

delta-presence: the probability that a member of the population is in the table is bounded.

    delta_min <= n(E) / |{x in P : x matches E}| <= delta_max

Source: Nergiz, Atzori, Clifton, "Hiding the presence of individuals from shared databases" (2007),
definition 2. Members that match no class are in the table with probability 0: they are given as
groups with `n` = 0, and violate any delta_min above 0.

Units: members, or persons, and shares of them. Both need, in addition to `n`, the column
`population`, the members that match the group (additive over its rows). Exact (whole numbers).
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.contract.layout import Ask
from anonymizer.guarantees.guarantee import Example, Flag, Guarantee
from anonymizer.guarantees.rule import Basis, Rule, at_least, at_most, big, within


@dataclass(frozen=True, slots=True)
class PopulationRule(Rule):
    """Compares the units of a group with the members of the population that match it."""

    basis: ClassVar[Basis] = "classes"

    _: KW_ONLY
    members: str = "coalesce(sum(population), 0)"
    """SQL for the number of members that match the group."""
    in_table: str = "coalesce(sum(n), 0)"
    """SQL for its units."""

    def _presence(self, without_members: str) -> Sql:
        ratio = f"cast({self.in_table} as double) / nullif(cast({self.members} as double), 0)"
        return Sql(f"coalesce({ratio}, cast({without_members} as double))")


@dataclass(frozen=True, slots=True)
class KMap(PopulationRule):
    """At least `k` members of the population match the group."""

    name: ClassVar[str] = "k_map"

    k: int

    def holds(self) -> Sql:
        return Sql(f"{self.achieved()} >= {lit(self.k)}")

    def achieved(self) -> Sql:
        return Sql(f"cast({self.members} as bigint)")


@dataclass(frozen=True, slots=True)
class PresenceAtMost(PopulationRule):
    """No more than a share `most` of the matching members is in the table."""

    name: ClassVar[str] = "delta_presence_max"

    most: float

    def holds(self) -> Sql:
        return Sql(within(self.in_table, at_most(self.most), self.members))

    def achieved(self) -> Sql:
        """Share of the matching members; infinite if no member matches."""
        return self._presence(f"case when {self.in_table} > 0 then {lit(math.inf)} else 0 end")


@dataclass(frozen=True, slots=True)
class PresenceAtLeast(PopulationRule):
    """At least a share `least` of the matching members is in the table."""

    name: ClassVar[str] = "delta_presence_min"

    least: float

    def holds(self) -> Sql:
        least = at_least(self.least)
        return Sql(
            f"{big(self.members)} * {lit(least.numerator)}"
            f" <= {big(self.in_table)} * {lit(least.denominator)}"
        )

    def achieved(self) -> Sql:
        """Share of the matching members; 1 if no member matches."""
        return self._presence("1")


GUARANTEES = (
    Guarantee(
        name="k_map",
        field="privacy.k_map",
        family="population",
        of_values=False,
        asks=(Ask("k_map", "k-map", of="population", given=("k",), worst="least"),),
        rules=lambda given: [KMap(None, given.value.k)],
        says="Every class matches at least {k} members of the population.",
        flags=(Flag("k_map"),),
        docs=(
            "k-map (Sweeney 2001) | `k_map: {k: 5, population: people.parquet}`"
            " | `k_map=5 --population` | members of the population ≥ k | members, more",
        ),
        examples=(Example({"k": 3, "population": "p"}, holds="ab4 c3", fails="ab4 c2"),),
    ),
    Guarantee(
        name="delta_presence",
        field="privacy.delta_presence",
        family="population",
        of_values=False,
        asks=(
            Ask(
                "delta_presence",
                "delta-presence",
                of="population",
                lower={"least": "min"},
                upper={"most": "max"},
                worst={"min": "least", "max": "greatest"},
            ),
        ),
        rules=lambda given: [
            PresenceAtLeast(None, given.value.min),
            PresenceAtMost(None, given.value.max),
        ],
        says="That a member is in the table stays between {min} and {max} likely.",
        flags=(Flag("presence_min", ("min",)), Flag("presence_max", ("max",), at_most=True)),
        docs=(
            "delta-presence (Nergiz et al. 2007)"
            " | `delta_presence: {min: 0, max: 0.5, population: main.people}`"
            " | `presence_max=0.5 --population`"
            " | units / members of the population ≤ max (≥ min) | share",
        ),
        examples=(
            Example({"min": 0.1, "max": 0.5, "population": "p"}, holds="ab4 c3", fails="abb4 c3"),
        ),
    ),
)
