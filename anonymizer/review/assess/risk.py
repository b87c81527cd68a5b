"""Re-identification risk of a table: prosecutor, journalist and marketer (El Emam 2013).

Prosecutor: the observer knows that the target is in the table. Journalist: the target is known to
be in the population only. Marketer: the observer wants as many matches as possible. All figures
are probabilities between 0 and 1; a unit is a person if a person column is given, else a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.compile import ident, work
from anonymizer.errors import Problem, SourceError
from anonymizer.review.assess.figures import Sizes
from anonymizer.review.assess.opening import Opened, relation_of
from anonymizer.review.assess.staging import Staged
from anonymizer.source.profile import kind_of

MATCHED = work("assess_matched")


@dataclass(frozen=True, slots=True)
class Risk:
    """The risk from an observer who knows all quasi-identifiers."""

    threshold: float
    prosecutor_max: float | None
    """1 / smallest class."""
    prosecutor_average: float | None
    """Classes / units: the mean probability of picking the target in its class."""
    prosecutor_above: float | None
    """Share of units whose risk is above the threshold."""
    marketer: float | None
    """Expected share of units matched correctly (matched to the population if one is given)."""
    journalist_max: float | None = None
    """1 / smallest class in the population."""
    journalist_average: float | None = None
    journalist_above: float | None = None
    unique_share: float | None = None
    """Share of units alone in their class (sample uniqueness)."""
    population_unique_share: float | None = None
    """Share of units unique in the population: counted if a population is given, else estimated."""
    population_uniques_estimated: float | None = None
    """Zayatz's (1991) estimate of the share of the population that is unique in it."""


@dataclass(frozen=True, slots=True)
class Population:
    """Comparison of the table with its population, if one is given."""

    size: int
    k_map: int | None
    """Fewest population members that match a class (Sweeney 2001)."""
    presence_min: float | None
    """Smallest and largest probability that a member is in the table (Nergiz et al. 2007)."""
    presence_max: float | None
    uniques: int
    """Units unique both in the table and in the population."""
    unmatched_units: int
    """Units in classes larger than in the population, which then cannot be the table's."""
    classes: int
    units: int
    units_below: int
    expected: float
    matching_members: int


def at_risk_below(threshold: float) -> int:
    """The class size below which the risk exceeds the threshold."""
    return math.ceil(round(1 / threshold, 9))


def risk_of(
    sizes: Sizes,
    threshold: float,
    population: Population | None,
    fraction: float | None,
    frequencies: Sequence[tuple[int, int]],
) -> Risk:
    """Compute the risk of a table.

    `frequencies`: pairs of class size and number of classes; `fraction`: the table's share of the
    population.
    """
    smallest = min((size for size, _ in frequencies), default=None)
    units = sizes.units
    alone = sizes.uniques if sizes.unique_persons is None else sizes.unique_persons
    share = (lambda n: n / units) if units else (lambda n: None)
    average = share(sizes.classes_held)
    given: dict[str, Any] = {}
    if population is not None:
        mean = (
            max(population.classes / population.matching_members, population.expected / units)
            if units and population.matching_members
            else None
        )
        given = {
            "journalist_max": 1 / population.k_map if population.k_map else None,
            "journalist_average": mean,
            "journalist_above": share(population.units_below),
            "population_unique_share": share(population.uniques),
        }
    elif fraction is not None and units:
        chance, estimated = zayatz(frequencies, fraction)
        given = {
            "population_unique_share": share(alone * chance),
            "population_uniques_estimated": estimated,
        }
    return Risk(
        threshold=threshold,
        prosecutor_max=1 / smallest if smallest else None,
        prosecutor_average=average,
        prosecutor_above=share(sizes.units_below),
        marketer=average if population is None else share(population.expected),
        unique_share=share(alone),
        **given,
    )


def class_sizes(staged: Staged) -> list[tuple[int, int]]:
    """Pairs of class size and number of classes, one row per different size."""
    return [(int(a), int(b)) for a, b in staged.select("risk/class_sizes.sql.j2")]


def zayatz(frequencies: Sequence[tuple[int, int]], fraction: float) -> tuple[float, float]:
    """P(unique in the population | unique in the sample), and the population's share of uniques.

    By Bayes' theorem, with the sample's class sizes in place of the population's, for a sample
    drawn without replacement (Zayatz 1991).
    """
    n = sum(size * count for size, count in frequencies)
    total = max(n, round(n / fraction))
    classes = sum(count for _, count in frequencies)
    singles = dict(frequencies).get(1, 0)
    if not singles:
        return 0.0, 0.0
    seen_once = sum(
        count / classes * once_in_sample(total, size, n)
        for size, count in frequencies
        if size <= total
    )
    chance = singles / classes * once_in_sample(total, 1, n) / seen_once
    return chance, chance * singles / fraction / total


def once_in_sample(total: int, size: int, n: int) -> float:
    """P(one of `size` members is among `n` drawn from `total`): hypergeometric."""
    if size - 1 > total - n:
        return 0.0
    return math.exp(math.log(size) + _choose(total - size, n - 1) - _choose(total, n))


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def population_of(staged: Staged, name: str, threshold: int) -> Population:
    """Compare with a population: a table of the database, or a file, with the same columns."""
    opened = staged.opened
    relation = relation_of(opened.engine, name, "--population")
    other = Opened(
        opened.engine, relation, tuple(opened.engine.describe(relation.sql.text, "--population"))
    )
    columns = other.find(staged.quasi, "--population")
    person = None
    if staged.person is not None and staged.person in {name for name, _ in other.columns}:
        person = ident(staged.person)
    SourceError.refuse(
        Problem("--population", f"{ours} has another kind of type there")
        for ours, theirs in zip(staged.quasi, columns, strict=True)
        if _family(opened.type_of(ours)) != _family(other.type_of(theirs))
    )
    keys = [(other.value(name), q) for name, q in zip(columns, staged.q, strict=True)]
    staged.select(
        "risk/population.sql.j2",
        source=relation.table or relation.sql,
        relation=relation.sql,
        keys=keys,
        person=person,
        matched=MATCHED,
    )
    (row,) = staged.select("risk/population_figures.sql.j2", matched=MATCHED, threshold=threshold)
    k_map, most, least, _, uniques, size, unmatched, expected, classes, matching, units, below = row
    return Population(
        size,
        k_map,
        least,
        most,
        uniques,
        unmatched,
        classes,
        units,
        below,
        expected or 0.0,
        matching,
    )


def _family(sql_type: str) -> str:
    return kind_of(sql_type) or sql_type
