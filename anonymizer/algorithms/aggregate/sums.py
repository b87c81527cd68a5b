"""Sums over persons: what everybody adds to a group, and the groups that one of them dominates.

Dominance of one group decides for all totals of it: both rules compare a sum of contributions with
the largest ones, which grow at most as fast as the sum where groups are put together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anonymizer.algorithms.aggregate.groups import Dimension, guard
from anonymizer.compile import NumberedColumn, Sql, Table, ident, lit, sql, work
from anonymizer.contract.counts_layout import DIGITS, CountedMeasure
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import AggregatePolicy
from anonymizer.policy.aggregate import Dominance
from anonymizer.policy.paths import closest, path_text
from anonymizer.source.profile import TableProfile, kind_of, published_type
from anonymizer.source.snapshot import SNAPSHOT
from anonymizer.steps import Stage, Step

CONTRIBUTIONS = work("contributions")
"""What everybody who contributes adds to a finest group."""
SUMS = work("group_sums")
"""The sums of the finest groups, and whether one contribution dominates some of them."""
REMAINING = work("remaining_sums")
"""The sums of the groups that are left out, NULL where one contribution dominates."""
LARGEST = 1e15
"""Values are below this, so that their sums have 38 digits at most."""
FLOATING = 6
"""Decimal places of floating values: sums of decimals are the same in any order."""
MOST_PLACES = 12
"""Decimal places of decimals."""
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)\Z")


@dataclass(frozen=True, slots=True)
class Summed:
    """What is added up over persons: a column, or their rows."""

    index: int
    column: str | None
    """None for rows."""
    places: int = 0
    """Decimal places."""
    nonnegative: bool = False

    value = NumberedColumn("w")
    """Its value in the snapshot."""
    odd = NumberedColumn("odd")
    """True for values that cannot be added up."""
    part = NumberedColumn("c")
    """A contribution."""
    size = NumberedColumn("x")
    """Its size, without the sign."""
    rank = NumberedColumn("r")
    """Its rank by size in a group, from 1."""
    total = NumberedColumn("s")
    """The sum of a group."""

    @property
    def kind(self) -> Sql:
        """The type of its sums."""
        return Sql("BIGINT" if self.column is None else f"DECIMAL({DIGITS},{self.places})")

    @property
    def added(self) -> Sql:
        """What the rows of one contributor add, over the snapshot."""
        return (
            Sql("count(*)") if self.column is None else sql("coalesce(sum({v}), 0)", v=self.value)
        )

    @property
    def read(self) -> Iterator[tuple[Sql, Sql]]:
        """Its columns of the snapshot, over the source."""
        if self.column is None:
            return
        column, most = ident(self.column), lit(LARGEST)
        fits = sql("{c} < {m} and {c} > -{m}", c=column, m=most)
        yield (
            sql("case when {f} then cast({c} as {k}) end", f=fits, c=column, k=self.kind),
            self.value,
        )
        yield sql("coalesce(not ({f}), false)", f=fits), self.odd

    def needed(self, rule: Dominance) -> Sql:
        """How much more the sum has to be able to be, over the contributions of a group.

        So that the second largest contributor, who takes the largest possible sum for true, misses
        the largest contribution by p % (Duncan, Elliot and Salazar 2011, §4.2.3).
        """
        size, rank = self.size, self.rank
        if rule.p is None:
            return sql(
                "100 / cast({k} as double) * cast(sum(case when {r} <= {n} then {x} else 0 end)"
                " as double) - cast(sum({x}) as double)",
                k=lit(rule.k),
                r=rank,
                n=lit(rule.n),
                x=size,
            )
        return sql(
            "cast({p} as double) / 100 * cast(max({x}) as double)"
            " - cast(sum(case when {r} > 2 then {x} else 0 end) as double)",
            r=rank,
            x=size,
            p=lit(rule.p),
        )

    def allowed(self, rule: Dominance) -> Sql:
        """True where no contribution dominates, over the contributions of a group."""
        size, rank = self.size, self.rank
        whole = sql("cast(sum({x}) as double)", x=size)
        if rule.p is None:
            most = sql(
                "sum(case when {r} <= {n} then {x} else 0 end)", r=rank, n=lit(rule.n), x=size
            )
            return sql(
                "100 * cast({m} as double) <= cast({k} as double) * {x}",
                m=most,
                k=lit(rule.k),
                x=whole,
            )
        return sql(
            "100 * cast(sum(case when {r} > 2 then {x} else 0 end) as double)"
            " >= cast({p} as double) * cast(max({x}) as double)",
            r=rank,
            x=size,
            p=lit(rule.p),
        )


def summed(policy: AggregatePolicy, profile: TableProfile | None = None) -> tuple[Summed, ...]:
    """What the measures of a policy add up over persons.

    Raises SourceError for columns that the source does not have, or that have no sum.
    """
    found: list[Summed] = []
    problems = []
    types = dict(profile.columns) if profile is not None else {}
    for name, of in policy.aggregate.measures.items():
        if of.count == "rows" and policy.person is not None:
            found.append(Summed(len(found) + 1, None, nonnegative=True))
        if of.sum is None or any(one.column == of.sum for one in found):
            continue
        sql_type = types.get(of.sum, "BIGINT" if profile is None else None)
        path = path_text(("aggregate", "measures", name, "sum"))
        if sql_type is None:
            hint = closest(of.sum, types)
            problems.append(Problem(path, "is not a column of the source", hint=hint))
        elif kind_of(sql_type) != "numeric":
            said = f"has the type {published_type(sql_type)}, which has no sum"
            problems.append(Problem(path, said, allowed="numbers"))
        else:
            places = _places(sql_type)
            found.append(Summed(len(found) + 1, of.sum, places, of.nonnegative))
    if policy.protect.contributor is not None and profile is not None:
        name = policy.protect.contributor
        if name not in types:
            said = "is not a column of the source"
            problems.append(Problem("protect.contributor", said, hint=closest(name, types)))
    SourceError.refuse(problems)
    return tuple(found)


def _places(sql_type: str) -> int:
    if sql_type in ("FLOAT", "DOUBLE", "DECIMAL"):
        return FLOATING
    found = _DECIMAL.match(sql_type)
    return min(int(found[1]), MOST_PLACES) if found else 0


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure of the release in SQL."""

    of: CountedMeasure
    kind: Sql
    """Its type."""
    shown: Sql
    """Over the finest groups of a total."""
    other: Sql
    """Over the sums of what is left out."""

    @property
    def name(self) -> str:
        return self.of.name


