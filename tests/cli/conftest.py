"""A small warehouse, and the command called as a user calls it, in this process."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main

POLICY = """\
version: 1
source: {table: main.visits}
key: patient_id
columns:
  patient_id: {role: identifier}
  age: {role: quasi}
  sex: {role: quasi}
  disease: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_anonymity: 4}
publish: {name: visits_anonymous, database: release.duckdb}
"""


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """A command that has ended does nothing any more."""
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@dataclass(frozen=True)
class Done:
    """What a call of the command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Call = Callable[..., Done]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*arguments: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Done(code, captured.out, captured.err)

    return called


def stocked(folder: Path) -> Path:
    """The folder, with `warehouse.duckdb` and `policy.yml`."""
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        connection.execute(
            "create table visits as select i as patient_id, 20 + (i * 7) % 30 as age,"
            " case when i % 2 = 0 then 'f' else 'm' end as sex,"
            " ['Flu', 'HIV', 'Cancer'][1 + i % 3] as disease from range(80) as t(i)"
        )
    (folder / "policy.yml").write_text(POLICY)
    return folder


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `warehouse.duckdb` and `policy.yml`, entered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANONYMIZER_TMPDIR", str(tmp_path))
    return stocked(tmp_path)


@pytest.fixture(scope="session")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """The files of the release of the warehouse, to be copied."""
    folder = stocked(tmp_path_factory.mktemp("released"))
    source = {path.name for path in folder.iterdir()}
    anonymizer.run(anonymizer.Policy.load(folder / "policy.yml"), folder / "warehouse.duckdb")
    return tuple(path for path in folder.iterdir() if path.name not in source)


@pytest.fixture
def published(warehouse: Path, releases: tuple[Path, ...]) -> Path:
    """The warehouse, whose policy was run."""
    for path in releases:
        shutil.copy(path, warehouse)
    return warehouse


def listing(folder: Path) -> dict[str, bytes]:
    """Every file of a folder with its bytes, to see that nothing was written."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
