"""A lower bound of the loss, with every release: no grouping into classes of k rows loses less.

A row loses what its class's box loses, and the box holds k rows. So it loses at least the least
loss of a box that holds it and k rows. That is bounded from below for a sample of the rows, each
against all rows of the table:

*Pairs.* A box that holds r and s loses at least what the box of r and s alone loses, d(r, s). A box
with k rows has members whose d reaches at least the value at which k rows are counted, from the
nearest on.

*Triples.* A box that holds r, s and k rows loses at least g(r, s), the value at which k rows t are
counted by the loss of the box of r, s and t. Each member s of the best box of r has a g(r, s) no
larger than its loss. So the box loses at least the value at which k rows s are counted by g.

Only rows s with d(r, s) below the loss of r's own class matter: its box is one of those boxes. Only
the nearest are looked at as triples: a box with any other loses at least what the pair with the
first that was left out does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from anonymizer.algorithms.bound.extents import Extents, extents, pair
from anonymizer.algorithms.cells import BOXES, Cell
from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.loss import shape
from anonymizer.algorithms.partition.partition import MEMBERS
from anonymizer.algorithms.refine.boxes import SCALE, size_of
from anonymizer.compile import Sql, work
from anonymizer.policy import Policy
from anonymizer.source.profile import Attribute, TableProfile
from anonymizer.source.roles import Roles
from anonymizer.steps import Note, Stage, Step

EXACT = 1_000
"""Rows up to which all tuples are looked at."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How many tuples of larger tables are drawn."""

    pairs: int
    """Of a drawn tuple and any other, about."""
    fewest: int
    most: int
    always: bool = False
    """Whether a bound is told for tables of any size."""


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
    made = extents(roles.quasi)
    if not profile.rows or k < 2 or not profile.numeric_draws or policy.person is not None:
        return ()
    if not 0 < len(made.parts) <= WIDEST:
        return ()
    context = _context(roles.quasi, made, profile.rows, k, effort)
    # by weights it is another figure, and `ncp` may be below it
    told = "told" if all(a.weight is None for a in roles.quasi) else "told_by_weight"
    step = partial(Step, parameters=context, aside=True)
    return (
        step("tuples for the bound", "bound/sample.sql.j2"),
        step("what they lose", "bound/rows.sql.j2"),
        step("tuples near them", "bound/near.sql.j2"),
        step("what three lose", "bound/thirds.sql.j2"),
        Note(step("least loss of any classes", f"bound/{told}.sql.j2")),
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
        "whole": Sql(f"{SCALE * len(attributes)}"),
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
    each = a.scaled(SCALE) // size_of(a)
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
