"""Partition units into classes top-down: one recursive statement, or a driven loop."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.core.loss import (
    cell_loss_sql,
    fold,
    gain_sql,
    merit_sql,
    plain_merit_sql,
    shape,
    single_gain_sql,
)
from anonymizer.algorithms.core.person_rules import SETS, Judging, PersonRules, searching
from anonymizer.algorithms.core.population import (
    COMPARED,
    PopulationRules,
    compare_step,
    first_within,
    narrow_steps,
)
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.guarantees.screening import has_hitting_set
from anonymizer.source.profile import Attribute, Level
from anonymizer.steps import Compute, Loop, Row, Stage, Step

# Chooses cuts under rules on persons, which cannot be judged by running sums.
#
# At each level the admissible cuts of a class are tried in order, the best first: both halves of
# the best are judged, then those of the next few if it failed, and so on. Most classes need one or
# two tries. If adding persons cannot break a rule, a half that fails rules out all cuts with a half
# that is contained in it.


OFFERED = work("offered_cuts")

BATCHES = ((1, 0), (4, 5_000), (16, 50_000))
"""The cuts of a class in the first three batches: up to a rank, or as many as have no more
than a number of persons. One more batch has the rest."""


def choice_under_rules(
    rules: PersonRules, population: PopulationRules | None, context: Mapping[str, Any]
) -> tuple[Step | Loop, ...]:
    """Steps that write the chosen cut of every class that has one, under all rules."""
    # a cut is admissible only if both halves have enough persons
    judging = Judging(rules, "halves", large=True)
    searched = judging.search_results if rules.hitting else None
    shared = {
        **context,
        "offered": OFFERED,
        "batches": BATCHES,
        "compared": COMPARED if population is not None else None,
        "asked": judging.groups,
        "monotone": rules.monotone,
        "verdicts": judging.verdicts,
        "searched": searched,
        "sets": SETS,
    }
    tries: list[Step | Compute] = [
        Step("halves of cuts", "mondrian/halves", shared),
        judging.counts(),
    ]
    if population is not None:
        tries.append(compare_step(population, shared))
    if rules.hitting:
        tries.append(_search(judging, rules.hitting, shared))
    tries.append(Step("settle cuts", "mondrian/settle_cuts", shared))
    return (
        Step("offer cuts", "mondrian/offer_cuts", shared),
        Loop(
            "try cuts",
            tuple(tries),
            until=Step("cuts to try", "mondrian/to_try", shared),
            at_most=len(BATCHES) + 1,
        ),
        Step("chosen cuts", "mondrian/chosen_cuts", shared),
    )


def _search(judging: Judging, l: int, context: Mapping[str, Any]) -> Compute:
    def search(rows: list[Row]) -> list[Row]:
        """An exact search whether fewer than l values hit everybody in a half."""
        return list(_search_halves(rows, l))

    step = Step("undecided halves", "mondrian/undecided_halves", context)
    compared = (COMPARED,) if context["compared"] is not None else ()
    tables = (OFFERED, judging.groups, judging.verdicts, *compared, SETS)
    return Compute(
        step,
        search,
        judging.search_results,
        (("grp", "BIGINT"), ("holds", "BOOLEAN")),
        in_sql=searching(step, tables, "mondrian/search_halves", judging.search_results, l),
    )


def _search_halves(rows: list[Row], l: int) -> Iterable[Row]:
    """Search halves until the first cut of their class holds, and return them with the results.

    `rows`: class, offer, group, column and the value sets, in the order of the offers.
    """
    for _, cuts in groupby(rows, lambda row: row[0]):
        for _, halves in groupby(cuts, lambda row: row[1]):
            # the smaller half is more likely to be refused
            tests = sorted(halves, key=lambda row: len(row[4]))
            refused = next((t[2] for t in tests if has_hitting_set(t[4], l - 1)), None)
            if refused is None:
                yield from ((group, True) for group in {test[2] for test in tests})
                break
            yield (refused, False)


# The stages that partition units into classes: one recursive statement, or a driven loop.


MEMBERS = work("members")
OPEN = work("open_units")
CHOSEN = work("chosen_cuts")
POSITIONS = work("positions")

AT_ONCE = 500_000
"""Most open units that one recursive statement partitions; while there are more,
every level is a separate statement, which spills and parallelizes better."""
BITS = 63
"""Bits of a number that stays positive."""
MANY_VALUES = 256
"""Number of values of an attribute in a class above which rules do not judge every cut, which would
take cuts × sensitive values steps."""
STRETCHES = 128
"""Number of equal parts of the rows of such a class; the best cut in each is judged."""
FEWER_STRETCHES = 32
"""The same for rules that read whole histograms, which cost most."""

JUDGED_FIRST = 3
"""Number of best cuts of an attribute that are judged before the others, if need be."""

ONE_CLASS = Sql("1")


@dataclass(frozen=True, slots=True)
class Protection:
    """The rules of one sensitive column, as the template of the cuts needs them."""

    index: int
    cells: Table
    reference: Table
    dense: bool
    runs: bool
    """True if sums over values are computed per run between the values that a group has."""
    layers: tuple[tuple[tuple[str, Sql], ...], ...]
    holds: Sql
    distinct: int = 0
    """Least number of different values, if that is the only rule; else 0."""


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The parameters of a partitioning, except the units."""

    k: int
    split: Literal["loss", "median"]
    strict: bool
    protections: tuple[Protection, ...] = ()
    plain: bool = False
    """True if cuts are ranked by their gain alone, which suits large parts."""
    compare: int = 4
    """Number of best cuts of a class, of different attributes, to compare over all attributes
    (only for cuts by loss, and not if rules on persons judge halves one by one)."""
    persons: PersonRules | None = None
    """Rules on persons that both halves of a cut have to satisfy."""
    population: PopulationRules | None = None
    """Models that compare both halves of a cut with a population."""
    separator: Sql | None = None
    """Column of units whose values no class may mix; units are numbered in its order."""

    @property
    def first_class(self) -> Sql:
        """Class of a unit before the first cut: the lowest number among the units it may join."""
        return (
            ONE_CLASS
            if self.separator is None
            else Sql(f"min(unit) over (partition by {self.separator})")
        )

    @property
    def needs_judging(self) -> bool:
        """True if some rules on the halves of a cut cannot be judged by running sums."""
        return self.population is not None or bool(self.persons and self.persons.rules)


