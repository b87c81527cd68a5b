"""The grouping phase: a greedy choice over counts puts records of different buckets into groups.

`exact` chooses one record at a time, as in the papers, in one recursive statement over all records.
`batched` makes the same choice over scaled counts, in which one record represents q, and
repeats it on the rest with a quarter of q, down to single records. If there are too many
buckets for one sequence of choices, they are assigned to blocks that are grouped in parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.encode import CODED
from anonymizer.algorithms.msb.dimensions import Dimension
from anonymizer.compile import Sql, Table, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy import Msb
from anonymizer.process.text import many
from anonymizer.source.draws import later_draw
from anonymizer.steps import Guard, Loop, Row, Stage, Step

BUCKETS = work("msb_buckets")
LEFT = work("msb_left")
SCALE = work("msb_scale")
STOCK = work("msb_stock")
FORMED = work("msb_formed")
ARRIVED = work("msb_arrived")
TYPES = work("msb_types")
MEMBERS_OF_TYPES = work("msb_members")

EXACT_UP_TO = 50_000
"""Number of rows up to which the exact mode is available: its time grows with rows × buckets."""
EXACT_WORK = 200_000_000
"""Rows × buckets up to which the exact mode is available: about two minutes."""
SCALED_RECORDS = 4_000
"""Number of scaled records in the first pass."""
BLOCK_RECORDS = 80
"""Number of records per block, unless the number of blocks requires fewer."""
WORK = 30_000_000
"""Largest product of records and records per block in one pass."""
TARGETS_PER_BLOCK = 8
"""Fewest groups for which a block has room."""
PASSES = 64
"""A bound on the passes, above the number of scales plus halvings of the blocks' rest."""
LEVEL_WEIGHT = 2**24
"""More than the selectivity of any bucket, with at most 2^24 records in total."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """The parameters of the grouping phase."""

    dimensions: tuple[Dimension, ...]
    options: Msb
    records: Table = CODED
    """The table of the records to group: rows, or one record per person."""

    @property
    def unit(self) -> str:
        """The word for records in messages."""
        return "rows" if self.records == CODED else "persons"

    @property
    def least(self) -> int:
        """Fewest records of a group."""
        return 1 if self.options.allow_singletons else 2

    @property
    def context(self) -> dict[str, Any]:
        """The tables and parameters of all templates."""
        return {
            "coded": self.records,
            "values": [d.values for d in self.dimensions],
            "dimensions": self.dimensions,
            "buckets": BUCKETS,
            "left": LEFT,
            "scale": SCALE,
            "stock": STOCK,
            "formed": FORMED,
            "arrived": ARRIVED,
            "types": TYPES,
            "members": MEMBERS_OF_TYPES,
            "least": self.least,
            "bucket_draw": later_draw("draw", "bucket"),
            "state": Sql("state"),
            "priority": self.priority,
            "batched": self.options.mode == "batched",
            "everything": 2**62,
            "records": SCALED_RECORDS,
            "work": WORK,
            "block_records": BLOCK_RECORDS,
            "targets_per_block": TARGETS_PER_BLOCK,
            "exact_work": EXACT_WORK,
        }

    @property
    def priority(self) -> Sql:
        """The whole number by which buckets are chosen, largest first.

        Size (MBF), or the largest or the sum of its values' capacities plus its size (MSDCF,
        MMDCF; Xiao and Li 2020, §4); the highest security level first, if required.
        """
        caps = [d.cap.text for d in self.dimensions]
        selectivity = {
            "mbf": "n",
            "msdcf": f"greatest({', '.join(caps)}) + n",
            "mmdcf": f"{' + '.join(caps)} + n",
        }[self.options.strategy]
        level = f" + level * {LEVEL_WEIGHT}" if self.options.security_level_first else ""
        return Sql(f"(cast({selectivity} as bigint){level})")


def bucket_stages(how: Grouping) -> tuple[Stage, ...]:
    """Stages that write the buckets."""
    return (Step("buckets", "msb/buckets.sql.j2", how.context),)


def empty_stages(how: Grouping) -> tuple[Stage, ...]:
    """Stages that write the state before the first group: all records are left."""
    return (
        Step("records left", "msb/left.sql.j2", how.context),
        Step("no types of groups yet", "msb/no_types.sql.j2", how.context),
        Step("no members of groups yet", "msb/no_members.sql.j2", how.context),
    )


def grouping_stages(how: Grouping) -> tuple[Stage, ...]:
    """Stages that write the types of groups and their members."""
    context = how.context
    form: Sequence[Step] = (
        Step("stock of a pass", "msb/stock.sql.j2", context),
        Step("form groups", "msb/group.sql.j2", context),
        Step("types of groups", "msb/types.sql.j2", context),
        Step("add types", "msb/add_types.sql.j2", context),
        Step("add members", "msb/add_members.sql.j2", context),
        Step("what is left", "msb/take.sql.j2", context),
    )
    if how.options.mode == "exact":
        return (
            _affordable(context),
            Step("scale", "msb/exact_scale.sql.j2", context),
            *form,
        )
    return (
        Step("first scale", "msb/first_scale.sql.j2", context),
        Loop(
            "form groups",
            (Step("next scale", "msb/next_scale.sql.j2", context), *form),
            until=Step("passes left", "msb/passes.sql.j2", context),
            at_most=PASSES,
        ),
    )


def refuse_size(rows: int) -> None:
    """Raises InfeasibleError if the exact mode would take minutes."""
    if rows > EXACT_UP_TO:
        raise InfeasibleError(
            Problem(
                "algorithm.mode",
                f"exact places one record at a time, and the table has {many(rows, 'row')}",
                allowed=f"exact up to {EXACT_UP_TO} rows, or batched",
                hint="mode: batched",
            )
        )


def _affordable(context: dict[str, Any]) -> Guard:
    def explain(row: Row) -> Problem:
        records, buckets = row
        return Problem(
            "algorithm.mode",
            f"exact compares every one of {records} records with {buckets} different vectors of"
            " sensitive values",
            allowed=f"exact up to {EXACT_WORK} comparisons, or batched",
            hint="mode: batched",
        )

    step = Step("work of the exact mode", "msb/guard_work.sql.j2", context)
    return Guard(step, explain, InfeasibleError)
