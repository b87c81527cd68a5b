"""The installed command, away from the checkout."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import anonymizer


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder)


@pytest.mark.slow
def test_demo_runs_from_an_empty_folder(tmp_path: Path) -> None:
    command = shutil.which("anonymizer", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("the command is not installed beside this Python")
    version = run([command, "--version"], tmp_path)
    assert (version.returncode, version.stderr) == (0, "")
    assert anonymizer.__version__ in version.stdout
    demo = run([command, "demo"], tmp_path)
    assert demo.returncode == 0, demo.stderr
    assert list(tmp_path.rglob("*.duckdb"))
