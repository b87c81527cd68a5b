"""A pass over finished classes that lowers their loss, under the same guarantees.

Cuts are made one attribute after the other: a unit on the wrong side of an early cut stays there,
and nearly all classes end with exactly k rows. Two things help, each for all classes at once:

*New classes in blocks* (after k-member clustering, Byun et al. 2007). Classes that lie beside each
other in the order of the cuts are a block. In every block the unit with the rarest values starts a
class, which takes the unit that widens it least until it is large enough, and so on. A block
keeps whichever of its old and new classes lose less.

*Swaps.* Two units of near classes change places, or one moves, where that lowers the loss of both
classes together. A class takes part in one swap a round, so that every gain is exactly as computed.

Sizes and sets of values tell whether a class holds k-anonymity and distinct l-diversity. Under
other rules on values a unit changes places only with one of the same values, so that no class is
distributed otherwise than before; and where a rule compares classes with the table, these are
dealt first (`anonymizer.algorithms.deal`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from anonymizer.algorithms.deal.stages import Dealing, dealing_stages
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.partition import MEMBERS, Partitioning, Protection
from anonymizer.algorithms.partition.words import WORD_BITS
from anonymizer.algorithms.refine.boxes import FAR, boxes, possible
from anonymizer.algorithms.refine.points import points_steps
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Stage, Step

BESIDE = 8
"""Classes after each one, in every order of the classes, that are looked at for near ones."""
NEAREST = 6
"""Near classes, by what a union with them would lose, with which a class swaps units."""
TURNS = 1 << 14
"""More than the units of a block: their order decides between equal losses."""
Refine: TypeAlias = int | Literal["auto", "full"]
"""The option of the policy."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is done."""

    block: int
    """Rows of a block, in multiples of k."""
    block_rows: int
    """Rows of a block at most, unless two classes have more."""
    searches: int
    """How often near classes are looked for."""
    block_units: int
    """Units of a block beyond which it keeps its classes: each takes a round of the recursion."""
    rounds: int
    """Rounds of swaps after each search."""
    most_in_class: int
    """Units of a class beyond which it takes part in no swap: they are compared in pairs."""
    least: int
    """A search is the last if it saves less than one part in so many."""
    beside: int = BESIDE
    nearest: int = NEAREST
    most: int | None = None
    """Units in classes that lose something beyond which nothing is done; None: no bound."""
    most_swapped: int | None = None
    """Units beyond which there are no swaps."""


AUTO = Effort(
    block=6,
    block_rows=120,
    block_units=200,
    searches=1,
    rounds=1,
    most_in_class=60,
    least=1,
    beside=4,
    nearest=2,
    most=400_000,
    most_swapped=100_000,
)
"""About as long as the cuts have taken."""
AUTO_OF_SAME = replace(AUTO, rounds=4, beside=BESIDE, nearest=NEAREST)
"""Where units are exchanged for the same values only, which leaves few swaps to each class."""
AUTO_OF_DEALT = replace(AUTO_OF_SAME, rounds=2)
"""After dealing, whose classes the first rounds improve most."""
FULL = Effort(
    block=30,
    block_rows=1_500,
    block_units=2_000,
    searches=12,
    rounds=3,
    most_in_class=400,
    least=100,
    beside=32,
)
"""Until a search for near classes saves less than one percent."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A column of which every class keeps `l` different values."""

    protection: Protection

    @property
    def cells(self) -> Table:
        return self.protection.cells

    @property
    def word(self) -> Sql:
        return Sql(f"v{self.protection.index}")

    @property
    def l(self) -> Sql:  # noqa: E743
        return lit(self.protection.distinct)

    @property
    def bit(self) -> Sql:
        """The values of a unit; beyond the bits of a word two may share one, and count once."""
        return Sql(f"cast(1 as bigint) << cast(value % {WORD_BITS} as integer)")


@dataclass(frozen=True, slots=True)
class Signed:
    """A column whose values a unit exchanges for the same ones only."""

    protection: Protection

    @property
    def cells(self) -> Table:
        return self.protection.cells

    @property
    def sign(self) -> Sql:
        return Sql(f"sign{self.protection.index}")

    @property
    def counts(self) -> int:
        """More than a unit has rows."""
        return 1 << 32


def refinable(attributes: Sequence[Attribute], how: Partitioning) -> bool:
    """Whether the rules are on sizes and values, and extents fit into words."""
    return not how.judged and possible(attributes)


def counted(how: Partitioning) -> bool:
    """Whether the rules can be told from sizes and sets of values."""
    return all(p.distinct for p in how.protections)


