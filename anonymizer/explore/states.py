"""The states of the desk: policies with their figures, and the frontier around one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from anonymizer.contract.checks import Check
from anonymizer.engines.execute import Event
from anonymizer.guarantees.requirements import BY_NAME, GUARANTEES
from anonymizer.measure.usefulness import little_left
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.review.grid import Point, marked, point
from anonymizer.review.trial import Bench, Figures, alone


def page_figures(found: Figures) -> dict[str, Any]:
    """A trial as the page shows it, under the names of a run's measures."""
    told = {
        "rows": found.rows,
        "seconds": round(found.seconds, 3),
        "problems": [problem.as_dict() for problem in found.problems],
        "holds": found.holds,
    }
    if not found.runs:
        return told
    return told | {
        "unit": found.unit,
        "smallest": found.smallest,
        "measures": {
            name: found.measures.get(name)
            for name in ("rows", "persons", "suppressed", "classes", "class_min", "class_mean",
                         "class_max", "ncp", "suppressed_share")
        },
        "risk": found.risk,
        "largest_risk": found.largest_risk,
        "loss": found.loss,
        "losses": found.losses,
        "checks": list(_checks(found)),
        "limit": found.limit,
        "little": [str(one) for one in little_left(found.measures)],
    }  # fmt: skip


def _checks(found: Figures) -> Iterator[dict[str, Any]]:
    """The guarantees and their achieved figures; conditions of form only if they fail."""
    listed = {ask.name.format(name=g.name) for g in GUARANTEES for ask in g.asks}
    for check in found.checks:
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
    outcomes: dict[str, Figures] = field(default_factory=dict)
    details: dict[str, dict[str, Any]] = field(default_factory=dict)
    frontier: dict[str, Any] | None = None
    why: dict[str, Any] | None = None
    refused: dict[str, Any] | None = None
    """Choices that no policy can have, with reasons (`choices.refused_choices`)."""

    def take_results(self, other: State) -> None:
        """Take over what was found for a state whose policy does the same."""
        self.outcomes, self.details = {**other.outcomes}, {**other.details}
        self.frontier, self.why, self.refused = other.frontier, other.why, other.refused


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


class StopRequested(Exception):
    """Raised when the work is no longer wanted."""


@dataclass(slots=True)
class Stop:
    """A request to end a piece of work."""

    event: threading.Event = field(default_factory=threading.Event)

    def check(self) -> None:
        """Raises Stopped if the work was asked to end."""
        if self.event.is_set():
            raise StopRequested


def figures_of(
    bench: Bench,
    policy: Policy,
    stop: Stop | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Figures:
    """Run a policy without its ledger, which the desk does not write to.

    Raises Stopped if `stop` is set.
    """

    def heard(event: Event) -> None:
        if stop is not None:
            stop.check()
        progress(_share(event))

    found = bench.figures(alone(policy), heard)
    if stop is not None and not found.runs:
        stop.check()
    return found


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
    first: Figures,
) -> None:
    """Try every point, and report the frontier after each. `first`: the policy itself."""
    if policy.algorithm.classless:
        return

    def again(chosen: AnyPolicy) -> Figures:
        assert isinstance(chosen, Policy)
        return figures_of(bench, chosen, stop)

    points: list[Point] = []
    wanted = options_of(policy)
    for number, options in enumerate(wanted, 1):
        stop.check()
        points.append(point(alone(policy), options, again if options else lambda _: first))
        told({"points": list(_page_points(policy, points)), "done": number, "of": len(wanted)})


def _page_points(policy: Policy, points: list[Point]) -> Iterator[dict[str, Any]]:
    for one in marked(points):
        yield {
            "now": not one.options,
            "name": one.name or _name(policy),
            "edits": list(_edits(one)),
            **{name: getattr(one, name) for name in FIGURES},
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
