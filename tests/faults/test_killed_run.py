"""Runs that are killed, and what the next one finds. The full matrix takes long:

python -m pytest -m exhaustive tests/faults        (or: python -m tests.faults.matrix FOLDER --full)
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.faults.stage import KINDS


def matrix(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.faults.matrix", str(folder), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr[-2000:]
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def check(result: dict[str, Any]) -> None:
    assert result["failures"] == []
    assert result["kills"] >= result["points"] > 50
    # the swap is a matter of one moment, and both sides of it were seen
    assert result["saw_old"] > 50
    assert result["saw_new"] > 0


def test_killed_run_at_every_statement(tmp_path: Path) -> None:
    """Before every statement and file operation of an lgb run, and after the last."""
    (result,) = matrix(tmp_path / "matrix")
    check(result)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_killed_run_full_matrix(tmp_path: Path, kind: str) -> None:
    """Before and after every point of every kind of run, a second run after every kill."""
    (result,) = matrix(tmp_path / "matrix", "--full", "--kind", kind)
    check(result)
