"""The effect of a policy on a table or a sample, as the page shows it, and the states tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from anonymizer.contract.checks import Check
from anonymizer.errors import Problem
from anonymizer.measure.usefulness import little_left, losses_of
from anonymizer.policy import Policy
from anonymizer.privacy.of_policy.registry import BY_NAME, GUARANTEES
from anonymizer.review.diff.result import Trial
from anonymizer.review.diff.trial import guarantees_of, whole_of
from anonymizer.review.scratch import Scratch, unit_of


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
