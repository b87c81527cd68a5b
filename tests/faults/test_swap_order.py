"""What stands between the judgement of a release and its place: each step, and its order."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.compile import ident
from anonymizer.errors import EngineError
from anonymizer.publish.duckdb import file as publishing
from anonymizer.release import manifest
from anonymizer.release.objects import Names
from tests import runs

PEOPLE = [(i, 20 + i % 5, ("flu", "cold")[i % 2]) for i in range(40)]
COLUMNS = {"id": "drop", "age": "quasi", "disease": "keep"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    types = {"id": "integer", "age": "integer", "disease": "varchar"}
    return runs.source(tmp_path, types, PEOPLE)


@pytest.mark.parametrize(
    "change",
    ["delete from {rows} where rowid = 0", "update {rows} set disease = 'x' where rowid = 0"],
)
def test_rows_that_change_after_the_judgement_are_not_published(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """The manifest goes into the file after it was judged: a second fingerprint looks again."""
    write = manifest.write_manifest

    def and_change(engine: Any, names: Names, catalog: str, text: Any) -> None:
        write(engine, names, catalog, text)
        engine.raw(change.format(rows=ident(names.rows(catalog))), "test")

    monkeypatch.setattr(publishing, "write_manifest", and_change)
    with pytest.raises(EngineError, match="changed while it was being built"):
        anonymizer.run(runs.policy(tmp_path, COLUMNS, k=3), database)
    assert not (tmp_path / "release.duckdb").exists()


def test_the_file_is_on_the_disk_before_it_takes_its_place(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """fsync of the built file, the swap, fsync of the folder: a crash finds one file, whole."""
    order: list[str] = []
    target = tmp_path / "release.duckdb"
    fsync, replace = os.fsync, Path.replace

    def synced(handle: int) -> None:
        path = Path(f"/proc/self/fd/{handle}").readlink()
        order.append("folder" if path == tmp_path else f"file {path.suffix}")
        fsync(handle)

    def replaced(self: Path, other: Any) -> Any:
        if Path(other) == target:
            order.append("swap")
        return replace(self, other)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    anonymizer.run(runs.policy(tmp_path, COLUMNS, k=3), database)
    assert order == ["file .tmp", "swap", "folder"]
