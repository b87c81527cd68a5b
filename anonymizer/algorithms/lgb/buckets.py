"""Local bucketization (LGB Algorithm 2): buckets of sensitive cells, one cell per person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.encode import CODED
from anonymizer.compile import Sql, Table, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.guarantees.requirements import BucketRule
from anonymizer.guarantees.rule import all_hold, merge_layers
from anonymizer.policy.paths import column_path
from anonymizer.process.text import many
from anonymizer.source.profile import Attribute, Sensitive
from anonymizer.source.snapshot import later_draw, value_text
from anonymizer.steps import Guard, Loop, Row, Stage, Step

# Separates persons in buckets, so that no bucket holds two cells of one person.
#
# Otherwise a bucket could be one person's whole history. Such buckets of at least m different
# values exist if no value and no person has more than 1/m of the cells (an edge colouring of the
# graph of persons and values). They are made from the initial buckets by swaps: a cell that shares
# its bucket with another cell of its person is swapped with a random cell of another bucket, if the
# values and persons of both buckets stay different.


ROUNDS = 200
"""Rounds of swaps; if they do not suffice, the run fails."""
TRIES = 16
"""Number of cells that are tried for every cell in a round."""


def separation_stages(name: str, shared: Mapping[str, Any]) -> tuple[Stage, ...]:
    """Stages that separate cells of the same person in the `placed` cells of one column."""
    number = shared["column"].number
    context = {
        **shared,
        "owned": work(f"owned_{number}"),
        "swap_round": work(f"swap_round_{number}"),
        "position_draw": later_draw("p.draw", "seat"),
        "tries": TRIES,
        "rounds": ROUNDS,
    }

    def explain(row: Row) -> Problem:
        return Problem(
            column_path(name, "protect"),
            f"{row[0]} cells could not be parted from other cells of their persons within"
            f" {ROUNDS} rounds",
            hint="relax the column's rules, or leave persons with many rows out in source.query",
        )

    crowded = Step(f"persons apart in {name}", "lgb/still_crowded", context)
    return (
        Step(f"owners of {name}", "lgb/owners", context),
        Step(f"no swaps of {name} yet", "lgb/first_swap_round", context),
        Loop(
            f"part persons in {name}",
            (
                Step(f"swap cells of {name}", "lgb/swap", context),
                Step("count the round", "lgb/next_swap_round", context),
            ),
            until=Step("cells that share a bucket", "lgb/more_swaps", context),
            at_most=ROUNDS + 1,
        ),
        Guard(crowded, explain, InfeasibleError),
        Step(f"buckets of {name} without repeated persons", "lgb/swapped_cells", context),
    )


def crowding_guard(name: str, shared: Mapping[str, Any]) -> Guard:
    """A guard that no person has more cells than there can be buckets."""

    def explain(row: Row) -> Problem:
        return Problem(
            column_path(name, "protect"),
            f"{many(row[0], 'person has', 'persons have')} more sensitive cells than buckets of"
            f" {shared['least']} can be made (the most are {row[1]} of {row[2]} cells)",
            hint="lower l, or leave these persons out in source.query",
        )

    context = {**shared, "coded": CODED}
    return Guard(
        Step(f"persons with too many cells in {name}", "lgb/crowding", context),
        explain,
        InfeasibleError,
    )


# Local bucketization (LGB Algorithm 2): buckets for the sensitive cells of protected columns.
#
# Level-synchronous: one statement splits every open leaf of a column at its lower median while both
# sides are eligible; inside a leaf `rank mod B` assigns cells with different values to each bucket.


MAX_SPLITS = 64
"""Most halvings of a leaf; no table has 2^64 cells."""
FEWER = "ask for fewer different values (a lower l, a higher alpha)"


@dataclass(frozen=True, slots=True)
class ProtectedColumn:
    """A column with sensitive cells, its rule, and its work tables."""

    source: Attribute | Sensitive
    rule: BucketRule
    number: int

    @property
    def column(self) -> str:
        return self.source.column

    @property
    def coded(self) -> bool:
        """True if it holds codes (semi-sensitive columns) instead of values (sensitive ones)."""
        return isinstance(self.source, Attribute)

    @property
    def cell(self) -> Sql:
        return self.source.r if isinstance(self.source, Attribute) else self.source.s

    @property
    def row_cell(self) -> Sql:
        return Sql(f"r.{self.cell}")

    @property
    def present(self) -> Sql | None:
        """Condition that a row has a sensitive cell in this column; None: all rows have."""
        return Sql(f"{self.cell} is not null") if self.coded else None

    @property
    def row_present(self) -> Sql | None:
        return Sql(f"r.{self.cell} is not null") if self.coded else None

    @property
    def is_null(self) -> Sql:
        return Sql("original = 0") if self.coded else Sql("original is null")

    def _table(self, name: str) -> Table:
        return work(f"{name}_{self.number}")

    @property
    def reference(self) -> Table:
        return self._table("sensitive_values")

    @property
    def leaves(self) -> Table:
        return self._table("leaves")

    @property
    def quotas(self) -> Table:
        return self._table("quotas")

    @property
    def cells_table(self) -> Table:
        return self._table("placed")

    @property
    def dealt(self) -> Table:
        return self._table("dealt")

    @property
    def domain(self) -> Table | None:
        return self.source.domain if isinstance(self.source, Attribute) else None

    @property
    def alias(self) -> Sql:
        return Sql(f"b{self.number}")

    @property
    def value(self) -> Sql:
        return Sql(f"{self.alias}.value")

    @property
    def label(self) -> Sql:
        return Sql(f"{self.alias}.label")


def bucket_stages(
    column: ProtectedColumn, *, tight: bool, persons: bool = False, leaves_out: bool = False
) -> tuple[Stage, ...]:
    """Stages that write the column's `dealt` (row_id, bucket, value, label).

    With `persons` no bucket holds two cells of one person. Cells are then assigned over the whole
    column, so that there are enough buckets to separate persons; buckets span wider ranges.
    """
    rule, of = column.rule, column.source
    source = Attribute(of.index, of.column, of.sql_type, of.kind)
    named = {"column": column, "coded": CODED, "reference": column.reference}
    shared = {
        **named,
        "leaves": column.leaves,
        "quotas": column.quotas,
        "placed": column.cells_table,
        "dealt": column.dealt,
        "domain": column.domain,
        "least": rule.m,
        # NULL is dealt as a separate value, unless a bucket needs that many different values:
        # dealt afterwards, its share of a bucket would follow from the number of all buckets
        "ranked": 1 if rule.unique or not rule.judged else 0,
        "tight": tight and not rule.judged,
        "layers": merge_layers(rule.judged, Sql("leaf, side")),
        "bucket_layers": merge_layers(rule.judged, Sql("leaf, buckets, bucket")),
        "holds": all_hold(rule.judged),
        "sizes_tried": 1001,
        "tie": later_draw("r.draw", f"tie {column.number}"),
        "row_draw": later_draw("draw", "row"),
        "value_draw": later_draw("draw", "value"),
        "bucket_draw": later_draw("draw", "bucket"),
        "value": Sql("d.value" if column.coded else "f.original"),
        "label": Sql("d.label") if column.coded else value_text("f.original", source),
    }
    name = column.column
    splitting: tuple[Stage, ...] = (
        Loop(
            f"split leaves of {name}",
            (Step(f"split leaves of {name}", "lgb/split_leaves", shared),),
            until=Step(f"open leaves of {name}", "lgb/open_leaves", shared),
            at_most=MAX_SPLITS,
        ),
    )
    return (
        Step(f"sensitive cells of {name}", "lgb/sensitive_values", shared),
        Guard(
            Step(f"eligibility of {name}", "lgb/ineligible", shared),
            lambda row: ineligible(column, row, leaves_out=leaves_out),
            InfeasibleError,
        ),
        *((crowding_guard(name, shared),) if persons else ()),
        Step(f"one leaf of {name}", "lgb/leaves", shared),
        *(() if persons else splitting),
        Step(f"buckets of {name}", "lgb/leaf_buckets", shared),
        Step(f"deal {name}", "lgb/deal", shared),
        *(separation_stages(name, shared) if persons else ()),
        Step(f"permute {name}", "lgb/permute", shared),
    )


def ineligible(column: ProtectedColumn, row: Row, *, leaves_out: bool = False) -> Problem:
    """The problem if no buckets exist, described by counts.

    `leaves_out`: rows of frequent values are left out, up to suppression_limit.
    """
    most, known, cells, different = row
    path = column_path(column.column, "protect")
    m = column.rule.m
    if not known and cells:
        return Problem(
            path,
            f"its {cells} sensitive cells are all NULL, so no bucket can hold a value",
            hint="give the column role drop",
        )
    if different < m:
        return Problem(
            path,
            f"needs {m} different values in a bucket, but its sensitive cells have {different}",
            hint=f"{FEWER}, or protect it by t_closeness",
        )
    over = (most * m - known + m - 2) // (m - 1)
    return Problem(
        path,
        f"needs no value in more than 1/{m} of its {known} sensitive cells,"
        f" but the most frequent value has {most}, at least {over} too many",
        hint=f"{FEWER}, protect it by t_closeness, flag more cells, or leave rows out in"
        f" source.query{' or by a larger suppression_limit' if leaves_out else ''}",
    )
