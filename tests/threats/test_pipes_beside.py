"""Files that are found by their name are no pipes that nobody writes to, and no endless devices."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import runs
from tests.selection import some

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")

ROWS = [(20 + i % 30, "mf"[i % 2]) for i in range(60)]
TYPES = {"age": "INTEGER", "sex": "VARCHAR"}
POLICY = """
version: 1
source: {table: people}
columns: {age: {role: quasi}, sex: {role: quasi}}
privacy: {k_anonymity: 3}
ledger: private.duckdb
publish: {name: people_anonymous, database: release.duckdb}
"""
SECONDS = 60


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with an export and a ledger, and a folder as from Spark."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "policy.yml").write_text(POLICY)
    runs.source(folder, TYPES, ROWS)
    for verb in ("run policy.yml --database source.duckdb", "export policy.yml -o out.csv"):
        assert anonymizer(folder, *verb.split()).returncode == 0
    return folder


def anonymizer(folder: Path, *call: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anonymizer", *call],
        cwd=folder,
        timeout=SECONDS,
        capture_output=True,
        text=True,
        check=False,
    )


VERIFY = ("verify", "policy.yml")
CALLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a manifest beside a release": ("people_anonymous.manifest.json", VERIFY),
    "a signature beside a release": ("people_anonymous.manifest.sig", VERIFY),
    "a log beside a release": ("release.duckdb.wal", VERIFY),
    "a manifest beside an export": (
        "out.csv.manifest.json",
        ("export", "policy.yml", "-o", "out.csv"),
    ),
    "a manifest of an export": (
        "out.csv.manifest.json",
        ("verify", "--independent", "--database", "out.csv"),
    ),
    "the key of a ledger": (
        "private.duckdb.key",
        ("run", "policy.yml", "--database", "source.duckdb"),
    ),
    "approvals": (
        "private.duckdb.approvals",
        ("run", "policy.yml", "--database", "source.duckdb", "--require-approval"),
    ),
    "a log beside a ledger": (
        "private.duckdb.wal",
        ("run", "policy.yml", "--database", "source.duckdb"),
    ),
}


@some(1, 6)
@pytest.mark.parametrize("kind", [_pipe, _device], ids=["a pipe", "a device"])
@pytest.mark.parametrize("name", CALLS)
def test_a_file_beside_another(
    made: Path, tmp_path: Path, name: str, kind: Callable[[Path], None]
) -> None:
    file, call = CALLS[name]
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    (tmp_path / file).unlink(missing_ok=True)
    kind(tmp_path / file)
    done = anonymizer(tmp_path, *call)
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
