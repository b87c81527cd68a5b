"""The private folder of a run, its locks, and the removal of leftovers of dead runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import socket
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from anonymizer.errors import EngineError, Problem, TargetError
from anonymizer.process.files import read_beside

# The processes of a run: the record that names them, and whether they have ended.


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
    """True if the processes that a record names are dead. Those on other hosts count as alive."""
    if record.get("host") != socket.gethostname():
        return False
    return _has_ended(record, "pid", "process_start") and not is_written(record)


def is_written(record: dict[str, object]) -> bool:
    """Return whether a process besides the owner may still write into the folder."""
    return record.get("writer") is not None and not _has_ended(record, "writer", "writer_start")


def _has_ended(record: dict[str, object], process: str, start: str) -> bool:
    pid = record.get(process)
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return False
    # the process id may have been reused
    return is_gone(pid) or (_exists(pid) and record.get(start) != process_start(pid))


def _exists(pid: int) -> bool:
    """Return whether a process of this user has the id."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def is_gone(pid: int) -> bool:
    """Return whether no process has the id, or only one that has ended."""
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


# The private folder of a run, and the removal of leftovers of dead runs.
#
# A folder holds spilled data and `run.json` (process id, host, start, and the file that the run
# builds). It is created with mode 0700 and removed when the run ends; if its owner is dead, a later
# run removes it. Another process that writes into it, as the JVM of Spark does, may outlive its
# owner and would make it again, readable for everybody: the folder stays until that has ended as
# well.


PREFIX = "anonymizer-run-"
RUN_ID = re.compile(r"[0-9a-f]{16}\Z")
OWNER = "run.json"
ABANDONED = 3600.0
"""Seconds after which a folder that names no owner is considered abandoned."""


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder of mode 0700 that belongs to this process."""

    path: Path

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        _kept.pop(self.path, None)

    def empty(self) -> None:
        """Remove what is in it, and leave the folder to a later run: something may still write."""
        _empty(self.path)
        _kept.pop(self.path, None)


_kept: dict[Path, int] = {}
"""Folders that have not been removed, with the threads that created them."""


def base_folder() -> Path:
    """The parent of run folders: `ANONYMIZER_TMPDIR`, else the system's temporary folder."""
    return Path(os.environ.get("ANONYMIZER_TMPDIR") or tempfile.gettempdir())


def folder_of(run_id: str) -> Path:
    """The path of a run's folder, which need not exist."""
    return base_folder() / f"{PREFIX}{run_id}"


def create(run_id: str, building: Path | None = None, writer: int | None = None) -> RunFolder:
    """Create the folder of run `run_id`, after removing those of dead runs.

    `building` is the temporary file that the run builds; it is removed with a dead run's folder.
    `writer` is another process of this host that writes into the folder.
    """
    remove_dead()
    path = folder_of(run_id)
    # the name of a folder identifies its owner until run.json is written
    unfinished = path.with_name(f"{path.name}.{_host_mark()}.{os.getpid()}.new")
    try:
        unfinished.mkdir(mode=0o700)
        _kept[path] = threading.get_ident()
        (unfinished / OWNER).write_text(json.dumps(owner_record(run_id, building, writer)))
        unfinished.replace(path)
    except OSError as err:
        shutil.rmtree(unfinished, ignore_errors=True)
        said = f"{path.parent.name} is no folder in which files can be written"
        hint = "name a folder for spilled data"
        raise EngineError.at("ANONYMIZER_TMPDIR", said, hint=hint) from err
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return RunFolder(path)


def note_building(folder: Path, building: Path) -> None:
    """Record what the run of a folder builds: its clean-up removes that as well."""
    record = json.loads(read_beside(folder / OWNER)) | {"building": str(building)}
    aside = folder / f"{OWNER}.new"
    aside.write_text(json.dumps(record))
    aside.replace(folder / OWNER)


def _host_mark() -> str:
    return hashlib.sha256(socket.gethostname().encode()).hexdigest()[:8]


def remove_dead(abandoned: float = ABANDONED) -> list[Path]:
    """Remove the run folders whose owner is dead, and the files that these runs were building.

    Folders that name no owner go when nothing in them has changed for `abandoned` seconds: their
    run died before it could write its name, or another process made them again after it. Returns
    the removed paths. Folders of other users are left alone.
    """
    removed: list[Path] = []
    for path, record in _folders():
        if record is None:
            removed += _remove_unowned(path, abandoned)
        elif is_dead(record):
            removed += _remove(path, record)
            if not path.exists():
                removed.append(path)
    return removed + _remove_unfinished()


def remove_own() -> None:
    """Remove the folders of this process, which is about to be ended, and files it was building."""
    for path, record in _folders():
        if record is not None and _is_own(record):
            _remove(path, record)


def remove_left() -> None:
    """Remove what an interrupted command of this thread has left behind.

    An interrupt may occur between any two steps, including those of the clean-up.
    """
    for path in [path for path, thread in _kept.items() if thread == threading.get_ident()]:
        record = _record(path)
        if record is not None and _is_own(record):
            _remove(path, record)
        _kept.pop(path, None)


def _is_own(record: dict[str, object]) -> bool:
    return record.get("host") == socket.gethostname() and record.get("pid") == os.getpid()


