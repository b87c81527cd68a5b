"""The states of a policy at the desk: undo, redo, and what was found of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from anonymizer.explore.outcome import Outcome
from anonymizer.policy import Policy

MOST = 200
"""States that are kept; the oldest goes first, but never the one that the desk began with."""


@dataclass(slots=True)
class State:
    """A policy with what was found of it: `sample`, `whole`."""

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
    """The states in order, and the one at hand."""

    states: list[State]
    at: int = 0
    made: int = 1

    @property
    def now(self) -> State:
        return self.states[self.at]

    def add(self, label: str, text: str, policy: Policy) -> State:
        """A new state after the one at hand; what was undone is gone."""
        state = State(self.made, label, text, policy)
        self.made += 1
        self.states = [*self.states[: self.at + 1], state]
        if len(self.states) > MOST:
            del self.states[1]
        self.at = len(self.states) - 1
        return state

    def move(self, by: int) -> State:
        """Undo (-1) or redo (1); at either end nothing happens."""
        self.at = min(max(self.at + by, 0), len(self.states) - 1)
        return self.now

    def find(self, number: object) -> State | None:
        return next((state for state in self.states if state.number == number), None)
