"""Lower the loss of finished classes: new classes in blocks, then swaps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

from anonymizer.algorithms.core.encode import UNITS, in_parts
from anonymizer.algorithms.core.loss import WORD_BITS, Packed, fits, pack, shape, shows_all
from anonymizer.algorithms.core.partition import MEMBERS, Partitioning, Protection
from anonymizer.algorithms.core.proportional_assignment import Dealing, dealing_stages
from anonymizer.algorithms.core.repair import (
    ITEMS,
    NONE,
    Divisions,
    division_stages,
    repair_context,
    repair_stages,
)
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Stage, Step

# The extent of a set of units as columns, so that a union and its loss are plain expressions.
#
# Per quasi-identifier: the ends of a range, the values of a set as bits of words, or the lowest and
# the highest path in a tree. All are integers: `SCALE`, times the attribute's weight, stands for
# the loss of one cell that is suppressed, so that sums are exact and do not depend on the order of
# addition. Weights add up to the number of attributes: a row loses no more than without them.


SCALE = 10_000_000
FAR = 4 * SCALE
"""Beyond every place in a domain: the ends of an extent that has no value."""
PATH_BITS = 62

Way = Literal["least", "greatest", "bits", "kept"]
AGGREGATES = {"least": "min", "greatest": "max", "bits": "bit_or", "kept": "min"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column of an extent."""

    name: str
    way: Way
    """Makes the column of a union from those of its parts; `kept`: from the first."""
    of_unit: str
    """Its value for a unit, over the unit `u` and the domain `d<i>` of its attribute."""
    far: int = FAR
    """Beyond all its values, on either side."""

    @property
    def sql(self) -> Sql:
        return Sql(self.name)

    @property
    def unit(self) -> Sql:
        return Sql(self.of_unit)

    @property
    def aggregate(self) -> Sql:
        """Over the units of a class."""
        return self.over("")

    def over(self, prefix: str) -> Sql:
        """Over several units, whose columns have this prefix."""
        return Sql(f"{AGGREGATES[self.way]}({prefix}{self.name})")

    def of_rows(self, values: str) -> Sql:
        """Over an expression, which is NULL for rows that are not meant."""
        return Sql(f"{AGGREGATES[self.way]}({values})")

    def of_items(self, most: int) -> Sql:
        """Over those items of a class whose bits are in a set, from their columns in `w`."""
        bits = [(f"w.{self.name}_{i}", f"((s.part >> {i - 1}) & 1)") for i in range(1, most + 1)]
        if self.way == "bits":
            return Sql(" | ".join(f"({value} & -{bit})" for value, bit in bits))
        each = ", ".join(f"case when {bit} = 1 then {v} else {self.absent} end" for v, bit in bits)
        return Sql(f"{'greatest' if self.way == 'greatest' else 'least'}({each})")

    @property
    def absent(self) -> Sql:
        """Of an item that a class does not have: it changes no extent that it is added to."""
        return Sql(str(1 << PATH_BITS)) if self.way == "kept" else self.empty

    @property
    def empty(self) -> Sql:
        """Of no units at all."""
        return Sql({"least": str(self.far), "greatest": str(-self.far)}.get(self.way, "0"))

    def joined(self, one: str, other: str) -> Sql:
        """Of the union of two extents, given as prefixes of their columns."""
        a, b = f"{one}{self.name}", f"{other}{self.name}"
        match self.way:
            case "kept":
                return Sql(a)
            case "bits":
                return Sql(f"({a} | {b})")
            case _:
                return Sql(f"{self.way}({a}, {b})")


@dataclass(frozen=True, slots=True)
class Domain:
    """Values that are looked up for the codes of one attribute."""

    attribute: Attribute
    lookups: tuple[tuple[Sql, Sql], ...]
    """Name and expression over the columns of the domain."""
    rarity: Sql
    """The rarity of the value: rare ones are hard to place, and placed first."""

    @property
    def table(self) -> Table:
        return self.attribute.domain

    @property
    def d(self) -> Sql:
        return self.attribute.d

    @property
    def c(self) -> Sql:
        return self.attribute.c


@dataclass(frozen=True, slots=True)
class Addition:
    """The growth of a class's loss by a row, up to a constant of the class: cheaper than a loss.

    A row has one value of each attribute. Whether its bit is new to the class tells what a set
    gains; for all other attributes this is the loss of the union.
    """

    sets: tuple[Column, ...]
    """The words of the row that are needed."""
    unions: tuple[Column, ...]
    """The columns of the union that are needed, with the prefix j."""
    steps: tuple[tuple[Sql, Sql], ...]
    """Columns of the class: names, and expressions over the class `g`."""
    gain: Sql
    """The gain in `SCALE`, over these columns."""


