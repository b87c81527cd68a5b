"""Group records of several sensitive attributes, and place those that remain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymizer.algorithms.core.encode import CODED
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.policy import Msb, Policy
from anonymizer.process.text import many
from anonymizer.source.profile import Sensitive, published_type
from anonymizer.source.roles import Roles
from anonymizer.source.snapshot import later_draw
from anonymizer.steps import Embedded, Guard, Loop, Row, Stage, Step

# The dimensions of the composite sensitive attribute: their values, and the l of each value.


@dataclass(frozen=True, slots=True)
class ValueLevel:
    """A security level of one column: the values listed under it, its rank, and its l."""

    rank: int
    """Position among the levels of the table; 0 is the lowest."""
    needed: int
    values: tuple[str, ...]
    """As texts that the engine casts to the type of the column."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One protected column; `v<i>`, `need<i>`, `cap<i>`, `use<i>` are its columns in the state.

    Codes of values start at 1; 0 is NULL, which has no requirement and is not counted.
    """

    source: Sensitive
    levels: tuple[ValueLevel, ...]
    default: ValueLevel | None
    """The level of values that no level lists; None if every value has to be listed."""
    null_as_value: bool

    @property
    def column(self) -> str:
        return self.source.column

    @property
    def s(self) -> Sql:
        return self.source.s

    @property
    def type(self) -> Sql:
        return Sql(published_type(self.source.sql_type))

    def _named(self, prefix: str) -> Sql:
        return Sql(f"{prefix}{self.source.index}")

    @property
    def v(self) -> Sql:
        """Code of the value."""
        return self._named("v")

    @property
    def need(self) -> Sql:
        """The l of the value's level."""
        return self._named("need")

    @property
    def cap(self) -> Sql:
        """Dimension capacity of the value: records left that have it (Definition 13)."""
        return self._named("cap")

    @property
    def use(self) -> Sql:
        """Number of times that the open group has the value."""
        return self._named("use")

    @property
    def taken(self) -> Sql:
        """Code of the value of the record that the open group takes next."""
        return self._named("taken_v")

    @property
    def filled(self) -> Sql:
        """Number of records of a finished group that have a value in this column."""
        return self._named("filled")

    @property
    def blocked(self) -> Sql:
        """Values that a finished group cannot take once more."""
        return self._named("blocked")

    @property
    def bit(self) -> Sql:
        """A value's bit in `mask`."""
        return self._named("bit")

    @property
    def mask(self) -> Sql:
        """Bits of the blocked values. Values may share a bit, so only a bit of 0 is conclusive."""
        return self._named("mask")

    @property
    def alias(self) -> Sql:
        return self._named("d")

    @property
    def values(self) -> Table:
        """Work table of its values: code, level, l, and number of rows."""
        return work(f"msb_values_{self.source.index}")


def dimensions(policy: Policy, roles: Roles) -> tuple[Dimension, ...]:
    """The protected sensitive columns, in the order of the policy.

    Plain l-diversity is a single level for all values.
    """
    level_l: Mapping[int, int] = policy.privacy.level_l or {}
    ranks = {level: rank for rank, level in enumerate(sorted(level_l))}
    made = []
    for source in roles.sensitive:
        column = policy.columns[source.column]
        protect = column.protect
        if protect is None:
            continue
        levels: tuple[ValueLevel, ...] = ()
        default = None
        if protect.levels is not None:
            levels = tuple(
                ValueLevel(ranks[level], level_l[level], tuple(map(_text, values)))
                for level, values in sorted(protect.levels.items())
                if values
            )
            if protect.default_level is not None:
                level = protect.default_level
                default = ValueLevel(ranks[level], level_l[level], ())
        else:
            assert protect.l_diversity is not None
            default = ValueLevel(0, protect.l_diversity, ())
        made.append(Dimension(source, levels, default, column.null_as_value))
    return tuple(made)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def values_step(dimension: Dimension, records: Table) -> Step:
    """The step that writes the codes and levels of one column's values."""
    listed = [
        (lit(level.rank), lit(level.needed), _list_condition(dimension, level.values))
        for level in dimension.levels
    ]
    return Step(
        f"levels of {dimension.column}",
        "msb/values",
        {
            "coded": records,
            "values": dimension.values,
            "dimension": dimension,
            "levels": listed,
            "default": dimension.default,
        },
    )


