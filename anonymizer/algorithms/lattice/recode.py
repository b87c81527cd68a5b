"""Hierarchies as packed integers, and the cells that a lattice node publishes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.cells import CELLS, Cell, Mode, labels_steps, labels_table
from anonymizer.algorithms.core.encode import CODED, UNITS
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.compile import Sql, Table, lit, sql, work
from anonymizer.guarantees.rule import share_at_most
from anonymizer.hierarchy import levels
from anonymizer.hierarchy.levels import Shape
from anonymizer.hierarchy.scale import from_text, scale_of
from anonymizer.policy import Policy
from anonymizer.policy.hierarchies import Intervals, Taxonomy
from anonymizer.source.profile import Attribute, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw, rows_read
from anonymizer.steps import Step

# Packs hierarchies into integers: a bit field per attribute and level.
#
# The field of a level holds the number of a value's node among its siblings, so that the fields of
# level j and above name the node at level j (a path from the root). Generalizing to level j masks
# the fields below. If levels do not nest, the field of a level numbers all nodes of the level, and
# level j keeps only that field. Every level has a field of at least one bit, so that masks order
# the nodes of the lattice as their levels do. NULL is a child of the root, apart from other nodes.


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


# The stages that prepare a lattice: labels and losses of levels, packed tuples.


PATHS = work("lattice_paths")
TUPLES = work("lattice_tuples")
LEVELS = work("lattice_levels")
LIMITS = work("lattice_limits")

ONE = 10**12
"""The loss of one suppressed cell, in the integer units of losses."""


@dataclass(frozen=True, slots=True)
class LatticeColumn:
    """A quasi-identifier in a lattice: its tables, and its columns in them."""

    attribute: Attribute
    position: int
    """Its position among the quasi-identifiers, from 0."""

    @property
    def number(self) -> Sql:
        return lit(self.position)

    @property
    def c(self) -> Sql:
        return self.attribute.c

    @property
    def level(self) -> Sql:
        """Column of its level in a node."""
        return Sql(f"l{self.attribute.index}")

    @property
    def p(self) -> Sql:
        """Alias of its paths."""
        return Sql(f"p{self.attribute.index}")

    @property
    def r(self) -> Sql:
        """Alias of its recoding."""
        return Sql(f"r{self.attribute.index}")

    @property
    def v(self) -> Sql:
        """Alias of its levels."""
        return Sql(f"v{self.attribute.index}")

    @property
    def s(self) -> Sql:
        """Alias of its published nodes."""
        return Sql(f"s{self.attribute.index}")

    @property
    def shown(self) -> Table:
        return labels_table(self.attribute)

    @property
    def recoding(self) -> Table:
        return work(f"recoding_{self.attribute.index}")

    @property
    def height(self) -> int:
        return self.attribute.height


def lattice_columns(roles: Roles) -> tuple[LatticeColumn, ...]:
    """The quasi-identifiers of `roles`, in order."""
    return tuple(LatticeColumn(a, position) for position, a in enumerate(roles.quasi))


def recode_steps(policy: Policy, roles: Roles, *, losses: bool = True) -> tuple[Step, ...]:
    """Steps that write every column's `recoding`, from domains and hierarchies.

    Without `losses` it only holds the nodes above every value.
    """
    steps: list[Step] = []
    for a in lattice_columns(roles):
        column = a.attribute.column
        spec = policy.columns[column].hierarchy
        assert spec is not None, "the policy is checked for hierarchies"
        steps.append(recoding_step(a, spec, losses=losses))
    return tuple(steps)


def recoding_step(a: LatticeColumn, spec: Any, *, losses: bool = True) -> Step:
    """The step that writes a column's `recoding`; with `spec` None, `*` is its only node."""
    parameters = {**_recoding(a, spec), "losses": losses}
    return Step(f"levels of {a.attribute.column}", "lattice/recoding", parameters)


def _recoding(a: LatticeColumn, spec: Any) -> dict[str, Any]:
    attribute = a.attribute
    bounded = spec is not None and spec.builder in levels.INTERVALS
    listed = isinstance(spec, Taxonomy) and attribute.ordered
    lo, hi = _bounds(attribute, spec, bounded)
    return {
        "domain": attribute.domain,
        "hierarchy": attribute.hierarchy,
        "recoding": a.recoding,
        "levels": attribute.levels,
        "nulls": attribute.nulls > 0,
        "width": levels.width(attribute.sql_type, spec.builder) if spec else lit(1),
        "ordered": attribute.ordered,
        "bounded": bounded,
        "listed": work(f"listed_{attribute.index}") if listed else None,
        "typed": from_text(Sql("value"), attribute.sql_type),
        "height": a.height,
        "one": lit(attribute.scaled_loss(ONE)),
        "declared": isinstance(spec, Taxonomy),
        "lo": lo,
        "hi": hi,
        "place_value": _place(attribute, "value"),
        "place_lo": _place(attribute, "lo"),
        "place_hi": _place(attribute, "hi"),
    }