@dataclass(frozen=True, slots=True)
class Boxes:
    """The columns of all attributes, and the loss of a row over all of them."""

    columns: tuple[Column, ...]
    domains: tuple[Domain, ...]
    loss_of: Callable[[str], str]
    addition: Addition

    def loss(self, prefix: str = "") -> Sql:
        """The loss of one row of an extent, in `SCALE`, from columns with this prefix."""
        return Sql(self.loss_of(prefix))

    @property
    def orders(self) -> tuple[Sql, ...]:
        """Columns by which classes are ordered, so that near ones are found beside each other."""
        bits = [column for column in self.columns if column.way == "bits"]
        ends = [column for column in self.columns if column.way == "least"]
        return tuple(column.sql for column in (*bits, *ends))[:2]


def possible(attributes: Sequence[Attribute]) -> bool:
    """Return whether the extents of all attributes fit into words."""
    return all(
        a.ordered or (((a.height + 1) * code_bits(a)) <= PATH_BITS if a.height else fits(a))
        for a in attributes
    )


def boxes(attributes: Sequence[Attribute]) -> Boxes:
    """The extents of units in these attributes."""
    packed = pack([a for a in attributes if shape(a) == "set"])
    words = [Column(str(name), "bits", str(value)) for name, value in packed.columns]
    others: list[Column] = []
    for a in attributes:
        match shape(a):
            case "range":
                others += _range(a)
            case "node":
                others += _node(a)

    return Boxes(
        (*words, *others),
        tuple(_domain(a) for a in attributes),
        partial(_loss, attributes, packed),
        _addition(attributes, packed, words, others),
    )


def _addition(
    attributes: Sequence[Attribute], packed: Packed, words: list[Column], others: list[Column]
) -> Addition:
    steps = [(f"free_{word.name}", f"{(1 << WORD_BITS) - 1} - g.{word.name}") for word in words]
    gains = []
    for a in attributes:
        if shape(a) == "set":
            one, two = _of_value(a), 2 * _of_value(a)
            if shows_all(a):
                one, two = 0, a.scaled_loss(SCALE)
            second = f"case when {packed.count_of(a.index, 'g.')} = 1 then {two} else {one} end"
            steps.append((f"step{a.index}", f"cast({second} as double)"))
            new = (f"bit_count({w} & free_{w} & {mask})" for w, mask in packed.bits[a.index])
            gains.append(f"({' + '.join(new)}) * step{a.index}")
    named = tuple((Sql(name), Sql(text)) for name, text in steps)
    added = _sum(_extent_losses(attributes, "j"), gains)
    return Addition(tuple(words), tuple(others), named, Sql(added))


def size_of(a: Attribute) -> int:
    """Values of its domain, NULL among them where it occurs; at least 1."""
    return max(a.distinct + (a.nulls > 0), 1)


def _range(a: Attribute) -> Iterator[Column]:
    i, far = a.index, a.scaled_loss(FAR)
    place, null = f"{a.d}.place", f"u.{a.c} = 0"
    yield Column(f"l{i}", "least", f"case when {null} then {far} else {place} end", far)
    yield Column(f"h{i}", "greatest", f"case when {null} then {-far} else {place} end", far)
    if a.grid is not None:
        first, last = f"{a.d}.first_place", f"{a.d}.last_place"
        yield Column(f"f{i}", "least", f"case when {null} then {far} else {first} end", far)
        yield Column(f"e{i}", "greatest", f"case when {null} then {-far} else {last} end", far)
    if a.nulls:
        yield Column(f"o{i}", "greatest", f"case when {null} then 1 else 0 end")


def _node(a: Attribute) -> Iterator[Column]:
    i = a.index
    yield Column(f"l{i}", "least", f"{a.d}.path", 1 << PATH_BITS)
    yield Column(f"h{i}", "greatest", f"{a.d}.path", 1 << PATH_BITS)
    for level in a.levels:
        yield Column(f"z{i}_{level.number}", "kept", f"{a.d}.{level.z}")


def code_bits(a: Attribute) -> int:
    """Bits of a code in a path."""
    return max(a.distinct.bit_length(), 1)


