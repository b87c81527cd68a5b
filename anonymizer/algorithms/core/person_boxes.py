"""Persons as units of an algorithm, and the cells that a group of them would publish."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.loss import shape
from anonymizer.compile import WIDE_BITS, Sql, Table, ident, lit, work
from anonymizer.hierarchy.scale import DECIMAL
from anonymizer.policy import Policy
from anonymizer.source.profile import Attribute, Level
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Stage, Step

# Boxes: the cells that a group of persons would publish, as columns that can be merged.
#
# The *identity element* of Wang et al. (2018, §2.2): per quasi-identifier the smallest interval,
# the set of values, or the lowest node of a hierarchy that covers every member. The loss of a box
# is the sum over its attributes of equations 11 and 12: an interval's share of the domain; (|set| -
# 1) of (|domain| - 1); for a node, its leaves instead of the set. With NULL among other values, an
# interval counts NULL as one more value of the domain, a set contains it, and a node is the root.
#
# Losses are integers, in units of which a cell has a multiple of every denominator of equations 11
# and 12. So sums are exact, and two losses tie where the paper's do. An attribute whose denominator
# finds no room below `MOST`, or whose values are no whole units, is rounded to a billionth or less.


SCALE = 1_000_000_000
"""The least loss of a cell that is generalized to the whole domain, at weight 1."""
MOST = 2**62
"""The largest loss of a row, in a column of 64 bits."""
MOST_OF_ROWS = 2**91
"""The largest loss of all rows, which is packed with a candidate's number into 128 bits."""
EXACT_SPAN = 100_000
"""Largest span that is proportional where the scale is no multiple of it; the loss per step of 1
is then rounded by less than 1/10,000."""

_WHOLE = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)\Z")
_FLOATS = frozenset({"FLOAT", "DOUBLE"})
_FLOAT_WHOLE = f"bool_and(value = floor(value)) and max(abs(value)) < {2**53}"

Get: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Shape(ABC):
    """The columns of one attribute in a box."""

    attribute: Attribute
    scale: int = SCALE
    """The loss of a cell that is generalized to the whole domain, at weight 1."""

    def name(self, prefix: str) -> str:
        return f"{prefix}{self.attribute.index}"

    @property
    def d(self) -> Sql:
        """Alias of the attribute's domain in a join."""
        return self.attribute.d

    @property
    def c(self) -> Sql:
        return self.attribute.c

    @property
    def places(self) -> Table:
        """Work table of the attribute's codes with their positions, ancestors and costs."""
        return work(f"places_{self.attribute.index}")

    @property
    def domain_loss(self) -> int:
        """The loss of a cell that is generalized to the whole domain."""
        return self.attribute.scaled_loss(self.scale)

    @property
    def each(self) -> int:
        """The loss of one value more in a set or below a node."""
        return self.domain_loss // max(self.size - 1, 1)

    @property
    def size(self) -> int:
        """Number of values in the domain, including NULL if it occurs."""
        return self.attribute.distinct + (1 if self.attribute.nulls else 0)

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of its columns."""

    @abstractmethod
    def points(self) -> tuple[str, ...]:
        """Aggregates over the rows of a unit, joined with the domain."""

    @abstractmethod
    def union(self, x: str, y: str) -> tuple[str, ...]:
        """The columns of the union of boxes `x` and `y` (aliases)."""

    @property
    @abstractmethod
    def gather(self) -> tuple[str, ...]:
        """Per column, the aggregate that merges the unions of one box with several others."""

    @abstractmethod
    def loss(self, get: Get) -> str:
        """Loss of the box whose columns `get` returns."""


@dataclass(frozen=True, slots=True)
class Range(Shape):
    """An ordered attribute: lowest and highest position, and whether it includes NULL."""

    @property
    def columns(self) -> tuple[str, ...]:
        both = (self.name("lo"), self.name("hi"))
        return (*both, self.name("nil")) if self.attribute.nulls else both

    def points(self) -> tuple[str, ...]:
        place = f"{self.d}.place"
        both = (f"min({place})", f"max({place})")
        return (*both, f"bool_or({self.d}.code = 0)") if self.attribute.nulls else both

    def union(self, x: str, y: str) -> tuple[str, ...]:
        lo, hi = self.name("lo"), self.name("hi")
        # least and greatest ignore NULL, the position of persons without a value
        both = (f"least({x}.{lo}, {y}.{lo})", f"greatest({x}.{hi}, {y}.{hi})")
        nil = self.name("nil")
        return (*both, f"({x}.{nil} or {y}.{nil})") if self.attribute.nulls else both

    @property
    def gather(self) -> tuple[str, ...]:
        return ("min", "max", "bool_or") if self.attribute.nulls else ("min", "max")

    def loss(self, get: Get) -> str:
        lo, hi = get(self.name("lo")), get(self.name("hi"))
        width = f"({hi} - {lo})"
        if not self.attribute.nulls:
            return width
        mixed = f"{width} + ({self.domain_loss} - {width}) // {self.size}"
        nil = get(self.name("nil"))
        return f"case when {lo} is null then 0 when {nil} then {mixed} else {width} end"


@dataclass(frozen=True, slots=True)
class Set(Shape):
    """A category without hierarchy: one bit per value of the domain."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name("bits" if self.size <= 62 else WIDE_BITS),)

    def points(self) -> tuple[str, ...]:
        bit = f"{self.d}.code" if self.attribute.nulls else f"{self.d}.code - 1"
        if self.size <= 62:
            one = f"(cast(1 as bigint) << cast({bit} as bigint))"
        elif self.size <= 126:
            one = f"(cast(1 as hugeint) << cast({bit} as hugeint))"
        else:
            one = f"set_bit(bitstring('0', {self.size}), {bit}, 1)"
        return (f"bit_or({one})",)

    def union(self, x: str, y: str) -> tuple[str, ...]:
        (bits,) = self.columns
        return (f"({x}.{bits} | {y}.{bits})",)

    @property
    def gather(self) -> tuple[str, ...]:
        return ("bit_or",)

    def loss(self, get: Get) -> str:
        # (bit_count returns one byte, and the losses of three sets exceed four bytes)
        (bits,) = self.columns
        return f"cast(bit_count({get(bits)}) - 1 as bigint) * {self.each}"


