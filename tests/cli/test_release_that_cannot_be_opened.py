"""A release that is locked, may not be read, is damaged, or stands under another name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.engines.duckdb.sandbox import open_problem
from tests.cli.conftest import Call

DATABASE = ("--database", "warehouse.duckdb")
VERBS = {
    "verify": ("verify", "policy.yml"),
    "export": ("export", "policy.yml", "-o", "out.csv"),
    "report": ("report", "policy.yml", "-o", "r.md"),
    "report with its source": ("report", "policy.yml", "--source", DATABASE[1], "-o", "r.md"),
    "attack": ("attack", "policy.yml", *DATABASE),
}


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Another process that has a database open for writing."""
    code = f"import duckdb; c = duckdb.connect({str(path)!r}); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            yield
        finally:
            holder.communicate(b"\n")


def test_a_locked_release_is_told_as_locked(published: Path, call: Call) -> None:
    with held(published / "release.duckdb"):
        for verb in VERBS.values():
            done = call(*verb)
            assert done.code == 2
            assert done.err.startswith("publish.database: the database is locked by another proc")
            assert "hint: close the process" in done.err
        done = call("verify", "--database", "release.duckdb")
        assert done.err.startswith("--database: the database is locked by another process")


def test_a_release_that_may_not_be_read(
    warehouse: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(Whoever runs the tests may read everything, so the refusal is played.)"""
    path = warehouse / "release.duckdb"

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refused)
    problem = open_problem(path, "publish.database", duckdb.IOException("Permission denied"))
    assert str(problem).startswith("publish.database: release.duckdb may not be read by this user")


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_is_no_database(warehouse: Path, call: Call, verb: str) -> None:
    (warehouse / "release.duckdb").write_text("text")
    done = call(*VERBS[verb])
    assert done.code == 2
    assert done.err.startswith("publish.database: release.duckdb is not a DuckDB database")


@pytest.mark.parametrize("verb", VERBS)
def test_a_release_under_another_name(published: Path, call: Call, verb: str) -> None:
    policy = published / "policy.yml"
    policy.write_text(policy.read_text().replace("name: visits_anonymous", "name: other"))
    done = call(*VERBS[verb])
    assert done.code == 2
    said = "publish.name: other is not in release.duckdb (it holds visits_anonymous)"
    assert done.err.startswith(said)


@pytest.mark.parametrize("verb", VERBS)
def test_a_release_without_its_view(published: Path, call: Call, verb: str) -> None:
    """A release that was changed (1), and no name in the policy to check (2)."""
    with duckdb.connect(str(published / "release.duckdb")) as connection:
        connection.execute("drop view visits_anonymous")
    done = call(*VERBS[verb])
    assert done.code == 1
    assert done.err.startswith("release: lacks visits_anonymous, which its manifest tells of")


@pytest.mark.parametrize("verb", ["verify", "report"])
def test_the_source_in_the_place_of_the_release(warehouse: Path, call: Call, verb: str) -> None:
    done = call(*VERBS[verb], *DATABASE)
    assert done.code == 2
    assert done.err.startswith("manifest: is missing (hint: name the database of the release, not")


def test_a_folder_in_the_place_of_the_release(warehouse: Path, call: Call) -> None:
    (warehouse / "release.duckdb").mkdir()
    done = call("run", "policy.yml", *DATABASE)
    assert done.code == 2
    said = (
        "publish.database: is a folder, not a file (hint: name a file in it, as in release.duckdb/"
    )
    assert done.err.startswith(said)


@pytest.mark.parametrize("text", ["[]", '{"view": 1}', '{"view": "x"}', "[" * 100_000, "", "\xff"])
def test_a_folder_with_files_that_are_no_manifests(tmp_path: Path, call: Call, text: str) -> None:
    (tmp_path / "a.manifest.json").write_text(text, encoding="latin-1")
    done = call("verify", "--database", str(tmp_path), "--engine", "spark")
    assert (done.code, done.out) == (2, "")
    assert "--database: holds no release of this tool" in done.err