def _bounds(attribute: Attribute, spec: Any, bounded: bool) -> tuple[Sql, Sql]:
    """The bounds of a node. Those of an open interval, and of the root above it, are the ends of
    the type: bottom- and top-coding would be useless if they disclosed the extremes of the data.
    """
    if not bounded:
        return Sql("e.lo"), Sql("e.hi")
    scale = scale_of(attribute.sql_type)
    if not isinstance(spec, Intervals) or scale is None:
        return Sql("h.lo"), Sql("h.hi")
    first, last = scale.ends()
    root = Sql(f"h.level = {attribute.height}")
    lo, hi = Sql("h.lo"), Sql("h.hi")
    if spec.bottom is not None:
        opened = sql("case when {r} or starts_with(h.label, '<') then {e} else h.lo end",
                     r=root, e=first)  # fmt: skip
        lo = sql("least(h.lo, {o})", o=opened)
    if spec.top is not None:
        opened = sql("case when {r} or starts_with(h.label, '>=') then {e} else h.hi end",
                     r=root, e=last)  # fmt: skip
        hi = sql("greatest(h.hi, {o})", o=opened)
    return lo, hi


def _place(attribute: Attribute, value: str) -> Sql:
    """A value's position as a double, as the measures use it."""
    if attribute.kind == "date":
        return sql("cast(epoch_us(cast({v} as timestamp)) as double)", v=Sql(value))
    return sql("cast({v} as double)", v=Sql(value))


def tuple_steps(
    policy: Policy, roles: Roles, packed: Packing, keys: Sequence[Sql]
) -> tuple[Step, ...]:
    """Steps that write `paths`, `tuples`, `levels` and `limits`, in this order.

    `keys` identify the tuples of `coded` and the units.
    """
    attributes = lattice_columns(roles)
    persons = policy.person is not None
    masks = [
        (a.position, level, *packed.masks(a.position, level))
        for a in attributes
        for level in range(a.height + 1)
    ]
    shared = {
        "units": UNITS,
        "coded": CODED,
        "everything": rows_read(policy, roles),
        "tuples": TUPLES,
        "levels": LEVELS,
        "limits": LIMITS,
        "attributes": attributes,
        "words": packed.words,
        "masks": masks,
        "paths": PATHS,
        "fields": [row for a in attributes for row in _fields(a, packed)],
        "recodings": [a.recoding for a in attributes],
        "keys": list(keys),
        "persons": persons,
        "count": Sql("count(distinct person)" if persons else "count(*)"),
        "share": share_at_most(policy.suppression_limit),
    }
    return (
        Step("paths of values", "lattice/paths", shared),
        Step("packed tuples", "lattice/tuples", shared),
        Step("levels of the lattice", "lattice/levels", shared),
        Step("limit of suppression", "lattice/limits", shared),
    )


def _fields(a: LatticeColumn, packed: Packing) -> list[tuple[int | bool, ...]]:
    """For every level: how its nodes are numbered, and the weight of a number in every word.

    Siblings are numbered from 0, but from 1 below the root and if levels do not nest: NULL is 0.
    """
    nests = packed.shapes[a.position].nests
    return [
        (
            a.position,
            field.level,
            nests,
            0 if nests and field.level < a.height - 1 else 1,
            *(1 << field.shift if field.word == word.number else 0 for word in packed.words),
        )
        for field in packed.fields[a.position]
    ]


# Writes cells from the levels of each class: full- or partial-domain recoding.


CLASS_LEVELS = work("class_levels")


def recoded_cells(roles: Roles, mode: Mode) -> tuple[Step, ...]:
    """Steps that write `cells` from `members`, `class_levels` and `units`.

    `members` (unit, class_id) holds the published units; the others are suppressed.
    `class_levels` (class_id, l<i>) holds the level at which each column of a class is published, 0
    for the values themselves. All units of a class have to be under one node at this level.
    """
    attributes = lattice_columns(roles)
    columns: list[tuple[Sql, Sql]] = []
    for a in attributes:
        columns += cell_columns(a, mode)
    return (
        *(step for a in attributes for step in labels_steps(a.attribute)),
        Step(
            "cells of classes",
            "lattice/cells",
            {
                "members": MEMBERS,
                "units": UNITS,
                "class_levels": CLASS_LEVELS,
                "recodings": [a.recoding for a in attributes],
                "shown": [a.shown for a in attributes],
                "cells": CELLS,
                "attributes": attributes,
                "columns": columns,
                "class_draw": later_draw("draw", "class"),
            },
        ),
    )


def cell_columns(a: LatticeColumn, mode: Mode) -> Sequence[tuple[Sql, Sql]]:
    """The columns of the cell of a node, as names and expressions over `shown`."""
    cell = Cell(a.attribute)
    if mode == "text":
        nullable = f"case when {a.s}.nullable then ' or NULL' else '' end"
        return [(cell.out, Sql(f"{a.s}.label || {nullable}"))]
    # a node that is not among the published ones is NULL
    shown_nullable = Sql(f"coalesce({a.s}.nullable, true)")
    if cell.shape == "range":
        return [
            (cell.out_lo, Sql(f"{a.s}.lo")),
            (cell.out_hi, Sql(f"{a.s}.hi")),
            (cell.out_nullable, shown_nullable),
        ]
    if cell.shape == "set":  # a column of NULLs only: its hierarchy has no levels
        # a list of the column's type: the verifier looks for the column's values in it
        kind = Sql(published_type(a.attribute.sql_type))
        return [(cell.out, sql("[cast(null as {t})]", t=kind))]
    return [(cell.out, Sql(f"{a.s}.label")), (cell.out_nullable, shown_nullable)]
