"""Ctrl-C and SIGTERM end a run at any moment until it commits, and are deferred from then on.

Once a release is being swapped in, the swap completes, and so do the steps that belong to it: the
ledger entry, the copy of the manifest, the clean-up.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class _Run:
    """The run of the main thread: signals come nowhere else."""

    decided: bool = False
    came: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Process:
    """What a process knows of its runs; signals and their handlers are the process's as well."""

    run: _Run | None = None
    published: bool = False


_process = _Process()


@contextmanager
def deciding() -> Iterator[None]:
    """One run. Signals that came after `decide` are handed on where the block has ended."""
    forget()
    if _process.run is not None or not _in_main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    run = _process.run = _Run()
    try:
        yield
        _process.published = run.decided
    finally:
        _process.run = None
        for ending, handler in before.items():
            if signal.getsignal(ending) == _wait:
                signal.signal(ending, handler)
        for number in run.came:
            signal.raise_signal(number)


def decide() -> None:
    """What comes next puts the release in its place: signals wait until the run has ended."""
    if _process.run is not None and _in_main_thread():
        for number in ENDING:
            # a handler that Python did not set could not be restored
            if signal.getsignal(number) is not None:
                signal.signal(number, _wait)
        _process.run.decided = True


@contextmanager
def statement(interrupt: Callable[[], None]) -> Iterator[None]:
    """One statement of an embedded engine: a signal interrupts it, and is handed on afterwards.

    An exception raised from inside the statement would make the engine give up its tasks, and a
    recursive query waits for them for ever (DuckDB 2.0).
    """
    if not _in_main_thread():
        yield
        return
    came: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)
        interrupt()

    before = {number: signal.getsignal(number) for number in ENDING}
    # ignored signals stay ignored, and signals deferred to the end of the run stay deferred
    ours = [n for n, handler in before.items() if callable(handler) and handler != _wait]
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, before[number])
        for caught in came:
            signal.raise_signal(caught)


def published() -> bool:
    """Whether the last run of this process has put its release in place."""
    return _process.published


def forget() -> None:
    """A new command begins: no run of it has published anything yet."""
    _process.published = False


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _wait(number: int, frame: FrameType | None) -> None:
    del frame
    if _process.run is not None:
        _process.run.came.append(number)
