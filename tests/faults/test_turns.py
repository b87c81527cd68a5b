"""Several runs into one file: each waits for its turn, or is refused before it reads anything."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import TargetError
from anonymizer.process import run_folder
from anonymizer.process.run_folder import base_folder
from tests import runs

PEOPLE = [(i, 20 + i % 5, ("flu", "cold")[i % 2]) for i in range(40)]
COLUMNS = {"id": "drop", "age": "quasi", "disease": "keep"}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(tmp_path / "tmp"))
    types = {"id": "integer", "age": "integer", "disease": "varchar"}
    return runs.source(tmp_path, types, PEOPLE)


def named(folder: Path, name: str) -> anonymizer.Policy:
    return runs.policy(folder, COLUMNS, k=3, publish={"name": name})


@pytest.mark.slow
def test_four_runs_into_one_file_at_once(tmp_path: Path, database: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        names = [f"r{number}" for number in range(4)]
        done = list(pool.map(lambda name: runs.run(named(tmp_path, name), database), names))
    assert all(release.verification.passed for release in done)
    with duckdb.connect(str(tmp_path / "release.duckdb"), read_only=True) as connection:
        shown = {row[0] for row in connection.execute("show tables").fetchall()}
    assert set(names) <= shown
    assert not list(base_folder().iterdir()), "no lock is left"


def test_a_run_that_cannot_wait_reads_nothing(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "PATIENCE", 0.2)
    read: list[Any] = []
    with run_folder.turn(tmp_path / "release.duckdb"):
        with pytest.raises(TargetError, match="another run is at work"):
            runs.run(named(tmp_path, "r"), database, listener=read.append)
        runs.run(runs.policy(tmp_path, COLUMNS, publish={"database": "other.duckdb"}), database)
    assert not read
    assert runs.run(named(tmp_path, "r"), database).verification.passed


def test_a_run_that_waits_has_its_turn(tmp_path: Path, database: Path) -> None:
    began, released = threading.Event(), threading.Event()

    def hold() -> None:
        with run_folder.turn(tmp_path / "release.duckdb"):
            began.set()
            released.wait(5)

    holder = threading.Thread(target=hold)
    holder.start()
    began.wait(5)
    threading.Timer(0.5, released.set).start()
    assert runs.run(named(tmp_path, "r"), database).verification.passed
    assert released.is_set()
    holder.join()