def levels_of_loss(rows: int, k: int) -> int:
    """Levels after which classes are cut in the middle, which bounds cuts of single values."""
    return 2 * math.ceil(math.log2(max(rows / k, 2))) + 8


def partition_stages(
    attributes: Sequence[Attribute],
    how: Partitioning,
    rows: int,
    *,
    recursive: bool = True,
) -> tuple[Stage, ...]:
    """Stages that write `members` (unit, class_id) from `units`.

    `recursive`: whether few open units are cut up in one recursive statement.
    """
    context = context_of(attributes, how, rows)
    stages: list[Stage] = [Step("places in the domains", "mondrian/positions", context)]
    at_once = recursive and not how.needs_judging
    if at_once and rows <= AT_ONCE:
        stages.append(Step("partition", "mondrian/partition", context))
        return tuple(stages)
    until = "many_open" if at_once else "open_classes"
    stages += [
        Step("first classes", "mondrian/open", context),
        Step("no final classes yet", "mondrian/members", context),
        *_population_steps(how),
        Loop(
            "partition",
            (
                *choice(how, context),
                Step("close classes", "mondrian/close_classes", context),
                Step("apply cuts", "mondrian/apply_cuts", context),
                *_narrowing_steps(how, context),
            ),
            until=Step("open classes", f"mondrian/{until}", context),
            at_most=rows,
            asked_first=at_once,
        ),
    ]
    if at_once:
        stages.append(Step("cut up the rest", "mondrian/cut_up", context))
    return tuple(stages)


def choice(how: Partitioning, context: Mapping[str, Any]) -> tuple[Step | Loop, ...]:
    """Steps that write the chosen cut of every open class that has one."""
    if how.persons is not None and how.needs_judging:
        return choice_under_rules(how.persons, how.population, context)
    return (Step("choose cuts", "mondrian/choose_cuts", context),)