def _list_condition(dimension: Dimension, values: Sequence[str]) -> Sql:
    """Condition that a value is in a list; texts that are not values of the type never match."""
    cast = ", ".join(f"try_cast({lit(value)} as {dimension.type})" for value in values)
    return Sql(f"coalesce(value in ({cast}), false)")


# The grouping phase: a greedy choice over counts puts records of different buckets into groups.
#
# `exact` chooses one record at a time, as in the papers, in one recursive statement over all
# records. `batched` makes the same choice over scaled counts, in which one record represents q, and
# repeats it on the rest with a quarter of q, down to single records. If there are too many buckets
# for one sequence of choices, they are assigned to blocks that are grouped in parallel.


BUCKETS = work("msb_buckets")
LEFT = work("msb_left")
SCALE = work("msb_scale")
REMAINING = work("msb_remaining")
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
            "remaining": REMAINING,
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
    return (Step("buckets", "msb/buckets", how.context),)


def group_stages(how: Grouping, rows: int) -> tuple[Stage, ...]:
    """Stages that write the types of groups and their members, from the buckets."""
    context = how.context
    form: Sequence[Step] = (
        Step("records of a pass", "msb/remaining", context),
        Step("form groups", "msb/group", context),
        Step("types of groups", "msb/types", context),
        Step("add types", "msb/add_types", context),
        Step("add members", "msb/add_members", context),
        Step("what is left", "msb/left_after_pass", context),
    )
    passes: tuple[Stage, ...] = (
        (Step("scale", "msb/exact_scale", context), *form)
        if how.options.mode == "exact"
        else (
            Step("first scale", "msb/first_scale", context),
            Loop(
                "form groups",
                (Step("next scale", "msb/next_scale", context), *form),
                until=Step("passes left", "msb/passes", context),
                at_most=PASSES,
            ),
        )
    )
    stages = (
        # the state before the first group: all records are left
        Step("records left", "msb/left", context),
        Step("no types of groups yet", "msb/no_types", context),
        Step("no members of groups yet", "msb/no_members", context),
        *passes,
        *_residual_stages(how, rows),
    )
    return (Embedded("groups", stages, (TYPES, MEMBERS_OF_TYPES)),)


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


def affordable(how: Grouping) -> tuple[Guard, ...]:
    """A guard that the exact mode does not compare too many pairs."""
    if how.options.mode != "exact":
        return ()

    def explain(row: Row) -> Problem:
        records, buckets = row
        return Problem(
            "algorithm.mode",
            f"exact compares every one of {records} records with {buckets} different vectors of"
            " sensitive values",
            allowed=f"exact up to {EXACT_WORK} comparisons, or batched",
            hint="mode: batched",
        )

    step = Step("work of the exact mode", "msb/guard_work", how.context)
    return (Guard(step, explain, InfeasibleError),)


# The residual phase: remaining records join groups that admit them, or are suppressed.
#
# It proceeds in rounds until no record can join a group. In each round every group takes at most
# one record; the smallest groups, and the records that need the largest groups, come first.


SHAPES = work("msb_shapes")
ROUND_STATE = work("msb_round_state")
OFFERS = work("msb_offers")

PAIRS = 500_000
"""Number of pairs of bucket and type per round; the rest follow in the next rounds."""
PATIENCE = 20
"""Consecutive rounds without success after which the rest is suppressed; with at most PAIRS ×
PATIENCE pairs, no record can be placed then."""


def _residual_stages(how: Grouping, rows: int) -> tuple[Stage, ...]:
    """Stages that place the remaining records, and suppress those that cannot be placed."""
    context = {
        **how.context,
        "shapes": SHAPES,
        "round_state": ROUND_STATE,
        "offers": OFFERS,
        "pairs": PAIRS,
        "patience": PATIENCE,
    }
    return (
        Step("before the first round", "msb/first_round", context),
        Step("no offers yet", "msb/no_offers", context),
        Step("shapes of groups", "msb/shapes", {**context, "type_members": MEMBERS_OF_TYPES}),
        Loop(
            "place the residual",
            (
                Step("next round", "msb/next_round", context),
                Step("offers", "msb/offers", context),
                Step("grown groups", "msb/grown", context),
                Step("add members", "msb/add_members", context),
                Step("add shapes", "msb/add_shapes", {**context, "type_members": ARRIVED}),
                Step("types of groups", "msb/regroup", context),
                Step("records left", "msb/settle", context),
            ),
            until=Step("rounds left", "msb/rounds", context),
            # every round that is not idle places a record
            at_most=(rows + 1) * PATIENCE,
        ),
    )