def _remove_unfinished() -> list[Path]:
    """Remove folders of runs that died while creating them; these contain only the owner."""
    removed = []
    for path in sorted(base_folder().glob(f"{PREFIX}*.{_host_mark()}.*.new")):
        run_id, *_, pid, _new = path.name.removeprefix(PREFIX).split(".")
        if not RUN_ID.match(run_id) or not pid.isdigit() or not is_gone(int(pid)):
            continue
        try:
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == _user():
                (path / OWNER).unlink(missing_ok=True)
                path.rmdir()  # fails if the folder is not empty
                removed.append(path)
        except OSError:
            continue
    return removed


def is_live(run_id: str) -> bool:
    """Return whether a folder of that run exists here and its owner is not known to be dead."""
    path = folder_of(run_id)
    if not path.is_dir():
        return False
    record = _record(path)
    return record is None or not is_dead(record)


def _folders() -> Iterator[tuple[Path, dict[str, object] | None]]:
    for path in sorted(base_folder().glob(f"{PREFIX}*")):
        if not RUN_ID.match(path.name.removeprefix(PREFIX)):
            continue
        try:
            found = path.lstat()
        except OSError:
            continue
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user():
            continue
        yield path, _record(path)


def _record(path: Path) -> dict[str, object] | None:
    """The owner of a folder; None if it names no owner, or another run."""
    try:
        record = json.loads(read_beside(path / OWNER))
    except (OSError, ValueError):
        return None
    if not isinstance(record, dict) or record.get("run_id") != path.name.removeprefix(PREFIX):
        return None
    return record


def _remove_unowned(path: Path, abandoned: float) -> list[Path]:
    try:
        changed = max(one.lstat().st_mtime for one in (path, *path.rglob("*")))
    except OSError:
        return []  # something is at work in it
    if time.time() - changed < abandoned:
        return []
    shutil.rmtree(path, ignore_errors=True)
    return [] if path.exists() else [path]


def _remove(path: Path, record: dict[str, object]) -> list[Path]:
    """Remove the file or folder that a run was building, if its name has the form of one, and then
    the folder of the run, or what is in it if something may still write. Returns what was removed
    beside the run's folder.
    """
    building, run_id = record.get("building"), record.get("run_id")
    removed: list[Path] = []
    if isinstance(building, str) and building.endswith(f".{run_id}.tmp"):
        removed = remove_files([Path(building), Path(f"{building}.wal")])
        folders, place = [Path(building)], Path(building.removesuffix(f".{run_id}.tmp"))
        if place.exists():  # else what was moved aside is the only release
            folders.append(Path(f"{building}.old"))
        removed += _remove_folders(folders)
    if is_written(record):
        _empty(path)
    else:
        shutil.rmtree(path, ignore_errors=True)
    return removed


def _empty(path: Path) -> None:
    """Remove what is in a folder, except for the name of its owner."""
    with suppress(OSError):
        for one in path.iterdir():
            if one.is_dir() and not one.is_symlink():
                shutil.rmtree(one, ignore_errors=True)
            elif one.name != OWNER:
                one.unlink(missing_ok=True)


def remove_files(paths: list[Path]) -> list[Path]:
    """Remove regular files of this user, and return those that were removed."""
    removed: list[Path] = []
    for path in paths:
        try:
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_uid == _user():
                path.unlink()
                removed.append(path)
        except OSError:
            continue
    return removed


def _remove_folders(paths: list[Path]) -> list[Path]:
    """Remove folders of this user, and return those that were removed."""
    removed: list[Path] = []
    for path in paths:
        with suppress(OSError):
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == _user():
                shutil.rmtree(path)
                removed.append(path)
    return removed


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def building_of(path: Path, run_id: str) -> Path:
    """The temporary name of `path` while a run builds it; clean-up recognizes it."""
    return path.with_name(f"{path.name}.{run_id}.tmp")


# A lock for runs that publish into the same file, taken before they start their work.
#
# The lock is on an empty file in the temporary folder, and is released when the process ends,
# however it ends. Runs on other machines are detected when the release is swapped in.


LOCK_PREFIX = "anonymizer-turn-"
PATIENCE = 10.0
"""Seconds to wait for another run on the same file."""
_held: list[Path] = []
"""The locks that this process holds."""


@contextmanager
def turn(file: Path | None) -> Iterator[None]:
    """Hold the lock for `file`. Raises TargetError if another run holds it for too long."""
    handle = _open_lock(file) if file is not None else None
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


def remove_own_locks() -> None:
    """Remove the locks of this process, which is about to be ended."""
    for path in _held:
        with suppress(OSError):
            path.unlink()


def _lock_of(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(file.resolve())).hexdigest()[:16]
    return base_folder() / f"{LOCK_PREFIX}{name}"


def _open_lock(file: Path) -> int | None:
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
                raise TargetError(
                    Problem(
                        "publish",
                        f"another run is at work on {file.name}: nothing was read",
                        hint="run again when it has ended, one run after the other",
                    )
                ) from None
        os.close(handle)
        time.sleep(0.1)


def _is(handle: int, path: Path) -> bool:
    """True if the locked file is still at its path: its previous holder may have removed it."""
    try:
        found = path.stat()
    except OSError:
        return False
    held = os.fstat(handle)
    return (held.st_dev, held.st_ino) == (found.st_dev, found.st_ino)
