"""Try policies one after the other, on a source or a sample of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anonymizer.contract.checks import Check
from anonymizer.engines.execute import Event
from anonymizer.engines.session import Session
from anonymizer.errors import AnonymizerError, PolicyError, Problem, SourceError
from anonymizer.guarantees.requirements import BY_NAME, GUARANTEES
from anonymizer.measure.usefulness import little_left, losses_of
from anonymizer.policy import Policy
from anonymizer.policy.algorithms import Mondrian
from anonymizer.process.secret import Seed
from anonymizer.review.diff.trial import Trial, guarantees_of, whole_of
from anonymizer.review.inputs import Scratch, in_scratch, unit_of
from anonymizer.review.preview import sample_of
from anonymizer.review.sweep import Point, SharedExecutor, marked, point_of, varied
from anonymizer.source.masking.masks import bound_values
from anonymizer.steps import Note, Stage, Step

# The effect of a policy on a table or a sample, as the page shows it, and the states tried.


@dataclass(frozen=True, slots=True)
class Outcome:
    """A trial run in figures; without figures if the policy cannot run."""

    rows: int
    """Number of rows it was tried on."""
    seconds: float
    figures: dict[str, Any]
    trial: Trial
    problems: tuple[Problem, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "seconds": round(self.seconds, 3),
            "problems": [problem.as_dict() for problem in self.problems],
            **self.figures,
        }


def outcome_of(policy: Policy, found: Scratch, rows: int, seconds: float) -> Outcome:
    """The figures of a run in scratch, under the names of a run's measures."""
    measures = found.measures
    shared = whole_of(policy, found)
    losses = losses_of(measures)
    figures = {
        "holds": found.holds(policy),
        "unit": unit_of(policy),
        "smallest": found.smallest,
        "measures": {
            name: measures.get(name)
            for name in ("rows", "persons", "suppressed", "classes", "class_min", "class_mean",
                         "class_max", "ncp", "suppressed_share")
        },
        "risk": shared.get("mean risk"),
        "largest_risk": shared.get("largest risk"),
        "loss": measures.get("ncp"),
        "losses": losses,
        "checks": list(_checks(found)),
        "limit": policy.suppression_limit,
        "little": [str(one) for one in little_left(measures)],
    }  # fmt: skip
    trial = Trial(
        achieved=guarantees_of(policy, found),
        figures={"rows published": measures["rows"], **shared},
        losses=losses,
        holds=found.holds(policy),
    )
    return Outcome(rows, seconds, figures, trial)


def failed(problems: tuple[Problem, ...], rows: int, seconds: float) -> Outcome:
    """An outcome with only the reasons why the policy cannot run."""
    return Outcome(rows, seconds, {"holds": False}, Trial(problems=problems), problems)


def _checks(found: Scratch) -> Iterator[dict[str, Any]]:
    """The guarantees and their achieved figures; conditions of form only if they fail."""
    listed = {ask.name.format(name=g.name) for g in GUARANTEES for ask in g.asks}
    for check in found.verification.checks:
        if check.name in listed or not check.passed:
            yield {
                "name": check.name,
                "column": check.column,
                "required": _bare(check, check.required),
                "achieved": _bare(check, check.achieved),
                "passed": check.passed,
            }


def _bare(check: Check, figure: Any) -> Any:
    """A figure without the data values that a guarantee may list."""
    guarantee = BY_NAME.get(check.name)
    hidden = guarantee.values if guarantee is not None else ()
    if isinstance(figure, dict):
        return {name: value for name, value in figure.items() if name not in hidden}
    return figure


MOST = 200
"""Number of states kept; the oldest is dropped first, but never the initial one."""


@dataclass(slots=True)
class State:
    """A policy with its outcomes: `sample`, `whole`."""

    number: int
    label: str
    text: str
    policy: Policy
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    frontier: dict[str, Any] | None = None
    why: dict[str, Any] | None = None


@dataclass(slots=True)
class History:
    """The states in order, and the current one."""

    states: list[State]
    at: int = 0
    made: int = 1

    @property
    def now(self) -> State:
        return self.states[self.at]

    def add(self, label: str, text: str, policy: Policy) -> State:
        """Add a state after the current one; undone states are discarded."""
        state = State(self.made, label, text, policy)
        self.made += 1
        self.states = [*self.states[: self.at + 1], state]
        if len(self.states) > MOST:
            del self.states[1]
        self.at = len(self.states) - 1
        return state

    def move(self, by: int) -> State:
        """Undo (-1) or redo (1); no effect at either end."""
        self.at = min(max(self.at + by, 0), len(self.states) - 1)
        return self.now

    def find(self, number: object) -> State | None:
        return next((state for state in self.states if state.number == number), None)


# A session that tries policies one after the other, on a source or a sample of it.


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