def _domain(a: Attribute) -> Domain:
    rows, scale = "cast(sum(n) over () as double)", a.scaled_loss(SCALE)
    rarity = f"cast(round({scale} * ln({rows} / n) / {size_of(a)}) as bigint)"
    lookups: list[tuple[str, str]] = []
    match shape(a):
        case "range":
            ends = [] if a.grid is None else ["first", "last"]
            for share, place in (("share", "place"), *((f"share_{e}", f"{e}_place") for e in ends)):
                lookups.append((f"cast(round({scale} * coalesce({share}, 0)) as bigint)", place))
            middle = (
                "sum(n * share) over () / sum(case when share is null then 0 else n end) over ()"
            )
            rarity = f"cast(round({scale} * abs(coalesce(share - {middle}, 0))) as bigint)"
        case "node":
            # an ancestor goes by the lowest code below it; the root comes first
            lowest = "cast(min(code) over (partition by {}) as bigint)"
            steps = [
                f"({lowest.format(level.a)} << {level.number * code_bits(a)})"
                for level in reversed(a.levels)
            ]
            lookups.append((" + ".join([*steps, "code"]), "path"))
            for level in a.levels:
                lookups.append((f"cast(round({scale} * {level.z}) as bigint)", str(level.z)))
    named = tuple((Sql(text), Sql(name)) for text, name in lookups)
    return Domain(a, named, Sql(rarity))


def _of_value(a: Attribute) -> int:
    """The loss of each value of a set of several, in `SCALE`."""
    return a.scaled_loss(SCALE) // size_of(a)


def _loss(attributes: Sequence[Attribute], packed: Packed, prefix: str) -> str:
    sets = []
    for a in attributes:
        if shape(a) == "set":
            values = packed.count_of(a.index, prefix)
            # one value loses nothing
            lost = f"({values} - case when {values} = 1 then 1 else 0 end)"
            each = _of_value(a)
            if shows_all(a):
                lost, each = f"case when {values} > 1 then 1 else 0 end", a.scaled_loss(SCALE)
            sets.append(f"{lost} * cast({each} as double)")
    return _sum(_extent_losses(attributes, prefix), sets)


def _sum(losses: Iterable[str], doubles: Sequence[str]) -> str:
    """The sum of whole numbers; doubles are exact up to 2^53, and take no checks for overflow."""
    return " + ".join([*losses, *([f"cast({' + '.join(doubles)} as bigint)"] if doubles else [])])


def _extent_losses(attributes: Sequence[Attribute], prefix: str) -> Iterator[str]:
    """The losses in all attributes but sets."""
    for a in attributes:
        match shape(a):
            case "range":
                yield _range_loss(a, prefix)
            case "node":
                yield _node_loss(a, prefix)


def _range_loss(a: Attribute, prefix: str) -> str:
    i, scale = a.index, a.scaled_loss(SCALE)
    low, high = f"{prefix}l{i}", f"{prefix}h{i}"
    width = f"greatest({high} - {low}, 0)"
    if a.grid is not None:
        steps = f"{prefix}e{i} - {prefix}f{i}"
        width = f"case when {low} < {high} then {steps} else 0 end"
    if not a.nulls:
        return width
    # NULL counts as one more value of the domain
    size = size_of(a)
    share = f"cast(floor({width} * {size - 1} / {size}) as bigint) + {scale // size}"
    return f"case when {prefix}o{i} = 1 and {low} <= {high} then {share} else {width} end"


def _node_loss(a: Attribute, prefix: str) -> str:
    i = a.index
    low, high = f"{prefix}l{i}", f"{prefix}h{i}"
    # the bits in which two paths differ, the highest of which tells the level
    differ = f"(({low} | {high}) - ({low} & {high}))"
    bits = code_bits(a)
    whens = " ".join(
        f"when {differ} < {1 << (number * bits)} then {prefix}z{i}_{number}"
        for number in (level.number for level in a.levels)
    )
    return f"case when {low} = {high} then 0 {whens} else {a.scaled_loss(SCALE)} end"


# The units of classes that lose something, with their extents.


TEMPLATE = "refine/points"


def points_steps(attributes: Sequence[Attribute], context: Mapping[str, Any]) -> Iterator[Step]:
    """Steps that write the units; their domains are joined in parts if there are very many."""
    whole = boxes(attributes)
    columns = {column.name: column for column in whole.columns}
    parts = in_parts(attributes, "refine_points_part")
    for number, (table, some) in enumerate(parts, 1):
        made = boxes(some)
        looked_up = [column for column in made.columns if column.way != "bits"]
        shown = {"points_part": table, "columns": looked_up, "rarity": _rarity(made)}
        shown |= {"domain_of": made.domains, "domains": [one.table for one in made.domains]}
        name = f"units as extents, part {number}"
        yield Step(name, "refine/points_part", {**context, **shown})
        for column in looked_up:
            columns[column.name] = replace(column, of_unit=f"p{number}.{column.name}")
    joined = {
        "columns": list(columns.values()),
        "domain_of": () if parts else whole.domains,
        "domains": [] if parts else [one.table for one in whole.domains],
        "parts": [table for table, _ in parts],
        "rarity": Sql(" + ".join(f"p{number}.rarity" for number, _ in enumerate(parts, 1)))
        if parts
        else _rarity(whole),
    }
    yield Step("units as extents", TEMPLATE, {**context, **joined})


