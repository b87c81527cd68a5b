"""A lock for runs that publish into the same file, taken before they start their work.

The lock is on an empty file in the temporary folder, and is released when the process ends, however
it ends. Runs on other machines are detected when the release is swapped in.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from anonymizer.errors import Problem, TargetError
from anonymizer.process.run_folder import base_folder

PREFIX = "anonymizer-turn-"
PATIENCE = 10.0
"""Seconds to wait for another run on the same file."""
_held: list[Path] = []
"""The locks that this process holds."""


@contextmanager
def turn(file: Path | None) -> Iterator[None]:
    """Hold the lock for `file`. Raises TargetError if another run holds it for too long."""
    handle = _taken(file) if file is not None else None
    if handle is None or file is None:
        yield
        return
    lock = _lock_of(file)
    _held.append(lock)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink()
        _held.remove(lock)
        os.close(handle)


def remove_own() -> None:
    """Remove the locks of this process, which is about to be ended."""
    for path in _held:
        with suppress(OSError):
            path.unlink()


def _lock_of(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]
    return base_folder() / f"{PREFIX}{name}"


def _taken(file: Path) -> int | None:
    """The open lock; None if the system has no such locks, or it is another user's."""
    try:
        import fcntl
    except ImportError:
        return None
    path, until = _lock_of(file), time.monotonic() + PATIENCE
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is(handle, path):
                return handle
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(handle)
                raise TargetError(_busy(file)) from None
        os.close(handle)
        time.sleep(0.1)


def _is(handle: int, path: Path) -> bool:
    """Whether the locked file is still at its path: its previous holder may have removed it."""
    try:
        found = path.stat()
    except OSError:
        return False
    held = os.fstat(handle)
    return (held.st_dev, held.st_ino) == (found.st_dev, found.st_ino)


def _busy(file: Path) -> Problem:
    return Problem(
        "publish",
        f"another run is at work on {file.name}: nothing was read",
        hint="run again when it has ended, one run after the other",
    )
