"""Ctrl-C at moments that nobody chose, and a disk that is really full."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.stage import Stage
from tests.faults.test_faults import COMMAND, run_command, unharmed
from tests.selection import some

MOMENTS = 8


def interrupted(stage: Stage, after: float) -> tuple[int, str, float]:
    """Exit code and words of a run that gets SIGINT `after` seconds, and how long it took."""
    began = time.monotonic()

    def alarm() -> None:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, after)

    code, said = run_command(stage, before=alarm)
    return code, said, time.monotonic() - began


@pytest.mark.slow
def test_faults_interrupted_at_random_moments(stage: Stage, temporary: Path) -> None:
    """Some moments of a run, drawn with a fixed seed: 130, a message, nothing left."""
    draw = random.Random(20)
    old, users = stage.rows(), stage.users_files()
    _, _, whole = interrupted(stage, after=60.0)
    stage.restore()
    moments = 0
    for _ in range(4 * MOMENTS):
        code, said, took = interrupted(stage, after=draw.uniform(0.02, 0.95) * whole)
        assert code in (0, 130), said
        assert "Traceback" not in said
        if code == 130:
            moments += 1
            assert "interrupted" in said
            unharmed(stage, temporary, old, users)
        else:  # the run was over before the signal came, so runs are shorter than the first
            whole = min(whole, took)
            assert stage.leftovers(temporary) == []
            assert stage.marked() == []
        stage.restore()
        if moments == MOMENTS:
            break
    assert moments == MOMENTS


@some(1)
@pytest.mark.parametrize(
    ("name", "time"),
    # (the second folder is removed when the release is in its place)
    [("mkdir", 1), ("mkdir", 2), ("replace", 1), ("replace", 2), ("rmtree", 1)],
)
def test_an_interruption_while_folders_come_and_go(
    stage: Stage, temporary: Path, name: str, time: int
) -> None:
    """Right after a folder of a run is made, is given its name, and before it is removed."""
    old, users = stage.rows(), stage.users_files()
    owner: Any = shutil if name == "rmtree" else Path
    function = getattr(owner, name)
    calls: list[None] = []

    def interrupted_once(path: Path, *given: Any, **options: Any) -> Any:
        ours = str(path).startswith(f"{temporary}/anonymizer-run-") and "parts" not in str(path)
        calls.extend([None] * ours)
        now = ours and len(calls) == time
        if now and name == "rmtree":
            os.kill(os.getpid(), signal.SIGINT)
        found = function(path, *given, **options)
        if now and name != "rmtree":
            os.kill(os.getpid(), signal.SIGINT)
        return found

    code, said = run_command(stage, before=lambda: setattr(owner, name, interrupted_once))
    assert code == 130, said
    unharmed(stage, temporary, old, users)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_faults_interrupted_process(stage: Stage, temporary: Path, share: float) -> None:
    """The same for the command as it is started, imports included."""
    policy = stage.folder / "policy.yml"
    policy.write_text(COMMAND)
    command = [sys.executable, "-m", "anonymizer", "run", str(policy)]
    command += ["--database", str(stage.source), "--threads", "1"]
    began = time.monotonic()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    whole = time.monotonic() - began
    stage.restore()
    old, users = stage.rows(), stage.users_files()
    policy.write_text(COMMAND)
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        time.sleep(share * whole)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    policy.unlink()
    if process.returncode == 0:  # the run was over before the signal came
        assert stage.rows() != old
        assert stage.users_files() == users
        return
    # before the command has taken the signals over, Python itself ends by the signal
    assert process.returncode == 130 or (share < 0.2 and process.returncode == -signal.SIGINT)
    assert process.returncode != 130 or b"Traceback" not in said
    unharmed(stage, temporary, old, users)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs the right to mount")
    mounting = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(folder)]
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize(
    "room",
    [
        200_000,
        pytest.param(0, marks=pytest.mark.slow),
        pytest.param(900_000, marks=pytest.mark.slow),
    ],
)
def test_faults_really_full_disk(
    stage: Stage, temporary: Path, small_disk: Path, room: int
) -> None:
    """The release's folder is on a file system with so many bytes left."""
    moved = Stage(small_disk / "stage", "mondrian")
    shutil.copytree(stage.folder, moved.folder)
    old, users = moved.rows(), moved.users_files()
    (moved.folder / "policy.yml").write_text(COMMAND)
    filler = small_disk / "filler"
    free = os.statvfs(small_disk).f_bavail * os.statvfs(small_disk).f_frsize
    filler.write_bytes(b"\0" * max(0, free - room))
    code, said = run_command(moved)
    assert code == 2, said
    assert "Traceback" not in said
    assert "free disk space" in said
    filler.unlink()
    unharmed(moved, temporary, old, users)
    assert run_command(moved)[0] == 0
