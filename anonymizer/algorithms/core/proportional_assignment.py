"""Assign units to classes in which every sensitive value has about its share of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.loss import shape
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.guarantees.closeness import TCloseness, TOrdered
from anonymizer.guarantees.frequency import Alpha, BetaLikeness
from anonymizer.guarantees.rule import Rule, all_hold, merge_layers
from anonymizer.source.profile import Attribute, Sensitive
from anonymizer.steps import Loop, Stage, Step

# Limits on the shares of a sensitive column's values that follow from its rules.
#
# A class holds t-closeness by equal distance if the surplus of its values over their shares is at
# most t: sum of max(0, p_s - q_s) <= t. No hierarchical distance is greater. Under an ordered
# distance, consecutive values are grouped, which is a good enough approximation to try.
# Beta-likeness and alpha limit the share of single values.


PARTS = 2
"""Under an ordered distance, values are grouped into about PARTS / t parts."""
MOST_PARTS = 1_000
"""Values, or groups of them, beyond which no units are dealt."""


@dataclass(frozen=True, slots=True)
class ClassRules:
    """The rules of one column over classes, to be judged by the rules' own statements."""

    cells: Table
    reference: Table
    dense: bool
    """True if every class has a row for every value."""
    layers: tuple[tuple[tuple[str, Sql], ...], ...]
    holds: Sql


@dataclass(frozen=True, slots=True)
class Shares:
    """Limits by the rules of a column on the shares of its values in a class."""

    cells: Table
    reference: Table
    t: float
    """Largest surplus of a class, as a share of its rows."""
    parts: int | None
    """Number of parts of the ordered values; None: every value is a part."""
    most: Sql
    """The largest share of a value in a class, over `q`, `total` and `q_known`."""


def class_rules(column: Sensitive, rules: Sequence[Rule]) -> ClassRules:
    """The rules as a statement over classes, which are `block` and `grp`."""
    layers = merge_layers(rules, Sql("block, grp"))
    dense = any(rule.dense for rule in rules)
    return ClassRules(column.cells, column.reference, dense, layers, all_hold(rules))


def shares(column: Sensitive, rules: Sequence[Rule]) -> Shares | None:
    """The limits of a column; None if its rules give no limits by which units can be dealt."""
    if not any(rule.relative for rule in rules):
        return None
    if any(rule.dense and not isinstance(rule, TCloseness) for rule in rules):
        # a class that needs every value has to be as large as the rarest one requires
        return None
    close = [rule for rule in rules if isinstance(rule, TCloseness)]
    t = min((rule.t for rule in close), default=1.0)
    ordered = any(isinstance(rule, TOrdered) for rule in close)
    limits = [] if ordered else [limit for rule in rules for limit in _limits(rule)]
    return Shares(
        cells=column.cells,
        reference=column.reference,
        t=t,
        # (t may be 0, and no group of values is as close as that)
        parts=round(PARTS / t) + 1 if ordered and t * MOST_PARTS > PARTS else None,
        most=Sql(f"least({', '.join([*limits, '1.0'])})") if limits else Sql("1.0"),
    )


def _limits(rule: Rule) -> list[str]:
    share = "cast(q as double) / q_size"
    match rule:
        case BetaLikeness():
            return [f"{share} * (1 + {lit(float(rule.beta))})"]
        case Alpha(only=None):
            return [f"{lit(float(rule.alpha))}"]
        case _:
            return []


# The stages that deal units to classes, for rules that compare a class with the whole table.
#
# Cuts along attributes seldom find small classes whose values are distributed like those of the
# table, though such classes exist. Here units with rare values start classes, several in every
# block at the same time. A class takes the units that add least to its loss among those whose
# sensitive value it may still take. The dealt classes replace those of the cuts if they satisfy
# every rule and lose less.
#
# After SABRE (Cao, Karras, Kalnis, Tan, VLDB J. 2011) and Soria-Comas, Domingo-Ferrer, Sánchez,
# Martínez, "t-closeness through microaggregation" (IEEE TKDE 2015); classes grow as in k-member
# clustering (Byun et al. 2007).


GROUPS = work("deal_groups")