def _rarity(made: Boxes) -> Sql:
    return Sql(" + ".join(f"{one.d}.rarity" for one in made.domains))


# A pass over finished classes that lowers their loss, under the same guarantees.
#
# Cuts are made one attribute after the other: a unit on the wrong side of an early cut stays there,
# and nearly all classes end with exactly k rows. Two things help, each for all classes at once:
#
# *New classes in blocks* (after k-member clustering, Byun et al. 2007). Classes that lie beside
# each other in the order of the cuts are a block. In every block the unit with the rarest values
# starts a class, which takes the unit that widens it least until it is large enough, and so on. A
# block keeps whichever of its old and new classes lose less.
#
# *Divisions*, after the swaps: `anonymizer.algorithms.core.repair`.
#
# *Swaps.* Two units of near classes change places, or one moves, where that lowers the loss of both
# classes together. A class takes part in one swap a round, so that every gain is exactly as
# computed.
#
# Sizes and sets of values tell whether a class holds k-anonymity and distinct l-diversity. Under
# other rules on values a unit changes places only with one of the same values, so that no class is
# distributed otherwise than before; and where a rule compares classes with the table, these are
# dealt first (`anonymizer.algorithms.core`).


BESIDE = 8
"""Classes after each one, in every order of the classes, that are looked at for near ones."""
NEAREST = 6
"""Near classes, by what a union with them would lose, with which a class swaps units."""
RANKS = 1 << 14
"""More than the units of a block: their order decides between equal losses."""
Refine: TypeAlias = int | Literal["auto", "full"]
"""The option of the policy."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Bounds on the work."""

    block: int
    """Rows of a block, in multiples of k."""
    block_rows: int
    """Rows of a block at most, unless two classes have more."""
    searches: int
    """Number of searches for near classes."""
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
    divisions: Divisions = NONE


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
    divisions=Divisions(rounds=2, arms=4, near_to_unit=3, most=50_000),
)
"""About twice as long as the cuts have taken."""
AUTO_OF_LARGE = replace(AUTO, divisions=NONE)
"""Where most units of a class are one item of a division, which gains no more than a swap."""
AUTO_OF_SAME = replace(AUTO_OF_LARGE, rounds=4, beside=BESIDE, nearest=NEAREST)
"""Effort where units are exchanged for the same values only: few swaps are left to each class."""
AUTO_OF_DEALT = replace(AUTO_OF_SAME, rounds=2)
"""After dealing, whose classes the first rounds improve most."""
LARGE = 2 * ITEMS
"""From this k on, classes are large in this sense."""
FULL = Effort(
    block=30,
    block_rows=1_500,
    block_units=2_000,
    searches=12,
    rounds=3,
    most_in_class=400,
    least=100,
    beside=32,
    divisions=Divisions(rounds=4, arms=8, near_to_unit=6),
)
"""Until a search for near classes saves less than one percent."""


@dataclass(frozen=True, slots=True)
class ValueCounter:
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
class ValueSignature:
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


def decidable_by_counts(how: Partitioning) -> bool:
    """Return whether the rules can be told from sizes and sets of values."""
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
    if how.needs_judging or not possible(attributes):
        return ()
    effort = _effort(refine)
    if refine == "auto" and how.k >= LARGE:
        effort = AUTO_OF_LARGE
    if refine == "auto" and not decidable_by_counts(how):
        effort = AUTO_OF_SAME if dealing is None else AUTO_OF_DEALT
    context = _context(attributes, how, effort)
    regrouped: tuple[Stage, ...] = ()
    if dealing is not None:
        regrouped = dealing_stages(attributes, dealing, context, recursive=recursive)
    elif decidable_by_counts(how):
        regrouped = _blocks(context, effort, recursive=recursive)
    classes = Step("extents of classes", "refine/classes", context)
    return (
        *points_steps(attributes, context),
        classes,
        *regrouped,
        classes,
        *_searches(context, effort, classes),
        Step("final classes", "refine/members", context),
    )