def _population_steps(how: Partitioning) -> Sequence[Step]:
    if how.population is None:
        return ()
    return (first_within(how.population, how.first_class),)


def _narrowing_steps(how: Partitioning, context: Mapping[str, Any]) -> Sequence[Step]:
    if how.population is None:
        return ()
    return narrow_steps(how.population, context)


def _node(attribute: Attribute) -> bool:
    return shape(attribute) == "node"


def context_of(attributes: Sequence[Attribute], how: Partitioning, rows: int) -> Mapping[str, Any]:
    """The parameters of the templates of cuts."""
    levels = tuple(
        Level(j) for j in range(1, max((a.height for a in attributes if _node(a)), default=0) + 1)
    )
    k = lit(how.k)
    by_loss = how.split == "loss"
    compare = how.compare if by_loss and not how.needs_judging else 1
    words = fold([a for a in attributes if compare > 1 and shape(a) == "set"])
    # the extents of both halves are known when they are compared, so attributes with one value are
    # left out of the histograms below
    narrowed = compare > 1 and max(a.index for a in attributes) < BITS
    several_bits = {a.index: lit(1 << a.index) for a in attributes} if narrowed else {}
    mixed = [a.index for a in attributes if shape(a) == "range" and (a.nulls or a.flagged)]
    singles = [a.index for a in attributes if how.strict and by_loss and shape(a) != "range"]
    if how.strict:
        admissible = f"n_left >= {k} and n_all - n_left >= {k}"
        if how.split == "median":
            admissible += " and 2 * n_left >= n_all and 2 * (n_left - n) < n_all"
        before_last = " and code < last_code"
    else:
        # the lower half, rounded up, goes left; rows equal to the median go to either side
        admissible = f"floor(n_all / 2) >= {k} and 2 * n_left >= n_all and 2 * (n_left - n) < n_all"
        before_last = ""
    large = any(a.distinct > MANY_VALUES for a in attributes)
    counting = all(p.distinct for p in how.protections)
    return {
        "attributes": tuple(attributes),
        "levels": tuple(levels),
        "level_of": level_column,
        "domains": [a.domain for a in attributes],
        "positions": POSITIONS,
        "units": UNITS,
        "open": OPEN,
        "at_once": AT_ONCE,
        "chosen": CHOSEN,
        "members": MEMBERS,
        "cells": [p.cells for p in how.protections],
        "references": [p.reference for p in how.protections],
        "protections": how.protections,
        "first_class": how.first_class,
        "k": how.k,
        "split": how.split,
        "relaxed": not how.strict,
        # cuts by loss, and cuts that rules judge, do not stop at the widest attribute
        "in_the_middle": not by_loss
        and how.strict
        and not how.protections
        and not how.needs_judging,
        "admissible": Sql(admissible + before_last),
        "gain": gain_sql(attributes, levels) if how.split == "loss" else Sql("0"),
        # refused cuts also leave large halves, so thin slices have no advantage
        "merit": (plain_merit_sql if how.plain or how.needs_judging else merit_sql)(attributes),
        "singles": singles,
        "mixed": mixed,
        "thinned": bool(how.protections) and by_loss and how.strict and large,
        "many_values": MANY_VALUES,
        "judged_first": 0 if counting or not how.strict else JUDGED_FIRST,
        "stretches": STRETCHES if counting else FEWER_STRETCHES,
        "single_gain": single_gain_sql(attributes, levels),
        "cell_loss": cell_loss_sql(attributes, levels),
        "shape": shape,
        "words": words.columns,
        "sizes": words.sizes,
        "folded": words.folded,
        "compare": compare,
        "several_bits": several_bits,
        "loss_levels": levels_of_loss(rows, how.k),
        "state": Sql("partition"),
        "state_cuts": Sql("cuts"),
    }


def level_column(attribute: Attribute, level: Level, which: Literal["a", "z"]) -> Sql:
    """Column of the ancestor or share at a level; levels above the root count as the root."""
    if not _node(attribute):
        return Sql("0")
    own = Level(min(level.number, attribute.height))
    return own.a if which == "a" else own.z
