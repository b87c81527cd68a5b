"""Local generalization by minimizing NCP (LGB Algorithm 4; Xu et al. 2006, top-down)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from anonymizer.algorithms.core.encode import UNITS
from anonymizer.algorithms.core.loss import Packed, fold, shape
from anonymizer.algorithms.core.partition import MEMBERS, OPEN, Partitioning
from anonymizer.compile import Sql, Table, lit, work
from anonymizer.errors import InfeasibleError, Problem
from anonymizer.source.profile import Attribute, Level
from anonymizer.steps import Guard, Loop, Row, Stage, Step

SEEDS = work("seeds")
DEALT = work("dealt")
SIDES = work("sides")
SCALE = 100_000_000
"""Units of loss per cell: 64 bits hold the NCP of 10^9 rows with 90 quasi-identifiers."""
MAX_LEVELS = 10_000


@dataclass(frozen=True, slots=True)
class Growth:
    """How groups find their seeds, and grow."""

    scans: int = 2
    """Scans for a farthest unit. Xu et al. have six; more than two find no better groups."""
    attempts: int = 3
    """Further pairs of seeds that a class may try after one split off fewer than k rows. LGB
    freezes the class at once, so that a single outlier can keep thousands of rows together."""
    early: int = 32
    """Total size of a class's groups, in units, at which their boxes hardly change any more. Until
    then each round doubles the groups."""
    late: int = 7
    """Number of units that a later round adds per unit of the groups."""
    choice: int = 4
    """Number of candidates, next in order, per unit that is added; the clearest are chosen."""
    rounds: int = 64
    most: int | None = None
    """Largest number of units, if a round adds one; seeds are then the farthest, instead of those
    for which k rows are at least as far."""


MOST = 1_000
LITERAL = Growth(scans=6, attempts=0, rounds=MOST, most=MOST)
"""Algorithm 4 as printed: one unit after the other, in the order of their draws."""


@dataclass(frozen=True, slots=True)
class Point:
    """One attribute's columns of a point, in addition to its code."""

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
        if shape(a) == "range":
            place = f"case when u.{a.c} <> 0 then coalesce({a.d}.share, 0) end"
            return [(Sql(place), Sql(f"p{a.index}"))]
        if shape(a) == "node":
            return [
                (Sql(f"{a.d}.{column}"), Sql(f"{which}{a.index}_{level.number}"))
                for level in _below_root(a)
                for which, column in (("a", level.a), ("z", level.z))
            ]
        return []


@dataclass(frozen=True, slots=True)
class Span:
    """One column of a group's box: aggregated over its units, and box `b` extended by unit `x`."""

    name: Sql
    over: Sql
    widened: Sql


def spans(attributes: Sequence[Attribute], words: Packed) -> list[Span]:
    """The columns of a box.

    For a range: the lowest and the highest place, and whether it has NULL. For a set: its bits. For
    a node: the code and the ancestors that all units share, else NULL.
    """
    made: list[Span] = []

    def add(name: str, over: str, widened: str) -> None:
        made.append(Span(Sql(name), Sql(over), Sql(widened)))

    def shared(name: str) -> None:
        over = f"case when min({name}) = max({name}) then min({name}) end"
        add(name, over, f"case when x.{name} = b.{name} then x.{name} end")

    for a in attributes:
        i = a.index
        if shape(a) == "range":
            add(f"lo{i}", f"min(p{i})", f"least(b.lo{i}, x.p{i})")
            add(f"hi{i}", f"max(p{i})", f"greatest(b.hi{i}, x.p{i})")
            if a.nulls:
                null = "case when {}c{} = 0 then 1 else 0 end"
                widened = f"greatest(b.null{i}, {null.format('x.', i)})"
                add(f"null{i}", f"max({null.format('', i)})", widened)
        elif shape(a) == "node":
            shared(f"c{i}")
            for level in _below_root(a):
                shared(f"a{i}_{level.number}")
                add(f"z{i}_{level.number}", f"max(z{i}_{level.number})", f"x.z{i}_{level.number}")
    for word, _ in words.columns:
        add(f"{word}", f"bit_or({word})", f"b.{word} | x.{word}")
    return made


def loss(attributes: Sequence[Attribute]) -> Sql:
    """NCP of a box, in units of 1/SCALE, as an integer."""
    return _scaled_integer(" + ".join(_times_weight(a, _of_box(a)) for a in attributes))


def _of_box(a: Attribute) -> str:
    i = a.index
    match shape(a):
        case "range":
            width = f"coalesce(hi{i} - lo{i}, 0)"
            mixed = f"({width} * {_size(a) - 1} + 1) / {_size(a)}"
            return (
                f"case when null{i} = 1 and lo{i} is not null then {mixed} else {width} end"
                if a.nulls
                else width
            )
        case "set":
            return f"case when size{i} >= 2 then size{i} / cast({_size(a)} as double) else 0 end"
        case _:
            whens = " ".join(
                f"when a{i}_{level.number} is not null then z{i}_{level.number}"
                for level in _below_root(a)
            )
            return f"case when c{i} is not null then 0 {whens} else 1 end"


