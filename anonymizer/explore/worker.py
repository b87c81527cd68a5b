"""A thread that does the latest piece of work, and stops the one before it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from anonymizer.explore.bench import Stop, Stopped

AGAIN = 0.1
"""Seconds between two interruptions of a statement that continues."""


@dataclass(slots=True)
class Worker:
    """Runs one piece of work at a time, with a `Stop` that is set when other work arrives."""

    name: str
    interrupt: Callable[[], None]
    failed: Callable[[Exception], None]
    _stop: Stop | None = None
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, work: Callable[[Stop], None]) -> None:
        """Stop the current work, and start this."""
        with self._lock:
            before, asked = self._thread, Stop()
            self._ask()
            self._stop = asked
            self._thread = threading.Thread(
                target=self._run, args=(work, asked, before), name=self.name, daemon=True
            )
            self._thread.start()

    def ask(self) -> None:
        """Ask the current work to end, without waiting."""
        with self._lock:
            self._ask()
            self.interrupt()

    def stop(self) -> None:
        """Stop the current work, and wait until it has ended."""
        with self._lock:
            self._ask()
            self._ended(self._thread)

    @property
    def busy(self) -> bool:
        """Whether work is in progress."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def _ask(self) -> None:
        if self._stop is not None:
            self._stop.event.set()

    def _ended(self, thread: threading.Thread | None) -> None:
        """Interrupt the thread until it ends; interrupts before a statement starts are lost."""
        while thread is not None and thread.is_alive():
            self.interrupt()
            thread.join(AGAIN)

    def _run(
        self, work: Callable[[Stop], None], stop: Stop, before: threading.Thread | None
    ) -> None:
        self._ended(before)
        try:
            stop.check()
            work(stop)
        except Stopped:
            pass
        except Exception as error:
            # an interrupted statement fails like any other
            if not stop.event.is_set():
                self.failed(error)
