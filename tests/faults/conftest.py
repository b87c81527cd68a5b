"""A place for scratch, and a stage that is built once and copied for every test."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.stage import Stage


@pytest.fixture(autouse=True)
def hears_interrupts() -> Iterator[None]:
    """Ctrl-C is heard, also where the tests run in the background of a shell that ignores it."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
