"""Runs steps in a second session of the engine, beside the steps that follow them in the plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from anonymizer.compile import Statement
from anonymizer.engines.base import Engine
from anonymizer.process import interrupts

Name: TypeAlias = tuple[str, ...]
"""A table, as statements name it."""
Work: TypeAlias = Callable[[Engine], Callable[[], None]]
"""Runs a statement on the engine it is given, in another thread; returns what is left to do with
its result in the thread of the run."""


@dataclass(slots=True)
class Aside:
    """A second session, and what runs there: one statement after the other."""

    engine: Engine
    _pool: ThreadPoolExecutor
    _running: list[Future[Callable[[], None]]] = field(default_factory=list)
    _read: set[Name] = field(default_factory=set)
    _written: set[Name] = field(default_factory=set)
    """Tables that the statements in work read, and those that they write."""

    def begin(self, statement: Statement, work: Work) -> None:
        """Let `work` run after what has begun before."""
        self._read |= statement.reads
        self._written |= statement.writes
        self._running.append(self._pool.submit(work, self.engine))

    def hinders(self, reads: Collection[Name], writes: Collection[Name]) -> bool:
        """Whether what reads and writes these tables has to wait for a statement in work."""
        return not (
            self._written.isdisjoint(reads)
            and self._written.isdisjoint(writes)
            and self._read.isdisjoint(writes)
        )

    def settle(self) -> None:
        """Wait for the statements in work; raises the error of the first that failed."""
        running, self._running = self._running, []
        try:
            with interrupts.statement(self.engine.interrupt):
                wait(running)
            for future in running:
                future.result()()
        except BaseException:
            self._running = running
            raise
        self._read.clear()
        self._written.clear()

    def _end(self) -> None:
        """Interrupt what is still in work, until it has ended.

        An interruption that comes between two statements is forgotten, so there may be several.
        """
        left = {future for future in self._running if not future.cancel()}
        while left:
            self.engine.interrupt()
            _, left = wait(left, timeout=interrupts.AGAIN)


@contextmanager
def aside(engine: Engine) -> Iterator[Aside]:
    """What runs steps in `engine`, a second session; whatever is left at the end is given up."""
    with ThreadPoolExecutor(1, "aside") as pool:
        found = Aside(engine, pool)
        try:
            yield found
        finally:
            found._end()