def _searches(context: dict[str, Any], effort: Effort, classes: Step) -> tuple[Stage, ...]:
    """Divisions of near classes, or swaps between them: once, in rounds, or both in rounds after
    each of several searches.
    """
    swap = (
        Step("extents without a unit", "refine/rest", context),
        Step("offers to near classes", "refine/offers", context),
        Step("swaps", "refine/swaps", context),
        Step("units after swaps", "refine/swapped", context),
    )
    no_offers = (
        Step("every class to look at", "refine/every_class", context),
        Step("no offers yet", "refine/no_offers", context),
    )
    near = (Step("near classes", "refine/near", context, laborious=True), *no_offers)
    none_yet = Step("no rounds yet", "refine/no_rounds", context)
    # (what is near does not change with the classes)
    near_units = (Step("near units", "repair/near_units", context, laborious=True),)
    if effort.rounds == 1 and context["divides"]:
        divisions = division_stages(context, effort.divisions.rounds, classes, no_offers)
        return (*near, *swap, classes, *near_units, none_yet, *divisions)
    if effort.rounds == 1:
        return (*near, *swap)
    rounds = Loop(
        "swap units",
        (*swap, classes, Step("rounds of swaps", "refine/rounds", context)),
        until=Step("swaps left", "refine/swaps_left", context),
        at_most=effort.rounds,
    )
    if effort.searches == 1:
        return (*near, none_yet, rounds)
    repairs: tuple[Step | Loop, ...] = ()
    if context["divides"]:
        most = effort.rounds + effort.divisions.rounds
        repairs = repair_stages(context, most, classes, no_offers)
    search = Loop(
        "search near classes",
        (*near, none_yet, rounds, *repairs, Step("searches", "refine/searches", context)),
        until=Step("searches left", "refine/searches_left", context),
        at_most=effort.searches,
    )
    first = Step("searches begin", "refine/first_search", context)
    none_made = Step("no searches yet", "refine/no_searches", context)
    return (first, none_made, *(near_units if context["divides"] else ()), search)


def _blocks(context: dict[str, Any], effort: Effort, *, recursive: bool) -> tuple[Stage, ...]:
    grown: tuple[Stage, ...] = (
        Step("new classes in blocks", "refine/groups", context, laborious=True),
    )
    if not recursive:
        grown = (
            Step("units without a new class", "refine/first_grown", context),
            Loop(
                "new classes in blocks",
                (Step("grow classes", "refine/grow", context),),
                until=Step("units to grow by", "refine/grow_left", context),
                at_most=effort.block_units + 1,
            ),
            Step("new classes", "refine/grown", context),
        )
    return (
        Step("blocks of classes", "refine/blocks", context),
        *grown,
        Step("classes for units left over", "refine/homes", context),
        Step("better classes of blocks", "refine/better", context),
    )


def _effort(refine: Refine) -> Effort:
    if refine == "full":
        return FULL
    if refine == "auto":
        return AUTO
    few = replace(AUTO_OF_LARGE, most=None, most_swapped=None, most_in_class=FULL.most_in_class)
    return replace(few, rounds=refine, beside=BESIDE, nearest=NEAREST)


def _context(attributes: Sequence[Attribute], how: Partitioning, effort: Effort) -> dict[str, Any]:
    made = boxes(attributes)
    kept = [ValueCounter(p) for p in how.protections] if decidable_by_counts(how) else []
    signs = [] if decidable_by_counts(how) else [ValueSignature(p) for p in how.protections]
    return {
        "members": MEMBERS,
        "units": UNITS,
        "points": work("refine_points"),
        **repair_context(attributes, effort.divisions),
        "divides": effort.divisions.rounds > 0 and not signs,
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
        "searches": work("refine_searches"),
        "most_searches": effort.searches,
        "columns": made.columns,
        "loss": made.loss,
        "sets": made.addition.sets,
        "unions": made.addition.unions,
        "steps": made.addition.steps,
        "added": made.addition.gain,
        "orders": made.orders,
        "kept": kept,
        "signs": signs,
        "cells": [p.cells for p in how.protections],
        "k": how.k,
        "block": min(effort.block * how.k, max(effort.block_rows, 2 * how.k)),
        "block_units": effort.block_units,
        "ranks": RANKS,
        "far": FAR * len(attributes),
        "beside": effort.beside,
        "nearest": effort.nearest,
        "most_rounds": effort.rounds,
        "most_in_class": effort.most_in_class,
        "least": effort.least if effort.searches > 1 else None,
        "most": effort.most,
        "most_swapped": effort.most_swapped,
    }
