"""Local generalization by minimizing NCP (LGB Algorithm 4; Xu et al. 2006, top-down).

Every class is divided between two seeds that are far apart, all classes at once. A unit goes to
the seed with which it forms the tighter pair. Fixed seeds replace Xu's growing groups, which add
one tuple at a time, so that a level is one statement. The farthest unit is the first
for which k rows are at least as far, so that no single outlier becomes a seed. Distances are
rounded to 10^-9 and summed as integers: the result does not depend on the order of addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.loss import shape
from anonymizer.algorithms.partition.partition import MEMBERS, OPEN, Partitioning
from anonymizer.compile import Sql, Table, work
from anonymizer.source.profile import Attribute
from anonymizer.steps import Loop, Stage, Step

SEEDS = work("seeds")
SIDES = work("sides")
SCALE = 1_000_000_000
ROUNDS = (("start", "far_1"), ("far_1", "far_2"), ("far_2", "far_3"))
MAX_LEVELS = 10_000
ATTEMPTS = 3
"""Further pairs of seeds that a class may try after one split off fewer than k rows. LGB freezes
the class at once, so that a single outlier can keep thousands of rows together."""


@dataclass(frozen=True, slots=True)
class Point:
    """One attribute's columns of a point."""

    attribute: Attribute

    @property
    def c(self) -> Sql:
        return self.attribute.c

    @property
    def d(self) -> Sql:
        return self.attribute.d

    @property
    def domain(self) -> Table:
        return self.attribute.domain

    @property
    def columns(self) -> list[tuple[Sql, Sql]]:
        a = self.attribute
        columns = [(Sql(f"coalesce({a.d}.size, 1)"), Sql(f"m{a.index}"))]
        if shape(a) == "range":
            columns.append((Sql(f"coalesce({a.d}.share, 0)"), Sql(f"p{a.index}")))
        if shape(a) == "node":
            for level in a.levels:
                columns.append((Sql(f"{a.d}.{level.a}"), Sql(f"a{a.index}_{level.number}")))
                columns.append((Sql(f"{a.d}.{level.z}"), Sql(f"z{a.index}_{level.number}")))
        return columns


def distance(attributes: Sequence[Attribute], x: str, y: str) -> Sql:
    """NCP of the pair {x, y}, in units of 1/SCALE, as an integer."""
    return Sql(" + ".join(_term(a, x, y) for a in attributes))


def _term(a: Attribute, x: str, y: str) -> str:
    i = a.index
    match shape(a):
        case "range":
            width = f"abs({x}.p{i} - {y}.p{i})"
            other = f"case when {x}.c{i} = 0 or {y}.c{i} = 0 then 1.0 / {x}.m{i} else {width} end"
        case "set":
            other = f"2.0 / {x}.m{i}"
        case _:
            whens = " ".join(
                f"when {x}.a{i}_{j} = {y}.a{i}_{j} then {x}.z{i}_{j}"
                for j in (level.number for level in a.levels)
            )
            other = f"case {whens} else 1 end"
    return (
        f"case when {x}.c{i} = {y}.c{i} then 0 else cast(round({SCALE} * ({other})) as bigint) end"
    )


def seed_stages(
    attributes: Sequence[Attribute], how: Partitioning, rows: int, *, rebalance: bool
) -> tuple[Stage, ...]:
    """Stages that write `members` (unit, class_id) from `units`.

    Without `rebalance` a class of which one side would have fewer than k rows is generalized as
    a whole (LGB); with it the cut moves to the nearest place where both sides have k (after Xu's
    adjustment of small groups).
    """
    context = {
        "units": UNITS,
        "open": OPEN,
        "members": MEMBERS,
        "seeds": SEEDS,
        "sides": SIDES,
        "domains": [a.domain for a in attributes],
        "points": [Point(a) for a in attributes],
        "first_class": how.first_class,
        "k": how.k,
        "rebalance": rebalance,
        "attempts": 0 if rebalance else ATTEMPTS,
        "rounds": [(Sql(before), Sql(name)) for before, name in ROUNDS],
        "distance": distance(attributes, "x", "y"),
        "to_first": Sql(f"({distance(attributes, 'x', 'y')})"),
        "to_second": Sql(f"({distance(attributes, 'x', 'w')})"),
    }
    return (
        Step("units as points", "lgb/points.sql.j2", context),
        Step("no final classes yet", "mondrian/members.sql.j2", context),
        Loop(
            "divide classes",
            (
                Step("choose seeds", "lgb/choose_seeds.sql.j2", context),
                Step("divide", "lgb/divide.sql.j2", context),
                Step("close classes", "lgb/close_undivided.sql.j2", context),
                Step("apply the division", "lgb/apply_division.sql.j2", context),
            ),
            until=Step("open classes", "mondrian/open_classes.sql.j2", context),
            at_most=MAX_LEVELS,
        ),
    )
