"""A policy run over a grid of its options: risk against utility, and the Pareto front.

Every point of the grid is compiled, run, verified like any release, and discarded; nothing is
published. What all points share (the snapshot, hierarchies, codes, distinct tuples) is computed
once: a statement is skipped if its table was made by the same text and inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from anonymizer.compile import ident
from anonymizer.engines.base import Limits
from anonymizer.engines.duckdb.session import open_session
from anonymizer.engines.execute import Executor
from anonymizer.engines.session import Database, Session
from anonymizer.errors import PolicyError
from anonymizer.policy import AnyPolicy, Policy, SchemaPolicy
from anonymizer.process.seed import Seed
from anonymizer.review.diff.trial import Tried, tried_tables
from anonymizer.review.scratch import Scratch, in_scratch
from anonymizer.review.sweep.grid import Point, check, combinations, marked, timed, varied
from anonymizer.review.tables.observers import ONE, TWO
from anonymizer.review.tables.opening import open_source
from anonymizer.source.masking.keys import bound_values
from anonymizer.steps import Compute, Row, Step


def points_of_tables(
    policy: SchemaPolicy,
    grid: Sequence[Mapping[str, str]],
    database: Database,
    seed: Seed,
    limits: Limits | None,
) -> list[Point]:
    """Every point of the grid, all with the same observer, so that their risks are comparable."""
    knows = TWO if any(_events(policy, options) > 1 for options in grid) else ONE
    return [
        timed(options, partial(_point_of_tables, policy, options, database, seed, limits, knows))
        for options in grid
    ]


def _events(policy: SchemaPolicy, options: Mapping[str, str]) -> int:
    try:
        point = varied(policy, options)
    except PolicyError:
        return 0
    assert isinstance(point, SchemaPolicy)
    return point.privacy.knows.events


def _point_of_tables(
    policy: SchemaPolicy,
    options: Mapping[str, str],
    database: Database,
    seed: Seed,
    limits: Limits | None,
    knows: str,
) -> Point:
    point = varied(policy, options)
    assert isinstance(point, SchemaPolicy)
    with open_source(point, database, limits=limits) as session:
        session.engine.binds = bound_values(point, seed.secret)
        return _figures(point, options, tried_tables(point, session), knows)


def _figures(policy: SchemaPolicy, options: Mapping[str, str], found: Tried, knows: str) -> Point:
    # (without an event column there is no observer who knows an event)
    observer = next((one for one in found.observers if one.knows == knows), None)
    classes, share = found.measures["classes"], found.suppression.share
    rows, lost, events = _events_lost(found.others)
    loss = found.measures["ncp"]
    if observer is not None:
        risk, largest = observer.found, 1 / observer.fewest
    else:
        risk = classes / found.suppression.published
        largest = 1 / found.measures["class_min"]
    return Point(
        dict(options),
        holds=found.verification.passed and found.suppression.within(policy.suppression_limit),
        risk=risk,
        largest_risk=largest,
        loss=loss + (events or 0.0),
        suppressed=share,
        classes=classes,
        parts={
            "knows": knows if observer is not None else None,
            "loss_quasi": loss,
            "loss_events": events,
            "rows_left_out": lost / rows if rows else 0.0,
        },
    )


def _events_lost(others: Mapping[str, Any]) -> tuple[int, int, float | None]:
    """Rows, suppressed rows, and the mean NCP of an event cell; suppressed rows cost 1 per cell."""
    rows = sum(one["rows"] + one["suppressed"] for one in others.values())
    lost = sum(one["suppressed"] for one in others.values())
    cells, ncp = 0, 0.0
    for one in others.values():
        of_table = one["rows"] + one["suppressed"]
        cells += of_table * len(one["ncp"])
        ncp += of_table * sum(one["ncp"].values())
    return rows, lost, ncp / cells if cells else None


@dataclass(slots=True)
class SharedExecutor(Executor):
    """Skips a statement if its table already holds the result.

    A table's content is identified by the statement that created it and the contents it read.
    """

    held: dict[tuple[str, ...], object] = field(default_factory=dict)
    left_out: int = 0

    def _step(
        self, step: Step, stage: str, number: int, of: int, round_: int | None = None
    ) -> list[Row]:
        statement = step.statement()
        if statement.kind == "query":
            return Executor._step(self, step, stage, number, of, round_)
        inputs = tuple(sorted((table, self.held.get(table)) for table in statement.reads))
        key = hash((statement.text, repr(inputs)))
        (target,) = statement.writes
        if statement.kind == "create" and self.held.get(target) == key:
            self.left_out += 1
            return []
        before = self.held.pop(target, None)
        rows = Executor._step(self, step, stage, number, of, round_)
        self.held[target] = key if statement.kind == "create" else hash((before, key))
        return rows

    def _compute(self, compute: Compute, stage: str, number: int, of: int) -> None:
        made: list[Row] = []

        def noted(rows: list[Row]) -> list[Row]:
            made.extend(compute.function(rows))
            return made

        self.held.pop((ident(compute.target).text,), None)
        Executor._compute(self, replace(compute, function=noted), stage, number, of)
        # a result computed in Python is identified by its content only
        self.held[(ident(compute.target).text,)] = hash((compute.columns, repr(made)))


def sweep(
    policy: AnyPolicy,
    database: Database = None,
    *,
    vary: Sequence[str],
    seed: int = 0,
    limits: Limits | None = None,
) -> list[Point]:
    """Run every combination of the options in `vary`: `k=2,5,10`, `algorithm.split=loss,median`.

    `k`, `l`, `t`, `algorithm` are short for the table's k, the guarantees of all sensitive columns
    that have one, and the algorithm's name; `knows.events` is the number of a person's rows that
    may be known in several tables; every other name is a path in the policy. A point that fails
    contains the reason. Points of several tables share no work. Raises PolicyError for options that
    cannot be read, and for names and values that no policy has.
    """
    grid = combinations(vary)
    check(policy, grid)
    if isinstance(policy, SchemaPolicy):
        return marked(points_of_tables(policy, grid, database, Seed.test(seed), limits))
    points: list[Point] = []
    with open_session(policy, database, limits=limits) as session:
        session.engine.binds = bound_values(policy, Seed.test(seed).secret)
        executor = SharedExecutor(session.engine)
        for options in grid:
            run = partial(_point, policy, options, session, executor)
            points.append(timed(options, run))
    return marked(points)


def _point(
    policy: Policy, options: dict[str, str], session: Session, executor: SharedExecutor
) -> Point:
    chosen, left_out = varied(policy, options), executor.left_out
    assert isinstance(chosen, Policy)
    if chosen.algorithm.classless:
        said = "has neither classes nor losses, so that there is nothing to compare"
        raise PolicyError.at("algorithm.name", f"{chosen.algorithm.name} {said}")
    point = point_of(chosen, options, in_scratch(chosen, session, executor))
    return replace(point, shared=executor.left_out - left_out)


def point_of(policy: Policy, options: Mapping[str, str], found: Scratch) -> Point:
    """Convert the result of a run in scratch to a point."""
    measures, units = found.measures, found.units(policy)
    return Point(
        dict(options),
        holds=found.holds(policy),
        risk=measures["classes"] / units if units else None,
        largest_risk=1 / found.smallest if found.smallest else None,
        loss=measures["ncp"],
        suppressed=found.suppression.share,
        classes=measures["classes"],
    )
