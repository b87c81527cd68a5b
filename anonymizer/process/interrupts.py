"""Ctrl-C, SIGTERM and SIGHUP end a run at any moment until it commits, and then are deferred.

Once a release is being swapped in, the swap completes, and so do the steps that belong to it: the
ledger entry, the copy of the manifest, the clean-up.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Signals that end a run: a key, a polite kill, and a terminal that was closed (not on Windows)."""
AGAIN = 0.1
"""Seconds between two interruptions of a statement that goes on."""
IGNORED = 5.0
"""Seconds of interruptions after which a statement is held to ignore them."""


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
    abandon: Callable[[], None] | None = None
    """Ends a process whose statement ignores interruptions; set by the command line only."""


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
    recursive query waits for them for ever (DuckDB 2.0). The statement is interrupted again and
    again until it ends, because the engine forgets an interruption that comes before its own start.

    About one interruption in a hundred of a recursive query never ends: the thread that waits for
    the result sees it first and gives up the tasks that are left, while the recursion waits for
    them in another thread. Nothing wakes the two again, so the command line gives up the process.
    """
    if not _in_main_thread():
        yield
        return
    came: list[int] = []
    ended = threading.Event()

    def again() -> None:
        ignored_at = time.monotonic() + IGNORED
        while not ended.wait(AGAIN):
            interrupt()
            if _process.abandon is not None and time.monotonic() > ignored_at:
                _process.abandon()

    repeating = threading.Thread(target=again, daemon=True)

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        interrupt()
        if not came:
            repeating.start()
        came.append(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    # ignored signals stay ignored, and signals deferred to the end of the run stay deferred
    ours = [n for n, handler in before.items() if callable(handler) and handler != _wait]
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        ended.set()
        if repeating.ident is not None:
            repeating.join()  # what follows, such as a rollback, is not to be interrupted
        for number in ours:
            signal.signal(number, before[number])
        for caught in came:
            signal.raise_signal(caught)


@contextmanager
def abandoning(end: Callable[[], None]) -> Iterator[None]:
    """`end` is called in a thread of its own for a statement that ignores interruptions.

    It ends the process. That comes never after `decide`: signals wait from then on.
    """
    _process.abandon = end
    try:
        yield
    finally:
        _process.abandon = None


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