@dataclass(frozen=True, slots=True)
class Node(Shape):
    """An attribute over its hierarchy: the path of one member to the root, and a level on it."""

    @property
    def columns(self) -> tuple[str, ...]:
        return (
            self.name("leaf"),
            *(self.name(f"node{j.number}_") for j in self.attribute.levels),
            *(self.name(f"cost{j.number}_") for j in self.attribute.levels),
            self.name("level"),
        )

    def points(self) -> tuple[str, ...]:
        d, levels = self.d, self.attribute.levels
        return (
            f"min({d}.code)",
            *(f"min({self._ancestor(j)})" for j in levels),
            *(f"min({d}.cost{j.number})" for j in levels),
            self._common(
                lambda j: f"min({self._ancestor(j)}) = max({self._ancestor(j)})",
                f"min({d}.code) = max({d}.code)",
            ),
        )

    def union(self, x: str, y: str) -> tuple[str, ...]:
        leaf, level = self.name("leaf"), self.name("level")
        node = {j: self.name(f"node{j.number}_") for j in self.attribute.levels}
        met = self._common(lambda j: f"{x}.{node[j]} = {y}.{node[j]}", f"{x}.{leaf} = {y}.{leaf}")
        path = tuple(f"{x}.{name}" for name in self.columns[:-1])
        return (*path, f"greatest({x}.{level}, {y}.{level}, {met})")

    @property
    def gather(self) -> tuple[str, ...]:
        # every union has the path of the same box
        return (*("min" for _ in self.columns[:-1]), "max")

    def loss(self, get: Get) -> str:
        level = get(self.name("level"))
        # either side's path can be used: they are equal from the level of the union on
        whens = " ".join(
            f"when {j.number} then {get(self.name(f'cost{j.number}_'))}"
            for j in self.attribute.levels
        )
        return f"case {level} when 0 then 0 {whens} end"

    def _ancestor(self, level: Level) -> str:
        return f"{self.d}.{level.a}"

    def _common(self, same: Callable[[Level], str], same_leaf: str) -> str:
        """The lowest level at which two paths are equal; the root for NULL and a value."""
        whens = " ".join(f"when {same(j)} then {j.number}" for j in self.attribute.levels)
        return f"case when {same_leaf} then 0 {whens} else {self.attribute.height} end"


def shapes(attributes: Sequence[Attribute], rows: int) -> tuple[Shape, ...]:
    """The shape of every attribute, by the kind of its cells, with a common scale."""
    made: dict[str, Callable[[Attribute, int], Shape]]
    made = {"range": Range, "set": Set, "node": Node}
    scale = common_scale([made[shape(a)](a, SCALE) for a in attributes], rows)
    return tuple(made[shape(a)](a, scale) for a in attributes)


