"""The stages that prepare a lattice: labels and losses of levels, packed tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.encode import CODED, UNITS
from anonymizer.algorithms.lattice.packing import Packing
from anonymizer.algorithms.nodes import shown
from anonymizer.compile import Sql, Table, lit, sql, work
from anonymizer.hierarchy import distortion
from anonymizer.hierarchy.scale_of_type import scale_of
from anonymizer.hierarchy.text import from_text
from anonymizer.policy import Policy
from anonymizer.policy.builders import Intervals, Taxonomy
from anonymizer.privacy.exact import share_at_most
from anonymizer.source.profile import Attribute
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import rows_read
from anonymizer.steps import Step

PATHS = work("lattice_paths")
TUPLES = work("lattice_tuples")
LEVELS = work("lattice_levels")
LIMITS = work("lattice_limits")

ONE = 10**12
"""The loss of one suppressed cell, in the integer units of losses."""


@dataclass(frozen=True, slots=True)
class Climbed:
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
        return shown(self.attribute)

    @property
    def recoding(self) -> Table:
        return work(f"recoding_{self.attribute.index}")

    @property
    def height(self) -> int:
        return self.attribute.height


def climbed(roles: Roles) -> tuple[Climbed, ...]:
    """The quasi-identifiers of `roles`, in order."""
    return tuple(Climbed(a, position) for position, a in enumerate(roles.quasi))


def recode_steps(policy: Policy, roles: Roles, *, losses: bool = True) -> tuple[Step, ...]:
    """Steps that write every column's `recoding`, from domains and hierarchies.

    Without `losses` it only holds the nodes above every value.
    """
    steps: list[Step] = []
    for a in climbed(roles):
        column = a.attribute.column
        spec = policy.columns[column].hierarchy
        assert spec is not None, "the policy is checked for hierarchies"
        steps.append(recoding_step(a, spec, losses=losses))
    return tuple(steps)


def recoding_step(a: Climbed, spec: Any, *, losses: bool = True) -> Step:
    """The step that writes a column's `recoding`; with `spec` None, `*` is its only node."""
    parameters = {**_recoding(a, spec), "losses": losses}
    return Step(f"levels of {a.attribute.column}", "lattice/recoding.sql.j2", parameters)


def _recoding(a: Climbed, spec: Any) -> dict[str, Any]:
    attribute = a.attribute
    bounded = spec is not None and spec.builder in distortion.INTERVALS
    listed = isinstance(spec, Taxonomy) and attribute.ordered
    lo, hi = _bounds(attribute, spec, bounded)
    return {
        "domain": attribute.domain,
        "hierarchy": attribute.hierarchy,
        "recoding": a.recoding,
        "levels": attribute.levels,
        "nulls": attribute.nulls > 0,
        "width": distortion.width(attribute.sql_type, spec.builder) if spec else lit(1),
        "ordered": attribute.ordered,
        "bounded": bounded,
        "listed": work(f"listed_{attribute.index}") if listed else None,
        "typed": from_text(Sql("value"), attribute.sql_type),
        "height": a.height,
        "one": lit(attribute.scaled(ONE)),
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
    attributes = climbed(roles)
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
        Step("paths of values", "lattice/paths.sql.j2", shared),
        Step("packed tuples", "lattice/tuples.sql.j2", shared),
        Step("levels of the lattice", "lattice/levels.sql.j2", shared),
        Step("limit of suppression", "lattice/limits.sql.j2", shared),
    )


def _fields(a: Climbed, packed: Packing) -> list[tuple[int | bool, ...]]:
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
