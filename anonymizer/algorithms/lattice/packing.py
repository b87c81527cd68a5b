"""Packs hierarchies into integers: a bit field per attribute and level.

The field of a level holds the number of a value's node among its siblings, so that the fields of
level j and above name the node at level j (a path from the root). Generalizing to level j masks
the fields below. If levels do not nest, the field of a level numbers all nodes of the level, and
level j keeps only that field. Every level has a field of at least one bit, so that masks order
the nodes of the lattice as their levels do. NULL is a child of the root, apart from other nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.compile import Sql, lit
from anonymizer.hierarchy.shape import Shape

WORD = 62
"""Bits per integer: all values stay positive, and sums of masks cannot overflow."""


@dataclass(frozen=True, slots=True)
class Word:
    """One integer of the packed code, and the columns named after it."""

    number: int

    @property
    def w(self) -> Sql:
        """Column of a tuple's packed values."""
        return Sql(f"w{self.number}")

    @property
    def m(self) -> Sql:
        """Column of a node's mask."""
        return Sql(f"m{self.number}")

    @property
    def g(self) -> Sql:
        """Column of a class's packed values, under its node's mask."""
        return Sql(f"g{self.number}")


@dataclass(frozen=True, slots=True)
class Field:
    """The bit field with the numbers of one level of one attribute."""

    level: int
    word: int
    shift: int
    bits: int

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.shift

    @property
    def scale(self) -> Sql:
        return lit(1 << self.shift)


@dataclass(frozen=True, slots=True)
class Packing:
    """The fields of all attributes, and the words that hold them."""

    fields: tuple[tuple[Field, ...], ...]
    """By attribute, from level 0 up; the root has no field."""
    shapes: tuple[Shape, ...]
    words: tuple[Word, ...]

    def masks(self, attribute: int, level: int) -> tuple[int, ...]:
        """The mask of one attribute (counted from 0) at one level, one number per word."""
        shape = self.shapes[attribute]
        masks = [0] * len(self.words)
        for field in self.fields[attribute]:
            kept = field.level >= level if shape.nests else level in (0, field.level)
            if kept:
                masks[field.word] |= field.mask
        return tuple(masks)


def packing(shapes: Sequence[Shape]) -> Packing:
    """Pack fields into words, first fit in the order of the attributes."""
    used: list[int] = []
    fields: list[tuple[Field, ...]] = []
    for shape in shapes:
        own: list[Field] = []
        for level in range(shape.height):
            bits = _bits(shape, level)
            word = next((w for w, taken in enumerate(used) if taken + bits <= WORD), len(used))
            if word == len(used):
                used.append(0)
            own.append(Field(level, word, used[word], bits))
            used[word] += bits
        fields.append(tuple(own))
    words = tuple(Word(number) for number in range(max(len(used), 1)))
    return Packing(tuple(fields), tuple(shapes), words)


def _bits(shape: Shape, level: int) -> int:
    if not shape.nests or level == shape.height - 1:
        # numbers from 1; NULL is 0
        most = shape.nodes[level] if not shape.nests else shape.children[level]
        return max(most.bit_length(), 1)
    return max((shape.children[level] - 1).bit_length(), 1)
