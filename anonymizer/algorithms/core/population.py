"""Judges k-map and delta-presence during partitioning, on the population encoded like the table.

The population is read once and mapped to the domains of the table. A cut is admissible only if
both halves hold on the cells that they would publish (k-map: Sweeney 2001; delta-presence: Nergiz
et al. 2007, definition 2). With a lower bound on presence, a cut may also leave no member of the
population outside both halves: the member would be known to be absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.core.loss import shape
from anonymizer.compile import NumberedColumn, NumberedTable, Sql, Table, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.guarantees.guarantee import RuleInput
from anonymizer.guarantees.population import PopulationRule, PresenceAtLeast
from anonymizer.guarantees.requirements import OF_TABLE, required_guarantees
from anonymizer.guarantees.rule import all_hold, at_most
from anonymizer.policy import Policy
from anonymizer.source.profile import Level, OfAttribute
from anonymizer.source.roles import Roles
from anonymizer.steps import Guard, Row, Stage, Step

POPULATION = work("population")
TUPLES = work("population_tuples")
COMPARED = work("population_compared")


@dataclass(frozen=True, slots=True)
class Rank(OfAttribute):
    """Names of the columns and tables that compare one attribute with the population."""

    value = NumberedColumn("p")
    """Its value in the population."""

    @property
    def shape(self) -> str:
        return shape(self.attribute)

    @property
    def distinct(self) -> int:
        return self.attribute.distinct

    @property
    def height(self) -> int:
        return self.attribute.height

    @property
    def levels(self) -> tuple[Level, ...]:
        return self.attribute.levels if self.shape == "node" else ()

    places = NumberedTable("population_places")
    """Work table of the population's values with their positions in the domain."""


@dataclass(frozen=True, slots=True)
class PopulationRules:
    """The rules that compare every class with the population, as SQL over `n`, `sure`, `possible`.

    `sure` members match the cells whatever their unknown values are; `possible` ones may match.
    """

    ranks: tuple[Rank, ...]
    holds: Sql
    all_matched: bool
    """True if every member of the population has to match some class."""
    typed: bool
    extents: Table
    models: str
    k: int = 0
    """Fewest members that match a class."""
    most: Fraction = Fraction(1)
    """Largest share of the matching members that is in the table."""

    def context(self) -> Mapping[str, Any]:
        """Parameters of the templates that compare boxes with the population."""
        return {
            "ranks": self.ranks,
            "holds": self.holds,
            "all_matched": self.all_matched,
            "typed": self.typed,
            "units": UNITS,
            "extents": self.extents,
            "tuples": TUPLES,
            "within": work("population_within"),
            "narrowed": work("population_narrowed"),
            "compared": COMPARED,
            "domains": [rank.domain for rank in self.ranks],
        }


def population_rules(policy: Policy, roles: Roles, extents: Table) -> PopulationRules | None:
    """The rules of the policy's models that need a population; None if it has none."""
    k_map, presence = policy.privacy.k_map, policy.privacy.delta_presence
    rules = [
        # members that only may match could all be in the table: the strict side of each bound
        replace(rule, in_table="n", members=("sure", "possible")[type(rule) is PresenceAtLeast])
        for guarantee, value in required_guarantees(OF_TABLE, policy.privacy)
        for rule in guarantee.rules(RuleInput(value))
        if isinstance(rule, PopulationRule)
    ]
    if not rules:
        return None
    return PopulationRules(
        ranks=tuple(Rank(a) for a in roles.quasi),
        holds=all_hold(rules),
        all_matched=presence is not None and presence.min > 0,
        typed=policy.publish.cells == "typed",
        extents=extents,
        models=", ".join(policy.privacy.populations),
        k=k_map.k if k_map is not None else 0,
        most=at_most(presence.max) if presence is not None else Fraction(1),
    )


def population_stages(rules: PopulationRules | None) -> tuple[Stage, ...]:
    """Stages that map the population to the domains, and stop the run if the whole table fails."""
    if rules is None:
        return ()
    places = [
        Step(
            f"population in the domain of {rank.attribute.column}",
            "prepare/population_places",
            {
                "population": POPULATION,
                "domain": rank.domain,
                "places": rank.places,
                "value": rank.value,
                "attribute": rank.attribute,
                "levels": rank.levels,
            },
        )
        for rank in rules.ranks
    ]
    tuples = Step(
        "tuples of the population",
        "prepare/population_tuples",
        {
            "population": POPULATION,
            "places": [rank.places for rank in rules.ranks],
            "ranks": rules.ranks,
            "tuples": TUPLES,
        },
    )

    def explain(row: Row) -> Problem:
        n, sure, members = row
        hint = "weaken the requirement, or give a population that the table is a sample of"
        # (whole numbers only: a script prints the problem from figures that are expressions)
        over = n - rules.most.numerator * sure // rules.most.denominator
        if 0 < over < n and sure >= rules.k:
            hint += f", or leave {over:,} units or more out in source.query"
        return Problem(
            "privacy",
            f"{rules.models} does not hold even for the whole table as one class, whose {n} units"
            f" match {sure} of {members} members of the population",
            hint=hint,
        )

    whole = Step("the table in the population", "mondrian/population_whole", rules.context())
    return (*places, tuples, Guard(whole, explain, InfeasibleError))


def first_within(rules: PopulationRules, first_class: Sql) -> Step:
    """The step that finds the tuples that match the initial class of all units."""
    context = {**rules.context(), "first_class": first_class}
    return Step("population of the first class", "mondrian/population_first", context)


def compare_step(rules: PopulationRules, context: Mapping[str, Any]) -> Step:
    """The step that judges the halves of `asked` cuts into COMPARED (offer, holds)."""
    own = {**context, **rules.context()}
    return Step("halves in the population", "mondrian/population_judge", own)


def narrow_steps(rules: PopulationRules, context: Mapping[str, Any]) -> Sequence[Step]:
    """Steps after the cuts that find the tuples that match the classes still to be cut."""
    own = {**context, **rules.context()}
    return (
        Step("population of the halves", "mondrian/population_within", own),
        Step("population of open classes", "mondrian/population_moved", own),
    )
