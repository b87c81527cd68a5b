"""The extent of a set of units as columns, so that a union and its loss are plain expressions.

Per quasi-identifier: the ends of a range, the values of a set as bits of words, or the lowest and
the highest path in a tree. All are integers: `SCALE`, times the attribute's weight, stands for the
loss of one cell that is suppressed, so that sums are exact and do not depend on the order of
addition. Weights add up to the number of attributes: a row loses no more than without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from anonymizer.algorithms.partition.loss import shape
from anonymizer.algorithms.partition.words import WORD_BITS, Packed, fits, pack
from anonymizer.compile import Sql, Table
from anonymizer.source.profile import Attribute

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
    """How the column of a union is made from those of its parts; `kept`: from the first."""
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
    """What is looked up for the codes of one attribute."""

    attribute: Attribute
    lookups: tuple[tuple[Sql, Sql], ...]
    """Name and expression over the columns of the domain."""
    rarity: Sql
    """How rare the value is: what is hard to place is placed first."""

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
    """What the loss of a class gains by a row, up to a constant of the class: cheaper than a loss.

    A row has one value of each attribute. Whether its bit is new to the class tells what a set
    gains; for all other attributes this is the loss of the union.
    """

    sets: tuple[Column, ...]
    """The words of the row that are needed."""
    unions: tuple[Column, ...]
    """The columns of the union that are needed, with the prefix j."""
    steps: tuple[tuple[Sql, Sql], ...]
    """What is needed of the class: names, and expressions over the class `g`."""
    added: Sql
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
    """Whether the extents of all attributes fit into words."""
    return all(
        a.ordered or (_path_bits(a) <= PATH_BITS if a.height else fits(a)) for a in attributes
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
            one = _of_value(a)
            second = f"case when {packed.counted(a.index, 'g.')} = 1 then {2 * one} else {one} end"
            steps.append((f"step{a.index}", f"cast({second} as double)"))
            new = (f"bit_count({w} & free_{w} & {mask})" for w, mask in packed.bits[a.index])
            gains.append(f"({' + '.join(new)}) * step{a.index}")
    named = tuple((Sql(name), Sql(text)) for name, text in steps)
    added = _summed(_extent_losses(attributes, "j"), gains)
    return Addition(tuple(words), tuple(others), named, Sql(added))


def size_of(a: Attribute) -> int:
    """Values of its domain, NULL among them where it occurs; at least 1."""
    return max(a.distinct + (a.nulls > 0), 1)


def _range(a: Attribute) -> Iterator[Column]:
    i, far = a.index, a.scaled(FAR)
    place, null = f"{a.d}.place", f"u.{a.c} = 0"
    yield Column(f"l{i}", "least", f"case when {null} then {far} else {place} end", far)
    yield Column(f"h{i}", "greatest", f"case when {null} then {-far} else {place} end", far)
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


def _path_bits(a: Attribute) -> int:
    return (a.height + 1) * code_bits(a)


def _domain(a: Attribute) -> Domain:
    rows, scale = "cast(sum(n) over () as double)", a.scaled(SCALE)
    rarity = f"cast(round({scale} * ln({rows} / n) / {size_of(a)}) as bigint)"
    lookups: list[tuple[str, str]] = []
    match shape(a):
        case "range":
            lookups.append((f"cast(round({scale} * coalesce(share, 0)) as bigint)", "place"))
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
    return a.scaled(SCALE) // size_of(a)


def _loss(attributes: Sequence[Attribute], packed: Packed, prefix: str) -> str:
    sets = []
    for a in attributes:
        if shape(a) == "set":
            values = packed.counted(a.index, prefix)
            # one value loses nothing
            lost = f"({values} - case when {values} = 1 then 1 else 0 end)"
            sets.append(f"{lost} * cast({_of_value(a)} as double)")
    return _summed(_extent_losses(attributes, prefix), sets)


def _summed(losses: Iterable[str], doubles: Sequence[str]) -> str:
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
    i, scale = a.index, a.scaled(SCALE)
    low, high = f"{prefix}l{i}", f"{prefix}h{i}"
    width = f"greatest({high} - {low}, 0)"
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
    return f"case when {low} = {high} then 0 {whens} else {a.scaled(SCALE)} end"
