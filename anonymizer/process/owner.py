"""The processes of a run: the record that names them, and whether they have ended."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path


def owner_record(
    run_id: str, building: Path | None = None, writer: int | None = None
) -> dict[str, object]:
    """The owner of a run: the content of `run.json`."""
    return {
        "run_id": run_id,
        "pid": os.getpid(),
        "process_start": process_start(os.getpid()),
        "host": socket.gethostname(),
        "started": time.time(),
        "building": str(building) if building is not None else None,
        "writer": writer,
        "writer_start": process_start(writer) if writer is not None else None,
    }


def is_dead(record: dict[str, object]) -> bool:
    """Whether the processes that a record names are dead. Those on other hosts count as alive."""
    if record.get("host") != socket.gethostname():
        return False
    return _has_ended(record, "pid", "process_start") and not is_written(record)


def is_written(record: dict[str, object]) -> bool:
    """Whether a process besides the owner may still write into the folder."""
    return record.get("writer") is not None and not _has_ended(record, "writer", "writer_start")


def _has_ended(record: dict[str, object], process: str, start: str) -> bool:
    pid = record.get(process)
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    # the process id may have been reused
    return is_gone(pid) or (_exists(pid) and record.get(start) != process_start(pid))


def _exists(pid: int) -> bool:
    """Whether a process of this user has the id."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def is_gone(pid: int) -> bool:
    """Whether no process has the id, or only one that has ended."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False
    return _process_state(pid) in ("Z", "X")


def _stat_fields(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the state on; empty if there is no such file."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text.rsplit(")", 1)[-1].split()


def _process_state(pid: int) -> str | None:
    fields = _stat_fields(pid)
    return fields[0] if fields else None


def process_start(pid: int) -> str | None:
    """The kernel's start time of a process, which detects a reused process id (Linux)."""
    fields = _stat_fields(pid)
    return fields[19] if len(fields) > 19 else None