def refine_stages(
    attributes: Sequence[Attribute],
    how: Partitioning,
    refine: Refine,
    dealing: Dealing | None = None,
    *,
    recursive: bool,
) -> tuple[Stage, ...]:
    """Stages that give the units of `members` better classes.

    By default cuts at medians stay what the paper makes of them. `dealing`: by what values are
    dealt first, where every row is a unit. `recursive`: whether classes grow in one recursive
    statement, or in one statement a unit; they are the same.
    """
    if refine == 0 or (refine == "auto" and how.split == "median"):
        return ()
    if not refinable(attributes, how):
        return ()
    effort = _effort(refine)
    if refine == "auto" and not counted(how):
        effort = AUTO_OF_SAME if dealing is None else AUTO_OF_DEALT
    context = _context(attributes, how, effort)
    regrouped: tuple[Stage, ...] = ()
    if dealing is not None:
        regrouped = dealing_stages(attributes, dealing, context, recursive=recursive)
    elif counted(how):
        regrouped = _blocks(context, effort, recursive=recursive)
    classes = Step("extents of classes", "refine/classes.sql.j2", context)
    return (
        *points_steps(attributes, context),
        classes,
        *regrouped,
        classes,
        *_searches(context, effort, classes),
        Step("final classes", "refine/members.sql.j2", context),
    )


def _searches(context: dict[str, Any], effort: Effort, classes: Step) -> tuple[Stage, ...]:
    """Swaps between near classes: once, in rounds, or in rounds after each of several searches."""
    swap = (
        Step("extents without a unit", "refine/rest.sql.j2", context),
        Step("offers to near classes", "refine/offers.sql.j2", context),
        Step("swaps", "refine/swaps.sql.j2", context),
        Step("units after swaps", "refine/swapped.sql.j2", context),
    )
    near = (
        Step("near classes", "refine/near.sql.j2", context, laborious=True),
        Step("every class to look at", "refine/every_class.sql.j2", context),
        Step("no offers yet", "refine/no_offers.sql.j2", context),
    )
    if effort.rounds == 1:
        return (*near, *swap)
    none_yet = Step("no rounds of swaps yet", "refine/no_rounds.sql.j2", context)
    rounds = Loop(
        "swap units",
        (*swap, classes, Step("rounds of swaps", "refine/rounds.sql.j2", context)),
        until=Step("swaps left", "refine/swaps_left.sql.j2", context),
        at_most=effort.rounds,
    )
    if effort.searches == 1:
        return (*near, none_yet, rounds)
    until = Step("searches left", "refine/searches_left.sql.j2", context)
    search = Loop("search near classes", (*near, none_yet, rounds), until, effort.searches)
    return (Step("searches begin", "refine/first_search.sql.j2", context), search)


def _blocks(context: dict[str, Any], effort: Effort, *, recursive: bool) -> tuple[Stage, ...]:
    grown: tuple[Stage, ...] = (
        Step("new classes in blocks", "refine/groups.sql.j2", context, laborious=True),
    )
    if not recursive:
        grown = (
            Step("units without a new class", "refine/first_grown.sql.j2", context),
            Loop(
                "new classes in blocks",
                (Step("grow classes", "refine/grow.sql.j2", context),),
                until=Step("units to grow by", "refine/grow_left.sql.j2", context),
                at_most=effort.block_units + 1,
            ),
            Step("new classes", "refine/grown.sql.j2", context),
        )
    return (
        Step("blocks of classes", "refine/blocks.sql.j2", context),
        *grown,
        Step("classes for units left over", "refine/homes.sql.j2", context),
        Step("better classes of blocks", "refine/better.sql.j2", context),
    )


def _effort(refine: Refine) -> Effort:
    if refine == "full":
        return FULL
    if refine == "auto":
        return AUTO
    few = replace(AUTO, most=None, most_swapped=None, most_in_class=FULL.most_in_class)
    return replace(few, rounds=refine, beside=BESIDE, nearest=NEAREST)


def _context(attributes: Sequence[Attribute], how: Partitioning, effort: Effort) -> dict[str, Any]:
    made = boxes(attributes)
    kept = [Kept(p) for p in how.protections] if counted(how) else []
    signs = [] if counted(how) else [Signed(p) for p in how.protections]
    return {
        "members": MEMBERS,
        "units": UNITS,
        "points": work("refine_points"),
        "classes": work("refine_classes"),
        "blocks": work("refine_blocks"),
        "groups": work("refine_groups"),
        "grown": work("refine_grown"),
        "homes": work("refine_homes"),
        "rest": work("refine_rest"),
        "near": work("refine_near"),
        "offers": work("refine_offers"),
        "swaps": work("refine_swaps"),
        "rounds": work("refine_rounds"),
        "columns": made.columns,
        "loss": made.loss,
        "sets": made.addition.sets,
        "unions": made.addition.unions,
        "steps": made.addition.steps,
        "added": made.addition.added,
        "orders": made.orders,
        "kept": kept,
        "signs": signs,
        "cells": [p.cells for p in how.protections],
        "k": how.k,
        "block": min(effort.block * how.k, max(effort.block_rows, 2 * how.k)),
        "block_units": effort.block_units,
        "turns": TURNS,
        "far": FAR * len(attributes),
        "beside": effort.beside,
        "nearest": effort.nearest,
        "most_rounds": effort.rounds,
        "most_in_class": effort.most_in_class,
        "least": effort.least if effort.searches > 1 else None,
        "most": effort.most,
        "most_swapped": effort.most_swapped,
    }
