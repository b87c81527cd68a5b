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


def check(result: dict[str, Any], step: int = 1) -> None:
    assert result["failures"] == []
    assert result["kills"] * step >= result["points"] > 50
    # the swap is a matter of one moment, and both sides of it were seen
    assert result["saw_old"] * step > 50
    assert result["saw_new"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "step",
    [
        24,
        pytest.param(5, marks=pytest.mark.slow),
        pytest.param(1, marks=pytest.mark.exhaustive),
    ],
)
def test_killed_run_at_every_statement(tmp_path: Path, step: int) -> None:
    """Before every statement and file operation of an lgb run (by default, every 24th), and
    after the last."""
    (result,) = matrix(tmp_path / "matrix", "--step", str(step))
    check(result, step)


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        pytest.param("tables", 50, marks=pytest.mark.slow),
        pytest.param("tables_beside", 75, marks=pytest.mark.slow),
        pytest.param("tables", 9, marks=pytest.mark.exhaustive),
        pytest.param("tables_beside", 13, marks=pytest.mark.exhaustive),
    ],
)
def test_killed_run_of_several_tables(tmp_path: Path, kind: str, step: int) -> None:
    """All tables are the old ones or the new ones, in a file and beside the source."""
    (result,) = matrix(tmp_path / "matrix", "--kind", kind, "--step", str(step))
    check(result, step)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "step"),
    [("rest", 15), ("rest_ledger", 40), ("suppress", 15), ("suppress_ledger", 40)],
)
def test_killed_run_of_counts(tmp_path: Path, kind: str, step: int) -> None:
    """The table of counts is the old one or the new one, and so is what the ledger has."""
    (result,) = matrix(tmp_path / "matrix", "--kind", kind, "--step", str(step), "--full")
    check(result, step)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_killed_run_full_matrix(tmp_path: Path, kind: str) -> None:
    """Before and after every point of every kind of run, a second run after every kill."""
    (result,) = matrix(tmp_path / "matrix", "--full", "--kind", kind)
    check(result)
