"""Destroy and repair of finished classes: divisions of near ones, deaths and births.

Two classes that hold near units are divided anew: of all ways to give each up to two of the other's
units, the best; all pairs at once, of which disjoint ones are taken by gain. Classes whose units
cost less in others are given up, and new ones are made of near units that their classes can spare.
A class takes part in one change of a round, so that every gain is exactly as computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from anonymizer.algorithms.core.loss import shape
from anonymizer.compile import Sql, work
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Step

DROPPED = 4
"""Attributes of most categories that are left out of an order of units, one or two at a time."""
UNIT_STEPS = 3
"""Units after each one in every order."""
MOST_DOOMED = 12
"""Units of a class that may be given up."""
ITEMS = 5
"""Items of a class in a division: single units, and all others together."""
MOVED = 2
"""Items that leave a class in a division, at most."""
RATIO = 185
"""Of pairs whose union loses more than so many hundredths of what both lose, hardly one gains."""
SPREAD, OVER = 7919, 1_000_003
"""Units of a class go by their number times the one, modulo the other; the last are one item."""


@dataclass(frozen=True, slots=True)
class Divisions:
    """Bounds on the divisions after each search."""

    rounds: int
    """Rounds in which pairs of near classes are divided anew."""
    arms: int
    """Orders of units, after which near ones follow each other."""
    near_to_unit: int
    """Near units of each one, at least."""
    most: int | None = None
    """Units beyond which there are none; None: no bound."""


NONE = Divisions(0, 0, 0)
"""No class is divided."""


@dataclass(frozen=True, slots=True)
class Arm:
    """An order of units: those that agree in some attributes, by another one."""

    alike: tuple[Sql, ...]
    by: Sql


def repair_context(attributes: Sequence[Attribute], effort: Divisions) -> dict[str, Any]:
    """The parameters of the templates beside those of refinement."""
    return {
        "items": work("refine_items"),
        "item_sets": work("refine_item_sets"),
        "births": work("refine_births"),
        "near_units": work("refine_near_units"),
        "codes": [a.c for a in attributes],
        "arms": list(_arms(attributes))[: effort.arms],
        "unit_steps": UNIT_STEPS,
        "near_to_unit": effort.near_to_unit,
        "most_divided": effort.most,
        "most_doomed": MOST_DOOMED,
        "most_items": ITEMS,
        "sets_of_items": 1 << ITEMS,
        "most_moved": MOVED,
        "ratio": RATIO,
        "spread": SPREAD,
        "spread_over": OVER,
    }


def _arms(attributes: Sequence[Attribute]) -> Iterator[Arm]:
    """Orders in which near units follow each other: all but one or two attributes of categories are
    equal.
    """
    ranges = [a for a in attributes if shape(a) == "range"]
    others = sorted(
        (a for a in attributes if shape(a) != "range"), key=lambda a: (-a.distinct, a.index)
    )
    by = ranges[0] if ranges else others[0]
    named = [a for a in others if a is not by]
    left_out: list[tuple[Attribute, ...]] = [(a,) for a in named[:DROPPED]]
    left_out += [pair for n in range(1, DROPPED) for pair in combinations(named[: n + 1], 2)]
    for some in [(), *dict.fromkeys(left_out)]:
        for one in [by, *ranges[1:2]]:
            yield Arm(tuple(a.c for a in named if a not in some), one.c)


def repair_stages(
    context: Mapping[str, Any], most: int, classes: Step, no_offers: Sequence[Step]
) -> tuple[Step | Loop, ...]:
    """Deaths and births, and then divisions. Where classes keep values, each spares one unit for a
    new one, if another of its units has the same values.
    """
    moved = (Step("units after births and deaths", "repair/moved", context), classes)
    return (
        Step("deaths", "repair/deaths", context, laborious=True),
        *moved,
        Step("births", "repair/births", context, laborious=True),
        *moved,
        *division_stages(context, most, classes, no_offers),
    )


def division_stages(
    context: Mapping[str, Any], most: int, classes: Step, no_offers: Sequence[Step]
) -> tuple[Step | Loop, ...]:
    """Rounds in which disjoint pairs of near classes are divided anew, until the rounds of all
    kinds are `most`.
    """
    context = {**context, "most_rounds": most}
    divisions = Loop(
        "divide near classes anew",
        (
            Step("items of near classes", "repair/items", context),
            Step("sets of items", "repair/item_sets", context),
            Step("divisions of near classes", "repair/divisions", context, laborious=True),
            Step("divisions", "refine/swaps", context),
            Step("units after divisions", "repair/divided", context),
            classes,
            Step("rounds of divisions", "refine/rounds", context),
        ),
        until=Step("divisions left", "refine/swaps_left", context),
        at_most=most,
    )
    near = Step("classes of near units", "repair/near_by_units", context)
    return (near, *no_offers, divisions)
