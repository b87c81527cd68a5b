"""Standard streams that are closed, full or of another encoding, full disks, and odd names."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.selection import some

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")


def shell(command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command line, in which `@` is the command."""
    return subprocess.run(
        ["bash", "-c", command.replace("@", f"{sys.executable} -m anonymizer")],
        capture_output=True,
        text=True,
        env={**os.environ, **more},
        check=False,
    )


@pytest.mark.slow
def test_closed_streams(warehouse: Path) -> None:
    done = shell("@ run policy.yml --database warehouse.duckdb --format json <&- >&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert Path("release.duckdb").is_file()
    done = shell("@ verify policy.yml <&- >&- 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@some(1)
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-", "--explain 2>&-"])
def test_a_run_without_standard_error(warehouse: Path, closed: str) -> None:
    done = shell(f"@ run policy.yml --database warehouse.duckdb {closed}")
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("release.duckdb").is_file()


@pytest.mark.slow
@needs_full
def test_a_result_that_cannot_be_written(warehouse: Path) -> None:
    done = shell("@ assess visits --database warehouse.duckdb > /dev/full")
    assert done.returncode == 2
    assert "standard output: cannot be written: " in done.stderr
    assert "Traceback" not in done.stderr


@some(1)
@needs_full
@pytest.mark.parametrize("more", ["--format json > /dev/full", "2> /dev/full", "--debug 2>&-"])
def test_a_message_that_cannot_be_written(warehouse: Path, more: str) -> None:
    done = shell(f"@ verify none.yml {more}")
    assert done.returncode == 2
    assert "Traceback" not in done.stdout + done.stderr


def test_names_that_are_no_text(warehouse: Path) -> None:
    folder = warehouse / os.fsdecode(b"bad\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("files have no such names here")
    (folder / "policy.yml").write_text(Path("policy.yml").read_text())
    for said, command in {
        "this folder: has a name": f"cd '{folder.name}' && @ run policy.yml",
        "an argument has a name": f"@ run '{folder.name}/policy.yml'",
    }.items():
        done = shell(f"{command} --database {warehouse}/warehouse.duckdb")
        assert done.returncode == 2
        assert f"{said} that is no text" in done.stderr
    assert [one.name for one in folder.iterdir()] == ["policy.yml"]
    assert shell(f"cd '{folder.name}' && @ --version").returncode == 0


@pytest.mark.slow
def test_an_approval_that_cannot_be_written_whole(warehouse: Path) -> None:
    approve = "@ approve policy.yml --by {} --until 2999-01-01 --approvals kept.duckdb"
    assert shell(approve.format("Ada")).returncode == 0
    file = Path("kept.duckdb.approvals")
    before = file.read_bytes()
    # a part of the second line fits
    blocks = -(-len(before) // 1024) + 1
    long = "B" * 2048
    done = shell(f"ulimit -f {blocks}; {approve.format(long)}")
    assert done.returncode == 2
    assert "cannot be written: nothing was approved" in done.stderr
    assert file.read_bytes() == before
    assert shell(approve.format("Bob")).returncode == 0


@some(1)
@pytest.mark.parametrize("kind", ["new", "new --secret"])
def test_a_key_that_cannot_be_written_leaves_no_file(warehouse: Path, kind: str) -> None:
    before = sorted(warehouse.iterdir())
    done = shell(f"ulimit -f 0; @ key {kind} own.key")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert sorted(warehouse.iterdir()) == before
    assert shell(f"@ key {kind} own.key").returncode == 0
