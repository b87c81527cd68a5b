"""The stages that partition units into classes: one recursive statement, or a driven loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.loss import (
    cell_loss_sql,
    gain_sql,
    merit_sql,
    plain_merit_sql,
    shape,
    single_gain_sql,
)
from anonymizer.algorithms.partition.words import fold
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.source.profile import Attribute, Level
from anonymizer.steps import Loop, Stage, Step

if TYPE_CHECKING:
    from anonymizer.algorithms.persons.rules import PersonRules
    from anonymizer.algorithms.population import PopulationRules

MEMBERS = work("members")
OPEN = work("open_units")
CHOSEN = work("chosen_cuts")
POSITIONS = work("positions")

AT_ONCE = 500_000
"""Most open units that one recursive statement partitions with `loop: auto`; while there are more,
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
    """Whether sums over values are computed per run between the values that a group has."""
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
    """Whether cuts are ranked by their gain alone, which suits large parts."""
    compare: int = 4
    """Number of best cuts of a class, of different attributes, to compare over all attributes
    (only for cuts by loss, and not if rules on persons judge halves one by one)."""
    persons: PersonRules | None = None
    """Rules on persons that both halves of a cut have to satisfy."""
    population: PopulationRules | None = None
    """Models that compare both halves of a cut with a population."""
    apart: Sql | None = None
    """Column of units whose values no class may mix; units are numbered in its order."""

    @property
    def first_class(self) -> Sql:
        """Class of a unit before the first cut: the lowest number among the units it may join."""
        return (
            ONE_CLASS if self.apart is None else Sql(f"min(unit) over (partition by {self.apart})")
        )

    @property
    def judged(self) -> bool:
        """Whether some rules on the halves of a cut cannot be judged by running sums."""
        return self.population is not None or bool(self.persons and self.persons.rules)


def levels_of_loss(rows: int, k: int) -> int:
    """Levels after which classes are cut in the middle, which bounds cuts of single values."""
    return 2 * math.ceil(math.log2(max(rows / k, 2))) + 8


def partition_stages(
    attributes: Sequence[Attribute],
    how: Partitioning,
    rows: int,
    loop: Literal["auto", "recursive", "driven"] = "auto",
) -> tuple[Stage, ...]:
    """Stages that write `members` (unit, class_id) from `units`."""
    context = context_of(attributes, how, rows)
    stages: list[Stage] = [Step("places in the domains", "mondrian/positions.sql.j2", context)]
    if not how.judged and (loop == "recursive" or (loop == "auto" and rows <= AT_ONCE)):
        stages.append(Step("partition", "mondrian/partition.sql.j2", context))
        return tuple(stages)
    at_once = not how.judged and loop == "auto"
    until = "many_open" if at_once else "open_classes"
    stages += [
        Step("first classes", "mondrian/open.sql.j2", context),
        Step("no final classes yet", "mondrian/members.sql.j2", context),
        *_matched(how),
        Loop(
            "partition",
            (
                *choice(how, context),
                Step("close classes", "mondrian/close_classes.sql.j2", context),
                Step("apply cuts", "mondrian/apply_cuts.sql.j2", context),
                *_narrowed(how, context),
            ),
            until=Step("open classes", f"mondrian/{until}.sql.j2", context),
            at_most=rows,
            asked_first=at_once,
        ),
    ]
    if at_once:
        stages.append(Step("cut up the rest", "mondrian/cut_up.sql.j2", context))
    return tuple(stages)


def choice(how: Partitioning, context: Mapping[str, Any]) -> tuple[Step | Loop, ...]:
    """Steps that write the chosen cut of every open class that has one."""
    if how.persons is not None and how.judged:
        from anonymizer.algorithms.partition.judged import judged_choice

        return judged_choice(how.persons, how.population, context)
    return (Step("choose cuts", "mondrian/choose_cuts.sql.j2", context),)


def _matched(how: Partitioning) -> Sequence[Step]:
    if how.population is None:
        return ()
    from anonymizer.algorithms.population import first_within

    return (first_within(how.population, how.first_class),)


def _narrowed(how: Partitioning, context: Mapping[str, Any]) -> Sequence[Step]:
    if how.population is None:
        return ()
    from anonymizer.algorithms.population import narrow_steps

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
    compare = how.compare if by_loss and not how.judged else 1
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
        "in_the_middle": not by_loss and how.strict and not how.protections and not how.judged,
        "admissible": Sql(admissible + before_last),
        "gain": gain_sql(attributes, levels) if how.split == "loss" else Sql("0"),
        # refused cuts also leave large halves, so thin slices have no advantage
        "merit": (plain_merit_sql if how.plain or how.judged else merit_sql)(attributes),
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
