"""Figures of an assessment: achieved models, unique combinations, re-identification risk."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from math import comb
from typing import Any

from anonymizer.compile import Sql, Table, ident, work
from anonymizer.errors import Problem, SourceError
from anonymizer.guarantees.closeness import TEqual, TOrdered
from anonymizer.guarantees.diversity import DistinctL, EntropyL, RecursiveCL
from anonymizer.guarantees.frequency import Alpha, BetaLikeness, DeltaDisclosure
from anonymizer.guarantees.population import KMap, PresenceAtLeast, PresenceAtMost
from anonymizer.guarantees.rule import Rule, merge_layers
from anonymizer.review.assess.classes import AssessedTable, SensitiveColumn, Staged, relation_of
from anonymizer.source.profile import kind_of

# The achieved value of every privacy model, computed from the classes of a table. Counts only.


WORST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Sizes:
    """Rows, persons and class sizes. `units` are persons if a person column is given, else rows."""

    rows: int
    persons: int | None
    rows_without_person: int
    classes: int
    k: int | None
    """Rows of the smallest class (Samarati and Sweeney 1998); None for an empty table."""
    person_k: int | None
    """Different persons in the class with the fewest; None without a person column."""
    uniques: int
    """Rows that are unique in their class."""
    unique_persons: int | None
    """Persons that are unique in a class."""
    units: int
    units_below: int
    """Units in classes smaller than 1 / threshold."""
    classes_below: int
    classes_held: int
    largest: int | None


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """Figures of one sensitive column in the worst class; each person counts a value once.

    * `distinct_l`: different non-NULL values; `entropy_l`: exp(entropy); `recursive_c`: c of
      recursive (c,2)-diversity must be larger than this (Machanavajjhala et al. 2006);
    * `alpha`: share of the most frequent value (Wong et al. 2006);
    * `t_equal`, `t_ordered`: distance from the whole table, 0 to 1 (Li et al. 2007), with NULL as
      a category; ordered only for numbers and dates;
    * `beta_likeness`: relative gain of a value's share (Cao and Karras 2012);
      `delta_disclosure`: |ln| of that ratio, infinite where a value is absent (Brickell and
      Shmatikov 2008).
    """

    distinct_l: int
    entropy_l: float
    recursive_c: float
    alpha: float
    t_equal: float
    t_ordered: float | None
    beta_likeness: float
    delta_disclosure: float
    distinct_values: int
    nulls: int
    commonest_share: float | None
    homogeneous_classes: int
    """Classes with at most one different value, where membership discloses the value."""
    homogeneous_units: int


def sizes(staged: Staged, threshold: int) -> Sizes:
    """Class sizes over the whole table; units in classes below `threshold` are at risk."""
    (row,) = staged.select("assess/sizes", threshold=threshold)
    return Sizes(*row)


def size_bins(staged: Staged) -> list[dict[str, int]]:
    """Classes by size: 1, 2, 3, 4, then from 5, 10, 20, 50, 100, …"""
    rows = staged.select("assess/size_bins")
    return [{"from": low, "classes": classes, "units": units} for low, classes, units in rows]


def worst_classes(staged: Staged) -> list[dict[str, int]]:
    """The smallest class sizes, with the number of classes and rows of each. No values."""
    rows = staged.select("assess/worst", shown=WORST_SHOWN)
    return [{"size": size, "classes": classes, "rows": n} for size, classes, n in rows]


RULES: dict[str, tuple[Rule, str]] = {
    "distinct_l": (DistinctL(None, 1), "min"),
    "entropy_l": (EntropyL(None, 1), "min"),
    "recursive_c": (RecursiveCL(None, 1, 2), "max"),
    "alpha": (Alpha(None, 1), "max"),
    "t_equal": (TEqual(None, 1), "max"),
    "beta_likeness": (BetaLikeness(None, 1), "max"),
    "delta_disclosure": (DeltaDisclosure(None, 1), "max"),
}
"""The rules whose figures are shown, each with the worst of classes; no bound is compared."""
ORDERED: dict[str, tuple[Rule, str]] = {"t_ordered": (TOrdered(None, 1).by_runs(), "max")}


def cells_of(column: SensitiveColumn) -> Table:
    """Work table with class_id, value, n."""
    return work(f"assess_cells_{column.index}")


def column_figures(staged: Staged, column: SensitiveColumn) -> ColumnFigures:
    """Every value-based model, evaluated over the classes of the table."""
    cells = cells_of(column)
    staged.select("assess/cells", cells=cells, value=column.s)
    rules = {**RULES, **({} if column.kind == "categorical" else ORDERED)}
    reference = work(f"assess_reference_{column.index}")
    context = {"reference": reference, "coded": cells, "column": Sql("value"), "levels": ()}
    context |= {"count": Sql("sum(n)"), "runs": True, "hierarchy": None}
    staged.select("prepare/reference", **context)
    layers = merge_layers([rule for rule, _ in rules.values()], Sql("class_id"))
    judged = {
        "index": column.index,
        "reference": reference,
        "runs": column.kind != "categorical",
        "layers": layers,
    }
    figures = [(name, rule.achieved(), Sql(worst)) for name, (rule, worst) in rules.items()]
    ((*achieved, distinct, nulls, commonest, classes, units),) = staged.select(
        "assess/figures", cells=cells, reference=reference, p=judged, figures=figures
    )
    found: dict[str, Any] = {
        "t_ordered": None,
        **dict(zip(rules, map(_round, achieved), strict=True)),
    }
    return ColumnFigures(
        **{**found, "distinct_l": int(found["distinct_l"])},
        distinct_values=distinct,
        nulls=nulls,
        commonest_share=None if commonest is None else _round(commonest),
        homogeneous_classes=classes,
        homogeneous_units=units,
    )


def _round(figure: float | None) -> float:
    """Round to twelve digits: beyond these, sums of logarithms vary between calls."""
    return 0.0 if figure is None else float(f"{figure:.12g}")


# Columns that single people out: minimal unique combinations, and the risk of every subset.
#
# A combination of columns singles out a row (or person) if no other has the same values in them. It
# is minimal if no proper subset does (a minimal sample unique; Manning, Haglin, Keane 2008, SUDA2).
# All combinations of one size are found together, over the distinct tuples: the number of
# statements depends on the number of columns, not on the number of rows.


UNITS = work("assess_units")
GROUPS = work("assess_groups")
SINGLES = work("assess_singles")
MINIMAL = work("assess_minimal")
BATCH = 12
"""Combinations per statement; limits the number of groups in memory at once."""
MOST = 400
"""Largest number of combinations examined; with more columns, combinations are smaller."""


@dataclass(frozen=True, slots=True)
class Subset:
    """A combination of quasi-identifiers, and the risk from an observer who knows only these."""

    columns: tuple[str, ...]
    classes: int
    k: int
    singled_out: int
    """Rows (persons) that are unique in these columns."""
    average_risk: float
    """Classes per unit: the mean probability of picking the right unit in a class."""
    minimal: int | None = None
    """Rows (persons) that no proper subset of the combination singles out."""


@dataclass(frozen=True, slots=True)
class Combinations:
    """All subsets of up to `size` columns, and the contribution of each column."""

    size: int
    subsets: tuple[Subset, ...]
    singled_out: int
    """Rows (persons) that some combination of at most `size` columns singles out."""
    column_involved: dict[str, int]
    """Rows (persons) for which the column is part of a minimal combination."""
    without: dict[str, Subset]
    """The risk that remains if one column is dropped."""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "subsets": [asdict(subset) for subset in self.subsets]}


def look_at(columns: int, size: int) -> int:
    """The largest size at which all combinations can be examined."""
    total = 0
    for reached in range(1, min(size, columns) + 1):
        total += comb(columns, reached)
        if total > MOST:
            return max(reached - 1, 1)
    return min(size, columns)


def find_combinations(staged: Staged, size: int) -> Combinations:
    """Find all combinations of at most `size` columns (fewer if there are too many to examine)."""
    names = staged.quasi
    reached = look_at(len(names), size)
    staged.select("risk/units", units=UNITS)
    staged.select("risk/no_singles", singles=SINGLES)
    found: dict[int, Subset] = {}
    for columns in range(1, reached + 1):
        found |= dict(_of_size(staged, columns, keep=True))
    staged.select("risk/minimal", singles=SINGLES, minimal=MINIMAL)
    minimal = dict(staged.select("risk/minimal_counts", minimal=MINIMAL))
    everything = (1 << len(names)) - 1
    bits = [1 << (len(names) - i) for i in range(1, len(names) + 1)]
    row = staged.select("risk/columns", minimal=MINIMAL, everything=everything, bits=bits)[0]
    without: dict[str, Subset] = {}
    if len(names) > 1:
        for left_out, subset in _of_size(staged, len(names) - 1, keep=False):
            without[names[len(names) - left_out.bit_length()]] = subset
    subsets = [
        Subset(s.columns, s.classes, s.k, s.singled_out, s.average_risk, minimal.get(key, 0))
        for key, s in found.items()
    ]
    subsets.sort(key=lambda s: (-(s.minimal or 0), -s.singled_out, len(s.columns), s.columns))
    return Combinations(
        reached, tuple(subsets), row[0], dict(zip(names, row[1:], strict=True)), without
    )


def _of_size(staged: Staged, columns: int, *, keep: bool) -> Iterator[tuple[int, Subset]]:
    high = len(staged.quasi) - 1
    every = (1 << len(staged.quasi)) - 1
    combined = [
        (every - sum(1 << (high - i) for i in some), [staged.q[i] for i in some])
        for some in combinations(range(len(staged.quasi)), columns)
    ]
    for start in range(0, len(combined), BATCH):
        batch = combined[start : start + BATCH]
        staged.select("risk/groups", units=UNITS, groups=GROUPS, combined=batch)
        if keep:
            staged.select("risk/singles", groups=GROUPS, singles=SINGLES, columns=columns)
        for left_out, classes, k, alone, units in staged.select("risk/subsets", groups=GROUPS):
            used = tuple(n for i, n in enumerate(staged.quasi) if not left_out >> (high - i) & 1)
            yield left_out, Subset(used, classes, k, alone, classes / units)


# Re-identification risk of a table: prosecutor, journalist and marketer (El Emam 2013).
#
# Prosecutor: the observer knows that the target is in the table. Journalist: the target is known to
# be in the population only. Marketer: the observer wants as many matches as possible. All figures
# are probabilities between 0 and 1; a unit is a person if a person column is given, else a row.


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
    return [(int(a), int(b)) for a, b in staged.select("risk/class_sizes")]


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
    other = AssessedTable(
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
        "risk/population",
        source=relation.table or relation.sql,
        relation=relation.sql,
        keys=keys,
        person=person,
        matched=MATCHED,
    )
    one: dict[str, Any] = {"in_table": "n", "members": "members"}
    context = {
        "k_map": KMap(None, 1, **one).achieved(),
        "least": PresenceAtLeast(None, 0, **one).achieved(),
        "most": PresenceAtMost(None, 1, **one).achieved(),
        "threshold": threshold,
    }
    sql = "risk/population_figures"
    return Population(*staged.select(sql, matched=MATCHED, **context)[0])


def _family(sql_type: str) -> str:
    return kind_of(sql_type) or sql_type