def measured(policy: AggregatePolicy, sums: Sequence[Summed]) -> Iterator[tuple[str, Summed]]:
    """The measures that add up what persons contribute, with what they add up."""
    totals = {one.column: one for one in sums}
    for name in policy.weighed:
        column = policy.aggregate.measures[name].sum
        if column in totals:
            yield name, totals[column]


def figures(policy: AggregatePolicy, sums: Sequence[Summed]) -> tuple[Figure, ...]:
    """The measures of a policy, in order."""
    weighed = dict(measured(policy, sums))
    found: dict[str, Figure] = {}
    for name, of in policy.aggregate.measures.items():
        if of.ratio is not None:
            continue
        added = weighed.get(name)
        if added is None:
            column, kind = Sql("persons" if of.count == "persons" else "counted"), Sql("BIGINT")
        else:
            column, kind = added.total, added.kind
        whole = sql("cast(sum({c}) as {k})", c=column, k=kind)
        measure = CountedMeasure(
            name,
            of.count or "sum",
            places=added.places if added is not None else 0,
            nonnegative=of.nonnegative,
        )
        found[name] = Figure(measure, kind, whole, column)
    for name, of in policy.aggregate.measures.items():
        if of.ratio is not None:
            above, below = (found[part] for part in of.ratio)
            measure = CountedMeasure(name, "ratio", parts=of.ratio)
            shown, other = (
                sql("cast({a} as double) / nullif(cast({b} as double), 0)", a=a, b=b)
                for a, b in ((above.shown, below.shown), (above.other, below.other))
            )
            found[name] = Figure(measure, Sql("DOUBLE"), shown, other)
    return tuple(found[name] for name in policy.aggregate.measures)


