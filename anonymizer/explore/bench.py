"""A session that tries policies one after the other, on a source or a sample of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anonymizer.engines.execute import Event
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, PolicyError, SourceError
from anonymizer.explore.outcome import Outcome, failed, outcome_of
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Mondrian
from anonymizer.process.seed import Seed
from anonymizer.review.forecast import sample_of
from anonymizer.review.scratch import Scratch, in_scratch
from anonymizer.review.sweep.grid import Point, marked, varied
from anonymizer.review.sweep.run import SharedExecutor, point_of
from anonymizer.source.masking.keys import bound_values
from anonymizer.steps import Note, Stage, Step

BOUND = "bound_"
"""Prefix of the work tables for the lower bound of the loss, which is meaningless on a sample."""
LONG = 50_000
"""Up to this many rows, statements are short enough that a run is stopped between two of them.

Interrupting a recursive statement can block the engine for ever; larger tables have none."""


class Stopped(Exception):
    """Raised when the work is no longer wanted."""


@dataclass(slots=True)
class Stop:
    """A request to end a piece of work."""

    event: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Stopped if the work was asked to end."""
        if self.event.is_set():
            raise Stopped


def alone(policy: Policy) -> Policy:
    """The policy without references to other releases; the desk does not write to a ledger."""
    return policy.model_copy(update={"ledger": None, "republish": None})


def without_refinement(policy: Policy) -> Policy:
    """The policy for an immediate answer: without refinement where that only lowers the loss.

    If a rule compares classes with the table, refinement stays, because its dealing step finds the
    small classes. So does refinement that the policy requests by name.
    """
    chosen = policy.algorithm
    rules = [column.protect for column in policy.columns.values() if column.protect is not None]
    compared = any(r.t_closeness or r.beta_likeness or r.delta_disclosure for r in rules)
    if not isinstance(chosen, Mondrian) or chosen.must_refine or compared:
        return policy
    return policy.model_copy(update={"algorithm": chosen.model_copy(update={"refine": 0})})


@dataclass(slots=True)
class Bench:
    """Tries policies in one thread at a time; statements whose result exists are not rerun."""

    session: Session
    rows: int
    sampled: bool
    lock: threading.Lock = field(default_factory=threading.Lock)
    _shared: SharedExecutor | None = None

    @classmethod
    def of(cls, policy: Policy, session: Session, most: int | None = None) -> Bench:
        """Create a bench for the source of an open session, or for a sample of `most` rows."""
        text = f"select count(*) from {session.source.sql}"
        rows = int(session.engine.raw(text, "source")[0][0])
        if rows == 0:
            raise SourceError.at("source", "has no rows", hint="there is nothing to release")
        if most is None or rows <= most:
            return cls(session, rows, False)
        sample, drawn = sample_of(policy, session, rows, most)
        return cls(sample, drawn, True)

    def tried(
        self,
        policy: Policy,
        stop: Stop | None = None,
        progress: Callable[[float], None] = lambda share: None,
    ) -> tuple[Outcome, Scratch | None]:
        """Run a policy in scratch; the outcome contains any problems.

        Raises Stopped if `stop` is set. The tables exist until the next call.
        """
        given = alone(policy)
        if self.sampled:
            given = without_refinement(given)
        began = time.perf_counter()

        def heard(event: Event) -> None:
            if stop is not None:
                stop.check()
            progress(_share(event))

        try:
            self.session.engine.binds = bound_values(given, Seed.test(0).secret)
            executor = SharedExecutor(self.session.engine, heard)
            if self._shared is not None:
                executor.held = self._shared.held
            self._shared = executor
            found = in_scratch(
                given, self.session, executor, lambda stage: self.sampled and _of_bound(stage)
            )
        except AnonymizerError as error:
            if stop is not None:
                stop.check()
            return failed(error.problems, self.rows, time.perf_counter() - began), None
        progress(1.0)
        return outcome_of(given, found, self.rows, time.perf_counter() - began), found

    def interrupt(self) -> None:
        """Interrupt the running statement, if it may take long."""
        if self.rows > LONG:
            self.session.engine.interrupt()


PHASES = {
    "reading": (0.0, 0.2),
    "checking": (0.2, 0.05),
    "anonymizing": (0.25, 0.55),
    "writing": (0.8, 0.1),
}
"""Approximate start and duration of each phase, as shares of a run; the rest is verification."""


def _share(event: Event) -> float:
    begins, takes = PHASES.get(event.phase, (0.9, 0.0))
    return begins + takes * event.number / max(event.of, 1)


def _of_bound(stage: Stage) -> bool:
    """Whether a stage serves only the lower bound of the loss."""
    step = stage if isinstance(stage, Step) else stage.query if isinstance(stage, Note) else None
    if step is None:
        return False
    statement = step.statement()
    tables = statement.writes or statement.reads  # (a note writes nothing)
    return any(table[-1].rsplit(".", 1)[-1].startswith(BOUND) for table in tables)


LADDER = (2, 3, 5, 8, 12, 20, 50)
"""Values of k for the points, in addition to the policy's k."""
FIGURES = (
    *("risk", "largest_risk", "loss", "suppressed", "classes"),
    *("holds", "best", "problem"),
)
"""The figures that are copied to a point unchanged."""
OTHERS = ("mondrian", "lgb", "full_domain")
"""Algorithms that are tried with the policy's own guarantees."""


def options_of(policy: Policy) -> list[dict[str, str]]:
    """The options of the points: k along the ladder, and the algorithm. The policy is first."""
    k = policy.privacy.k_anonymity
    found: list[dict[str, str]] = [{}]
    if k is not None:
        found += [{"k": str(one)} for one in LADDER if one != k]
    found += [{"algorithm": name} for name in OTHERS if name != policy.algorithm.name]
    return found


def frontier(
    policy: Policy,
    bench: Bench,
    stop: Stop,
    told: Callable[[dict[str, Any]], None],
    first: Scratch | None,
) -> None:
    """Try every point, and report the frontier after each. `first`: a run of the policy itself."""
    if policy.algorithm.classless:
        return
    points: list[Point] = []
    wanted = options_of(policy)
    for number, options in enumerate(wanted, 1):
        stop.check()
        points.append(_point(policy, options, bench, stop, None if options else first))
        told({"points": list(_shown(policy, points)), "done": number, "of": len(wanted)})


def _point(
    policy: Policy, options: dict[str, str], bench: Bench, stop: Stop, first: Scratch | None
) -> Point:
    try:
        chosen = varied(alone(policy), options)
    except PolicyError as error:
        return Point(dict(options), problem=str(error.problems[0]))
    assert isinstance(chosen, Policy)
    found = first
    if found is None:
        outcome, found = bench.tried(chosen, stop)
        if found is None:
            return Point(dict(options), problem=str(outcome.problems[0]))
    return point_of(chosen, options, found)


def _shown(policy: Policy, points: list[Point]) -> Iterator[dict[str, Any]]:
    for point in marked(points):
        yield {
            "now": not point.options,
            "name": point.name or _name(policy),
            "edits": list(_edits(point)),
            **{name: getattr(point, name) for name in FIGURES},
        }


def _name(policy: Policy) -> str:
    k = policy.privacy.k_anonymity
    return f"k={k}" if k is not None else policy.algorithm.name


def _edits(point: Point) -> Iterator[dict[str, Any]]:
    for name, value in point.options.items():
        if name == "k":
            yield {"path": ["privacy", "k_anonymity"], "value": int(value)}
        else:
            yield {"path": ["algorithm"], "value": {"name": value}}
