"""What a row loses beside others, never more than the measure `ncp` says of their class.

As integers in `SCALE`, like the extents of a refinement, but by the domains of the measure, and
from below where the exact loss would cost too much:

* NULL beside values of a range costs nothing;
* beside nodes NULL counts for the domain, which has a leaf more, and not for the cell;
* a set of more values than fit into words costs as much as one of two values;
* a tree whose paths do not fit into a word costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from anonymizer.algorithms.partition.loss import shape
from anonymizer.algorithms.partition.words import Packed, pack
from anonymizer.algorithms.refine.boxes import (
    SCALE,
    Column,
    Domain,
    boxes,
    code_bits,
    possible,
    size_of,
)
from anonymizer.compile import Sql
from anonymizer.source.profile import Attribute

BEYOND = 1 << 62
"""Above every path."""
KEYS = 2_000
"""Most combinations of values by which tuples are told apart before they are compared."""


@dataclass(frozen=True, slots=True)
class Part:
    """One attribute of an extent."""

    attribute: Attribute
    columns: tuple[Column, ...]
    loss: Callable[[Callable[[str], str]], str]
    """Of one row, from the columns' values, which are asked for by name."""
    pair: str | None = None
    """The loss of the pair `r`, `u`, where codes tell it."""
    about: int = 0
    """What a pair that differs loses: the costly ones are looked at first."""

    @property
    def of_pair(self) -> str:
        """The loss of the extent of `r` and `u`."""
        by_name = {column.name: str(column.joined("r.", "u.")) for column in self.columns}
        return self.pair or self.loss(by_name.__getitem__)


@dataclass(frozen=True, slots=True)
class Extents:
    """The columns of the extents of all attributes, and their loss."""

    parts: tuple[Part, ...]
    sets: tuple[Column, ...]
    """Words that sets share."""
    domains: tuple[Domain, ...]
    """Those that are looked up."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.sets, *(column for part in self.parts for column in part.columns))

    @property
    def places(self) -> tuple[Column, ...]:
        """Those by which pairs are compared."""
        return tuple(c for part in self.parts if part.pair is None for c in part.columns)

    @property
    def codes(self) -> tuple[Sql, ...]:
        """Codes by which pairs are compared."""
        return tuple(part.attribute.c for part in self.parts if part.pair is not None)

    def loss(self, prefix: str = "") -> Sql:
        """The loss of one row of an extent whose columns have this prefix."""
        return Sql(" + ".join(part.loss(lambda name: prefix + name) for part in self.parts))

    @property
    def keyed(self) -> tuple[Part, ...]:
        """The costliest attributes that are compared by codes, as long as their values have few
        combinations.
        """
        combinations, found = 1, []
        for part in self.parts:
            if part.pair is not None:
                combinations *= size_of(part.attribute)
                if combinations > KEYS:
                    break
                found.append(part)
        return tuple(found)


def pair(parts: Sequence[Part]) -> Sql:
    """The loss of `r` in an extent of itself and `u`, in these attributes; 0 in none of them."""
    return Sql(" + ".join(part.of_pair for part in parts) or "0")


def extents(attributes: Sequence[Attribute]) -> Extents:
    """The extents of units in these attributes."""
    sets = [a for a in attributes if shape(a) == "set" and possible([a])]
    packed = pack(sets)
    words = tuple(Column(str(name), "bits", str(value)) for name, value in packed.columns)
    parts: list[Part] = []
    for a in attributes:
        if shape(a) == "set":
            parts.append(_set(a, packed) if a in sets else _large_set(a))
        elif possible([a]):
            parts.append(_range(a) if shape(a) == "range" else _node(a))
    # what tells most pairs that are far from each other comes first
    parts.sort(key=lambda part: -part.about)
    looked_up = [part.attribute for part in parts if part.pair is None]
    return Extents(tuple(parts), words, boxes(looked_up).domains)


def _two(a: Attribute) -> int:
    """What a set of two values loses."""
    return 2 * (a.scaled(SCALE) // size_of(a))


def _codes_differ(a: Attribute) -> str:
    return f"case when r.{a.c} = u.{a.c} then 0 else {_two(a)} end"


def _set(a: Attribute, packed: Packed) -> Part:
    each = a.scaled(SCALE) // size_of(a)

    def loss(named: Callable[[str], str]) -> str:
        values = packed.counted(a.index, named(""))
        # one value loses nothing
        return f"({values}) * least(({values}) - 1, 1) * {each}"

    return Part(a, (), loss, _codes_differ(a), _two(a))


def _large_set(a: Attribute) -> Part:
    low, high = f"l{a.index}", f"h{a.index}"
    columns = (Column(low, "least", f"u.{a.c}"), Column(high, "greatest", f"u.{a.c}"))

    def loss(named: Callable[[str], str]) -> str:
        return f"case when {named(low)} < {named(high)} then {_two(a)} else 0 end"

    return Part(a, columns, loss, _codes_differ(a), _two(a))


def _range(a: Attribute) -> Part:
    box = boxes([replace(a, nulls=0)])
    low, high = f"l{a.index}", f"h{a.index}"

    def loss(named: Callable[[str], str]) -> str:
        # the ends of NULL are beyond all others, on the wrong side
        return f"greatest({named(high)} - {named(low)}, 0)"

    return Part(a, box.columns, loss, about=a.scaled(SCALE // 4))


def _node(a: Attribute) -> Part:
    i, path = a.index, f"{a.d}.path"
    low, high = f"l{i}", f"h{i}"
    known = f"u.{a.c} > 0"
    columns = (
        Column(low, "least", f"case when {known} then {path} else {BEYOND} end"),
        Column(high, "greatest", f"case when {known} then {path} else -1 end"),
        # those below a common node have the same; NULL has the share of a leaf
        *(Column(f"z{i}_{level.number}", "greatest", f"{a.d}.{level.z}") for level in a.levels),
    )
    bits = code_bits(a)

    def loss(named: Callable[[str], str]) -> str:
        first, last = named(low), named(high)
        # the bits in which two paths differ, the highest of which tells the level
        differ = f"(({first} | {last}) - ({first} & {last}))"
        whens = " ".join(
            f"when {differ} < {1 << (level.number * bits)} then {shrunk(level.number, named)}"
            for level in a.levels
        )
        return f"case when {first} >= {last} then 0 {whens} else {a.scaled(SCALE)} end"

    def shrunk(level: int, named: Callable[[str], str]) -> str:
        share = named(f"z{i}_{level}")
        # NULL is one more leaf of the domain, which has at least the leaves that occur
        return f"{share} * {a.distinct} // {a.distinct + 1}" if a.nulls else share

    return Part(a, columns, loss, about=a.scaled(SCALE // 4))