def sum_columns(policy: AggregatePolicy, sums: Sequence[Summed]) -> Iterator[tuple[Sql, Sql]]:
    """The columns of the snapshot for sums, over the source."""
    if policy.protect.contributor is not None:
        yield ident(policy.protect.contributor), Sql("contributor")
    for one in sums:
        yield from one.read


def sum_guards(policy: AggregatePolicy, sums: Sequence[Summed]) -> Iterator[Stage]:
    """Refuse values that have no sum, or are negative, and rows to which nobody contributes."""
    if policy.protect.contributor is not None:
        yield guard(
            "rows without a contributor",
            "nobody",
            {"snapshot": SNAPSHOT, "who": Sql("contributor")},
            "protect.contributor",
            ("row has no contributor", "rows have no contributor"),
            "leave such rows out in source.query",
        )
    for one in sums:
        if one.column is None:
            continue
        names = [name for name, of in policy.aggregate.measures.items() if of.sum == one.column]
        path = path_text(("aggregate", "measures", names[0]))
        yield guard(
            f"values of {one.column}",
            "wrong_values",
            {"snapshot": SNAPSHOT, "wrong": one.odd},
            f"{path}.sum",
            ("value is too large, or no number", "values are too large, or no numbers"),
            "leave such rows out in source.query",
        )
        if one.nonnegative:
            yield guard(
                f"signs of {one.column}",
                "wrong_values",
                {"snapshot": SNAPSHOT, "wrong": sql("{w} < 0", w=one.value)},
                f"{path}.nonnegative",
                ("value is negative", "values are negative"),
                "leave nonnegative out, or such rows in source.query",
            )


def sums_stages(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed]
) -> tuple[Stage, ...]:
    """Add up what everybody contributes to the finest groups, and find those that one dominates."""
    if not sums:
        return ()
    context = {
        "contributions": CONTRIBUTIONS,
        "snapshot": SNAPSHOT,
        "dimensions": found,
        "values": [d.v for d in found],
        "finest": [d.names[0] for d in found],
        "sums": _ruled(policy, sums),
        "contributor": contributor_column(policy),
        "group_sums": SUMS,
    }
    return (
        Step("add up contributions", "aggregate/contributions", context),
        Step("find what dominates", "aggregate/group_sums", context),
    )


def remaining_stages(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed], split: Table
) -> tuple[Stage, ...]:
    """Add up the groups that are left out."""
    if not sums:
        return ()
    context = {
        "remaining_sums": REMAINING,
        "contributions": CONTRIBUTIONS,
        "split": split,
        "finest": [d.names[0] for d in found],
        "sums": _ruled(policy, sums),
        "contributor": contributor_column(policy),
    }
    return (Step("add up what is left out", "aggregate/remaining_sums", context),)


def cell_sums(
    policy: AggregatePolicy, found: Sequence[Dimension], sums: Sequence[Summed], split: Table
) -> Step:
    """The query for the sums of every published total, and what protects them."""
    context = {
        "contributions": CONTRIBUTIONS,
        "split": split,
        "dimensions": found,
        "numbers": [d.number for d in found],
        "groupings": [
            [lit(level) for level in one]
            for one in policy.groupings(tuple(d.levels for d in found))
        ],
        "finest": [*(d.label for d in found), *(d.number for d in found)],
        "sums": _ruled(policy, sums),
        "contributor": contributor_column(policy),
    }
    return Step("sums of the cells", "aggregate/cell_sums", context)


def _ruled(policy: AggregatePolicy, sums: Sequence[Summed]) -> list[dict[str, Sql]]:
    rule = policy.protect.dominance
    assert rule is not None, "a policy with sums has a rule for them"
    return [
        {
            "value": one.value,
            "added": one.added,
            "part": one.part,
            "size": one.size,
            "rank": one.rank,
            "total": one.total,
            "kind": one.kind,
            "allowed": one.allowed(rule),
            "needed": one.needed(rule),
        }
        for one in sums
    ]


def contributor_column(policy: AggregatePolicy) -> Sql | None:
    """The column of the snapshot that says who contributes; None for every row its own."""
    if policy.protect.contributor is not None:
        return Sql("contributor")
    return Sql("person") if policy.person is not None else None