def distance(attributes: Sequence[Attribute], x: str, y: str) -> Sql:
    """NCP of the pair {x, y}, in units of 1/SCALE, as an integer."""
    return _scaled_integer(" + ".join(_times_weight(a, _of_pair(a, x, y)) for a in attributes))


def _times_weight(a: Attribute, lost: str) -> str:
    return f"({lost})" if a.weight is None else f"({lost}) * {lit(float(a.weight))}"


def _of_pair(a: Attribute, x: str, y: str) -> str:
    i = a.index
    one = "cast(1 as double)"
    match shape(a):
        case "range":
            width = f"abs({x}.p{i} - {y}.p{i})"
            other = f"coalesce({width}, {one} / {_size(a)})"
        case "set":
            other = f"2 * {one} / {_size(a)}"
        case _:
            whens = " ".join(
                f"when {x}.a{i}_{j} = {y}.a{i}_{j} then {x}.z{i}_{j}"
                for j in (level.number for level in _below_root(a))
            )
            other = f"case {whens} else 1 end" if whens else "1"
    return f"case when {x}.c{i} = {y}.c{i} then 0 else {other} end"


def _below_root(a: Attribute) -> Sequence[Level]:
    """The levels of a hierarchy below the root."""
    return a.levels[:-1]


def _scaled_integer(amount: str) -> Sql:
    return Sql(f"cast(round({SCALE} * cast({amount} as double)) as bigint)")


def _size(a: Attribute) -> int:
    """Number of values in the domain, including NULL."""
    return max(a.distinct + (a.nulls > 0), 1)


def seed_stages(
    attributes: Sequence[Attribute], how: Partitioning, grow: Growth, *, rebalance: bool
) -> tuple[Stage, ...]:
    """Stages that write `members` (unit, class_id) from `units`.

    Without `rebalance`, a class of which one side would have fewer than k rows is generalized as
    a whole (LGB); with it, the cut moves to the nearest position at which both sides have k rows
    (after Xu's adjustment of small groups).
    """
    points = [Point(a) for a in attributes]
    words = fold([a for a in attributes if shape(a) == "set"])
    further = [name for point in points for _, name in point.columns]
    further += [name for name, _ in words.columns]
    names = [Sql("start"), *(Sql(f"far_{n}") for n in range(1, grow.scans + 1))]
    scans = tuple(pairwise(names))
    context = {
        "units": UNITS,
        "open": OPEN,
        "members": MEMBERS,
        "seeds": SEEDS,
        "dealt": DEALT,
        "sides": SIDES,
        "domains": [a.domain for a in attributes],
        "points": points,
        "words": words.columns,
        "state": [a.c for a in attributes] + further,
        # a box needs the code for nodes, and for ranges only to recognize NULL
        "boxed": [a.c for a in attributes if a.nulls or shape(a) == "node"] + further,
        "spans": spans(attributes, words),
        "sizes": [(Sql(f"size{i}"), size) for i, size in words.sizes.items()],
        "loss": loss(attributes),
        "first_class": how.first_class,
        "k": how.k,
        "rebalance": rebalance,
        "attempts": 0 if rebalance else grow.attempts,
        "early": grow.early,
        "late": grow.late,
        "choice": grow.choice,
        "literal": grow.most is not None,
        "farthest": how.k if grow.most is None else 1,
        "scans": scans,
        "rounds": tuple(zip(scans[::2], scans[1::2], strict=True)),
        "distance": distance(attributes, "x", "y"),
    }
    return (
        *(() if grow.most is None else (_few_units(grow.most),)),
        Step("units as points", "lgb/points", context),
        Step("no final classes yet", "mondrian/members", context),
        Loop(
            "divide classes",
            (
                Step("choose seeds", "lgb/choose_seeds", context),
                Step("groups of one seed", "lgb/seeded", context),
                Loop(
                    "grow groups",
                    (Step("grow", "lgb/grow", context),),
                    until=Step("units in no group", "lgb/ungrouped", context),
                    at_most=grow.rounds,
                ),
                Step("divide", "lgb/divide", context),
                Step("close classes", "lgb/close_undivided", context),
                Step("apply the division", "lgb/apply_division", context),
            ),
            until=Step("open classes", "mondrian/open_classes", context),
            at_most=MAX_LEVELS,
        ),
    )


def _few_units(most: int) -> Guard:
    """A guard against large tables: every unit is a statement of its own."""

    def explain(row: Row) -> Problem:
        said = f"adds tuples one by one, to {most:,} at most, and there are {row[0]:,} of them"
        return Problem("algorithm.generalization", said, hint="generalization: ncp")

    step = Step("few tuples", "lgb/many_units", {"units": UNITS, "most": most})
    return Guard(step, explain, InfeasibleError)
