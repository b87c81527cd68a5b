"""Lets Ctrl-C, SIGTERM and SIGHUP end a run at any time until it commits, and defers them then.

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
"""Signals that end a run: Ctrl-C, kill, and closing the terminal (not on Windows)."""
AGAIN = 0.1
"""Seconds between two interrupts of a statement that keeps running."""
IGNORED = 5.0
"""Seconds after which a statement counts as ignoring interrupts."""


@dataclass(slots=True)
class _Run:
    """The run of the main thread, the only one that receives signals."""

    decided: bool = False
    came: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Process:
    """The state of the process, to which signals and their handlers belong as well."""

    run: _Run | None = None
    published: bool = False
    abandon: Callable[[], None] | None = None
    """Ends a process whose statement ignores interrupts; only set by the command line."""


_process = _Process()


@contextmanager
def deciding() -> Iterator[None]:
    """Enclose one run. Signals that arrive after `decide` are delivered at the end of the block."""
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
    """Defer signals until the run has ended, because the release is being swapped in."""
    if _process.run is not None and _in_main_thread():
        for number in ENDING:
            # a handler that Python did not set could not be restored
            if signal.getsignal(number) is not None:
                signal.signal(number, _wait)
        _process.run.decided = True


@contextmanager
def statement(interrupt: Callable[[], None]) -> Iterator[None]:
    """Enclose one statement of an embedded engine: a signal interrupts it, and is delivered later.

    An exception raised inside the statement would make the engine abandon its tasks, and a
    recursive query waits for them forever (DuckDB 2.0). The statement is interrupted repeatedly
    until it ends, because the engine ignores an interrupt before the statement's start.

    About one interrupt in a hundred of a recursive query never ends: the thread that waits for the
    result notices it first and abandons the remaining tasks, while the recursion waits for them in
    another thread. Nothing wakes the two again, so the command line ends the process.
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
            repeating.join()  # later statements, such as a rollback, must not be interrupted
        for number in ours:
            signal.signal(number, before[number])
        for caught in came:
            signal.raise_signal(caught)


@contextmanager
def abandoning(end: Callable[[], None]) -> Iterator[None]:
    """Call `end` in a separate thread if a statement ignores interrupts.

    `end` ends the process. It is never called after `decide`, which defers signals.
    """
    _process.abandon = end
    try:
        yield
    finally:
        _process.abandon = None


def has_published() -> bool:
    """Return whether the last run of this process has published its release."""
    return _process.published


def forget() -> None:
    """Reset `has_published` at the start of a new command."""
    _process.published = False


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _wait(number: int, frame: FrameType | None) -> None:
    del frame
    if _process.run is not None:
        _process.run.came.append(number)