ROUNDING = 0.46
"""Average surplus of rows of a value whose share is not a whole number, with some slack."""
SPARE = 1.25
"""Smallest sum of the limits on all values' rows, relative to the size of a class: the slack."""
TOLERANCE = 1e-6
"""Tolerance on the strict side, since limits are doubles; the rules judge the result exactly."""
GROWTH = 1.06
LARGEST = 4_096
"""Class sizes to try: from k up to this, in steps of 6 percent."""
SLOTS = 8
"""Number of classes of a block that grow at the same time."""
AT_ONCE = 4
"""Number of leftover units that may join one class in one round."""
BIN_BITS = 24
"""Bits for the number of a value."""
PATIENCE = 0.5
"""A unit may join a class that costs more than the best by up to so many times the best, which grow
with every round."""
UNITS_AT_MOST = 1 << 20
"""More than the units and classes, whose numbers break ties between equal costs."""
ROUNDS = 40
"""Rounds of joining; the units left after that form their own classes."""
FEW_VALUES = 20
"""An attribute with fewer values cannot separate blocks."""


@dataclass(frozen=True, slots=True)
class Dealing:
    """The limits by which units are dealt, and the size of the blocks."""

    shares: Shares
    rules: tuple[ClassRules, ...]
    """The rules of all sensitive columns."""
    block_units: int
    """Number of units per block; near units are only sought within the block."""


def dealing_stages(
    attributes: Sequence[Attribute], how: Dealing, context: dict[str, Any], *, recursive: bool
) -> tuple[Stage, ...]:
    """Stages that deal the units of the last pass (`points`) to new classes.

    `context`: the parameters of the last pass. The number of statements is independent of the rows.
    """
    context = {**context, **_context(attributes, how, int(context["k"]))}
    grown: tuple[Stage, ...] = (Step("deal classes", "deal/groups", context, laborious=True),)
    if not recursive:
        grown = (
            Step("units to deal", "deal/first_grown", context),
            Loop(
                "deal classes",
                (Step("deal units", "deal/grow", context),),
                until=Step("units left to deal", "deal/grow_left", context),
                at_most=how.block_units + 1,
            ),
            Step("classes dealt", "deal/grown", context),
        )
    return (
        Step("shares of values", "deal/shares", context),
        Step("size of classes", "deal/size", context),
        Step("blocks with the table's shares", "deal/blocks", context),
        *grown,
        Step("units left over", "deal/homes", context),
        Loop(
            "settle units left over",
            (Step("settle units", "deal/settle", context),),
            until=Step("units to settle", "deal/unsettled", context),
            at_most=ROUNDS,
            asked_first=True,
        ),
        Step("classes of what is left", "deal/joined", context),
        Step("better classes by dealing", "deal/better", context),
    )


def _context(attributes: Sequence[Attribute], how: Dealing, k: int) -> dict[str, Any]:
    return {
        "shares": work("deal_shares"),
        "class_size": work("deal_size"),
        "blocks": work("deal_blocks"),
        "groups": GROUPS,
        "grown": work("deal_grown"),
        "homes": work("deal_homes"),
        "reference": how.shares.reference,
        "cells": how.shares.cells,
        "judged": how.rules,
        "references": [one.reference for one in how.rules],
        "judged_cells": [one.cells for one in how.rules],
        "parts": how.shares.parts,
        "most": how.shares.most,
        "t": float(how.shares.t),
        "rounding": ROUNDING,
        "spare": SPARE,
        "tolerance": TOLERANCE,
        "goals": _goals(k),
        "block_units": how.block_units,
        "order": _order(attributes),
        "most_bins": MOST_PARTS,
        "slots": SLOTS,
        "at_once": AT_ONCE,
        "rounds": ROUNDS,
        "bin_bits": BIN_BITS,
        "patience": PATIENCE,
        "units_at_most": UNITS_AT_MOST,
    }


def _goals(k: int) -> tuple[int, ...]:
    goals = [max(k, 2)]
    while goals[-1] < LARGEST:
        goals.append(max(goals[-1] + 1, round(goals[-1] * GROWTH)))
    return tuple(goals)


def _order(attributes: Sequence[Attribute]) -> Sql | None:
    """The extent column that separates units best: that of the range with the most values."""
    ranges = [a for a in attributes if shape(a) == "range" and a.distinct >= FEW_VALUES]
    best = max(ranges, key=lambda a: (a.distinct, -a.index), default=None)
    return Sql(f"l{best.index}") if best is not None else None
