"""The least loss that any grouping of the table could have, as far as it can be proven."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from anonymizer.algorithms.core.cells import BOXES, Cell
from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.core.loss import Packed, pack, shape
from anonymizer.algorithms.core.partition import MEMBERS
from anonymizer.algorithms.core.refine import (
    SCALE,
    Column,
    Domain,
    boxes,
    code_bits,
    possible,
    size_of,
)
from anonymizer.compile import Sql, work
from anonymizer.policy import Policy
from anonymizer.source.profile import Attribute, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Note, Stage, Step

# What a row loses beside others, never more than the measure `ncp` says of their class.
#
# As integers in `SCALE`, like the extents of a refinement, but by the domains of the measure, and
# from below where the exact loss would cost too much:
#
# * NULL beside values of a range costs nothing;
# * beside nodes NULL counts for the domain, which has a leaf more, and not for the cell;
# * a set of more values than fit into words costs as much as one of two values;
# * a tree whose paths do not fit into a word costs nothing.


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
    """Loss of a pair that differs: the costly ones are looked at first."""

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
            parts.append(_set_part(a, packed) if a in sets else _large_set(a))
        elif possible([a]):
            parts.append(_range(a) if shape(a) == "range" else _node(a))
    # what tells most pairs that are far from each other comes first
    parts.sort(key=lambda part: -part.about)
    looked_up = [part.attribute for part in parts if part.pair is None]
    return Extents(tuple(parts), words, boxes(looked_up).domains)


def _two(a: Attribute) -> int:
    """The loss of a set of two values."""
    return 2 * (a.scaled_loss(SCALE) // size_of(a))


def _codes_differ(a: Attribute) -> str:
    return f"case when r.{a.c} = u.{a.c} then 0 else {_two(a)} end"


def _set_part(a: Attribute, packed: Packed) -> Part:
    each = a.scaled_loss(SCALE) // size_of(a)

    def loss(named: Callable[[str], str]) -> str:
        values = packed.count_of(a.index, named(""))
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

    return Part(a, box.columns, loss, about=a.scaled_loss(SCALE // 4))


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
        return f"case when {first} >= {last} then 0 {whens} else {a.scaled_loss(SCALE)} end"

    def shrunk(level: int, named: Callable[[str], str]) -> str:
        share = named(f"z{i}_{level}")
        # NULL is one more leaf of the domain, which has at least the leaves that occur
        return f"{share} * {a.distinct} // {a.distinct + 1}" if a.nulls else share

    return Part(a, columns, loss, about=a.scaled_loss(SCALE // 4))


# A lower bound of the loss, with every release: no grouping into classes of k rows loses less.
#
# A row loses what its class's box loses, and the box holds k rows. So it loses at least the least
# loss of a box that holds it and k rows. That is bounded from below for a sample of the rows, each
# against all rows of the table:
#
# *Pairs.* A box that holds r and s loses at least what the box of r and s alone loses, d(r, s). A
# box with k rows has members whose d reaches at least the value at which k rows are counted, from
# the nearest on.
#
# *Triples.* A box that holds r, s and k rows loses at least g(r, s), the value at which k rows t
# are counted by the loss of the box of r, s and t. Each member s of the best box of r has a g(r, s)
# no larger than its loss. So the box loses at least the value at which k rows s are counted by g.
#
# Only rows s with d(r, s) below the loss of r's own class matter: its box is one of those boxes.
# Only the nearest are looked at as triples: a box with any other loses at least what the pair with
# the first that was left out does.


EXACT = 1_000
"""Rows up to which all tuples are looked at."""


@dataclass(frozen=True, slots=True)
class Effort:
    """Numbers of tuples that are drawn from larger tables."""

    pairs: int
    """Of a drawn tuple and any other, about."""
    fewest: int
    most: int
    always: bool = False
    """True if a bound is told for tables of any size."""


USUAL = Effort(pairs=3_000_000, fewest=60, most=300)
"""A few percent of the time of a run."""
FULL = Effort(pairs=6_000_000, fewest=100, most=600, always=True)
"""With `refine: full`, which takes longer anyway."""
MOST_UNITS = 500_000
"""Tuples beyond which no bound is told: to compare a few with all others takes too long."""
WIDEST = 60
"""Columns beyond which no bound is told: what a pair loses is one expression over all of them."""
NEAREST = 32
"""Near tuples of a drawn one that are looked at as triples."""
ERRORS = 3
"""Standard errors that are taken off the estimate: one draw of about 700 claims too much."""
MOST_LISTED = 1_000
"""Near tuples that are counted until there are k rows."""
MOST_SAMPLED = 16
"""One tuple in so many tells how far the nearest are at most, before all are looked at."""
FEWEST_SAMPLED = 48
"""Tuples looked at then for each that is counted, at least."""


def bound_stages(
    policy: Policy, profile: TableProfile, roles: Roles, k: int, effort: Effort = USUAL
) -> tuple[Stage, ...]:
    """Stages after the cells of classes that tell `ncp_bound`, or `ncp_weighted_bound`.

    Only on DuckDB, where draws are numbers, and one aggregate keeps the least values of many, and
    only where rows are what is counted.
    """
    made = extents(roles.cut)
    if not profile.rows or k < 2 or not profile.numeric_draws or policy.person is not None:
        return ()
    if not 0 < len(made.parts) <= WIDEST:
        return ()
    context = _context(roles.cut, made, profile.rows, k, effort)
    # by weights it is another figure, and `ncp` may be below it
    figure = "mean_loss" if all(a.weight is None for a in roles.cut) else "mean_weighted_loss"
    step = partial(Step, parameters=context, aside=True)
    return (
        step("tuples for the bound", "bound/sample"),
        step("what they lose", "bound/rows"),
        step("tuples near them", "bound/near"),
        step("what three lose", "bound/thirds"),
        Note(step("least loss of any classes", f"bound/{figure}")),
    )


def _context(
    attributes: Sequence[Attribute], made: Extents, rows: int, k: int, effort: Effort
) -> dict[str, Any]:
    """The parameters of all templates of `bound`."""
    drawn = min(max(effort.pairs // rows, effort.fewest), effort.most)
    listed = min(max(NEAREST, k), MOST_LISTED)
    return {
        "boxes": BOXES,
        "members": MEMBERS,
        "units": UNITS,
        "domains": [domain.table for domain in made.domains],
        "sample": work("bound_sample"),
        "rows": work("bound_rows"),
        "near": work("bound_near"),
        "thirds": work("bound_thirds"),
        "weight": _weight(attributes),
        "draws": Sql("340282366920938463463374607431768211456.0"),
        "most": rows if rows <= EXACT else drawn,
        # (a table has no more tuples than rows)
        "most_units": MOST_UNITS if rows > MOST_UNITS and not effort.always else None,
        "nearest": NEAREST,
        "listed": listed,
        "sampled": min(rows // (FEWEST_SAMPLED * listed), MOST_SAMPLED),
        "units_bits": Sql(str(1 << 32)),
        "k": k,
        "errors": ERRORS,
        "codes": made.codes,
        "places": made.places,
        "columns": made.columns,
        "domain_of": made.domains,
        "loss": made.loss,
        "pair": pair(made.parts),
        "keys": [part.attribute.c for part in made.keyed],
        "keys_loss": pair(made.keyed),
        "first_terms": [pair(made.parts[:few]) for few in (2, 4, 6) if few < len(made.parts)],
        # places are rounded to the next integer, so a width is too large by one at most
        "slack": len(made.parts),
        "scale": Sql(f"{SCALE * len(attributes)}"),
        # downwards, to three digits: it depends on values that are not published
        "rounded": Sql(
            "case when bound < 0.01 then floor(100000 * bound) / 100000"
            " when bound < 0.1 then floor(10000 * bound) / 10000"
            " else floor(1000 * bound) / 1000 end"
        ),
    }


def _weight(attributes: Sequence[Attribute]) -> Sql:
    """About what a row of a class loses, from the codes of its box: weights of a draw."""
    return Sql(" + ".join(_about(Cell(a)) for a in attributes))


def _about(cell: Cell) -> str:
    a = cell.attribute
    each = a.scaled_loss(SCALE) // size_of(a)
    if a.weight is not None:
        # a weight of next to nothing is one all the same: all that lose are drawn
        each = max(each, 1)
    low, high = f"b.{cell.lo}", f"b.{cell.hi}"
    null = (
        f"case when b.{cell.null} and {low} is not null then {each} else 0 end" if a.nulls else "0"
    )
    several = f"{high} - {low}"
    if shape(a) == "set" and cell.as_bits:
        several = f"cast(bit_count(b.{cell.bits}) as bigint)"
    return f"case when {low} < {high} then ({several}) * cast({each} as bigint) else {null} end"
