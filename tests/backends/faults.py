"""What a fault is played on, on every engine: a source, and a release that runs replace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.engines.execute import Event, Listener
from tests.backends.tables import PEOPLE, people

MARK = "QXMARKVALUE"
"""Stands in the words of some faults, as a value of the source might."""
SOURCE = [(*row[:-3], MARK if row[-3] == "gout" else row[-3], *row[-2:]) for row in people(60)]
COLUMNS: dict[str, Any] = {name: {"role": "drop"} for name in PEOPLE} | {
    "age": {"role": "quasi"},
    "zip": {"role": "quasi"},
    "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
SEEDS = (1, 2)
"""Of the old release and the new one, in turns."""


@dataclass
class Stage(ABC):
    """A source, and a release by one of two seeds, whose rows are known."""

    rows: dict[int, list[Any]] = field(default_factory=dict, init=False)

    @abstractmethod
    def run(self, seed: int) -> object:
        """Publish the release of a seed."""

    @abstractmethod
    def published(self) -> list[Any]:
        """The rows that readers of the release see."""

    @abstractmethod
    def passes(self) -> bool:
        """Whether the release passes its verification."""

    @abstractmethod
    def left(self) -> list[str]:
        """What is neither the source nor the one release."""

    def build(self) -> None:
        """Publish the releases of both seeds, one after the other."""
        for seed in SEEDS:
            self.run(seed)
            self.rows[seed] = self.published()

    def standing(self) -> int:
        """The seed whose release is published; it is complete, and passes its verification."""
        now = self.published()
        (seed,) = (seed for seed, rows in self.rows.items() if rows == now)
        assert self.passes()
        return seed

    def seeds(self) -> tuple[int, int]:
        """The seed of the release that is published, and that of the next one."""
        old = self.standing()
        (new,) = {*SEEDS} - {old}
        return old, new

    def unharmed(self, new: int) -> None:
        """Nothing is left of a run, and the next one publishes what it would have published."""
        assert self.left() == []
        self.run(new)
        assert self.standing() == new
        assert self.left() == []


def at(name: str, act: Callable[[], object]) -> Listener:
    """Act once, as soon as a run has executed a step of this name."""
    left = [name]

    def listen(event: Event) -> None:
        if event.step.name in left:
            left.clear()
            act()

    return listen


def worded(problems: Sequence[Mapping[str, Any]], says: str, *shown: str) -> None:
    """One problem, with a path and a way on; `shown` is all that a user sees of it."""
    (problem,) = problems
    assert says in problem["message"]
    assert problem["path"]
    assert problem["hint"]
    for text in (*problem.values(), *shown):
        assert MARK not in (text or "")
        assert "Traceback" not in (text or "")