def common_scale(shapes: Sequence[Shape], rows: int) -> int:
    """A multiple of the denominators of all losses, the smallest ones first as far as they fit."""
    most = min(MOST, MOST_OF_ROWS // max(rows, 1)) // max(len(shapes), 1)
    scale = 1
    for denominator in sorted(_denominator(one) for one in shapes):
        both = lcm(scale, denominator)
        scale = both if both <= most else scale
    return scale * -(-SCALE // scale)


def _denominator(one: Shape) -> int:
    a = one.attribute
    parts = max(one.size - 1, 1)
    if isinstance(one, Range):
        # (an interval with NULL counts it as one more value)
        parts = max(a.span, 1) * (one.size if a.nulls else 1)
    return (Fraction(1 if a.weight is None else a.weight) / parts).denominator


def span(a: Attribute) -> str:
    """The query for the units between the least and the greatest value; 0 without units."""
    units = _units(a, "min(value)", "max(value)") if shape(a) == "range" else None
    whole = f" having {_FLOAT_WHOLE}" if a.sql_type in _FLOATS else ""
    return f"select {units} from {ident(a.values)}{whole}" if units else "select 0"


def _units(a: Attribute, first: str, value: str) -> str | None:
    """The units between two values as SQL: days, seconds, or those of the last digit."""
    if a.kind == "date":
        return f"date_diff('{a.time_unit}', {first}, {value})"
    found = DECIMAL.match(a.sql_type)
    digits = int(found[2]) if found else 0
    if found and int(found[1]) + digits < 38:
        unit = f"cast({10**digits} as decimal({digits + 1}, 0))"
        return f"cast({value} * {unit} as hugeint) - cast({first} * {unit} as hugeint)"
    # the difference of two integers can exceed their type
    whole = f"cast({value} as hugeint) - cast({first} as hugeint)"
    return whole if a.sql_type in _FLOATS or _WHOLE.match(a.sql_type) else None


def _step(one: Shape) -> int | None:
    """The loss of one unit, if a position is a multiple of it."""
    units = one.attribute.span
    if not isinstance(one, Range) or not units or (one.domain_loss % units and units > EXACT_SPAN):
        return None
    return one.domain_loss // units


def place_steps(shapes: Sequence[Shape]) -> tuple[Step, ...]:
    """Steps that write every attribute's `places` from its domain."""
    steps = []
    for one in shapes:
        a = one.attribute
        steps.append(
            Step(
                f"places of {a.column}",
                "persons/places",
                {
                    "domain": a.domain,
                    "places": one.places,
                    "ordered": isinstance(one, Range),
                    "offset": Sql(_units(a, "min(value) over ()", "value") or "null"),
                    "step": None if (step := _step(one)) is None else lit(step),
                    "levels": a.levels if isinstance(one, Node) else (),
                    "height": a.height,
                    "scale": lit(one.domain_loss),
                    "each": lit(one.each),
                },
            )
        )
    return tuple(steps)


@dataclass(frozen=True, slots=True)
class Boxes:
    """The shapes of all attributes."""

    shapes: tuple[Shape, ...]

    @property
    def columns(self) -> list[Sql]:
        return [Sql(name) for one in self.shapes for name in one.columns]

    def points(self) -> list[tuple[Sql, Sql]]:
        """Expression and name of every column, over the rows of a unit."""
        return self._named([text for one in self.shapes for text in one.points()])

    def union(self, x: str, y: str) -> list[tuple[Sql, Sql]]:
        """Expression and name of every column of the union of two boxes."""
        return self._named([text for one in self.shapes for text in one.union(x, y)])

    def union_of_all(self, x: str, y: str) -> list[tuple[Sql, Sql]]:
        """The same for box `x` and all boxes `y` of a group of rows, as aggregates."""
        gather = [name for one in self.shapes for name in one.gather]
        pairs = zip(gather, self.union(x, y), strict=True)
        return [(Sql(f"{aggregate}({text})"), name) for aggregate, (text, name) in pairs]

    def loss(self, alias: str = "") -> Sql:
        """The loss of the box in a row."""
        dot = f"{alias}." if alias else ""
        return Sql(" + ".join(f"({one.loss(lambda name: dot + name)})" for one in self.shapes))

    def distance(self, x: str, y: str) -> Sql:
        """The loss that the union of two boxes adds over the rows of both, in 128 bits."""
        terms = []
        for one in self.shapes:
            united = dict(zip(one.columns, one.union(x, y), strict=True))
            terms.append(f"({one.loss(united.__getitem__)})")
        lost = [f"{side}.records * cast({side}.loss as hugeint)" for side in (x, y)]
        records = f"cast({x}.records + {y}.records as hugeint)"
        return Sql(f"({records} * ({' + '.join(terms)}) - {' - '.join(lost)})")

    def _named(self, expressions: Sequence[str]) -> list[tuple[Sql, Sql]]:
        return [(Sql(text), name) for text, name in zip(expressions, self.columns, strict=True)]


# Makes persons the units of an algorithm.


EXTENTS = work("extents")


def person_units_step(roles: Roles, boxes: Boxes) -> Step:
    """The step that makes every person a unit with its box."""
    return Step(
        "persons and their boxes",
        "persons/units",
        {
            "coded": CODED,
            "units": UNITS,
            "attributes": roles.quasi,
            "shapes": boxes.shapes,
            "places": [one.places for one in boxes.shapes],
            "points": boxes.points(),
            "loss": boxes.loss(),
            "order_draw": later_draw("draw", "order"),
        },
    )


def extent_steps(policy: Policy, roles: Roles) -> tuple[Table, tuple[Stage, ...]]:
    """The table of tuples that the cells of a unit have to cover, and the stages that make it.

    If the rows of a person may differ (`merge_person_rows`), a unit is a person and has several
    tuples; the partition uses one of them.
    """
    if not policy.merge_person_rows:
        return UNITS, ()
    step = Step(
        "tuples of persons",
        "persons/extents",
        {"coded": CODED, "units": UNITS, "extents": EXTENTS, "codes": [a.c for a in roles.quasi]},
    )
    return EXTENTS, (step,)
