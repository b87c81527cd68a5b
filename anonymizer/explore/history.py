"""The states of a policy on the desk: undo, redo, and the results for each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anonymizer.explore.outcome import Outcome
from anonymizer.policy import Policy

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
