"""The private folder of a run, and the removal of what dead runs left.

A folder holds spilled data and `run.json` (process id, host, start). It is made with mode 0700
and removed when the run ends; a later run removes it when its owner is dead.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

PREFIX = "anonymizer-run-"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder of mode 0700 that belongs to this process."""

    path: Path

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def base_folder() -> Path:
    """Where run folders are made: `ANONYMIZER_TMPDIR`, else the system's temporary folder."""
    return Path(os.environ.get("ANONYMIZER_TMPDIR") or tempfile.gettempdir())


def create(run_id: str) -> RunFolder:
    """Make the folder of run `run_id`, after removing those of dead runs."""
    remove_dead()
    path = base_folder() / f"{PREFIX}{run_id}"
    path.mkdir(mode=0o700, parents=False)
    _write_owner(path / "run.json", run_id)
    return RunFolder(path)


def owner_record(run_id: str) -> dict[str, object]:
    return {
        "run_id": run_id,
        "pid": os.getpid(),
        "process_start": _process_start(os.getpid()),
        "host": socket.gethostname(),
        "started": time.time(),
    }


def _write_owner(path: Path, run_id: str) -> None:
    path.write_text(json.dumps(owner_record(run_id)))


def is_dead(record: dict[str, object]) -> bool:
    """Whether the process that a record names is gone. Unknown hosts count as alive."""
    if record.get("host") != socket.gethostname():
        return False
    pid = record.get("pid")
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    # the number may have been given to another process since
    return record.get("process_start") != _process_start(pid)


def remove_dead() -> list[Path]:
    """Remove the run folders whose owner is dead; returns what was removed."""
    removed = []
    for path in sorted(base_folder().glob(f"{PREFIX}*")):
        try:
            record = json.loads((path / "run.json").read_text())
        except (OSError, ValueError):
            continue
        if isinstance(record, dict) and is_dead(record):
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed


def _process_start(pid: int) -> str | None:
    """The kernel's start time of a process, so that a reused number is told apart (Linux)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return stat.rsplit(")", 1)[-1].split()[19]
