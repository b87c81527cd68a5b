"""A place for scratch, and a stage that is built once and copied for every test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faults.stage import Stage


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(folder))
    return folder


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    made = Stage(tmp_path_factory.mktemp("built") / "stage", "mondrian")
    made.build()
    return made


@pytest.fixture
def stage(tmp_path: Path, temporary: Path, built: Stage) -> Stage:
    del temporary
    for folder in (built.folder, built.saved):
        shutil.copytree(folder, tmp_path / folder.name)
    return Stage(tmp_path / "stage", "mondrian")
