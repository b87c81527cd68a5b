"""The page on compiled scripts: what it shows is so, and the shell does what it says."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

from tests.docs.blocks import ROOT, blocks, follow
from tests.scripts import shell

PAGE = ROOT / "docs" / "how-to" / "compile.md"
STARTED = ROOT / "docs" / "getting-started.md"


def _started(folder: Path) -> None:
    exec(next(block.code for block in blocks(STARTED) if block.language == "python"), {})
    (given,) = (block for block in blocks(STARTED) if block.file == "policy.yml")
    (folder / "policy.yml").write_text(given.code)


@pytest.mark.slow
def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _started(tmp_path)
    same = follow(PAGE, tmp_path)[-1]
    shown = next(block.code for block in blocks(PAGE) if block.language == "text")
    assert (tmp_path / "run.sql").read_text().startswith(shown)
    assert same.strip() == "True"


@pytest.mark.shell
def test_the_commands_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _started(tmp_path)
    follow(PAGE, tmp_path)
    # the shell may be an older DuckDB, which does not read a file of this one
    with duckdb.connect("warehouse.duckdb", read_only=True) as connection:
        connection.execute("copy visits to 'visits.parquet'")
    (tmp_path / "warehouse.duckdb").unlink()
    _shell(f"{shell()} warehouse.duckdb \"create table visits as from 'visits.parquet'\"")
    empty, filled = (block.code for block in blocks(PAGE) if block.language == "console")
    left = _shell(empty, check=False)
    assert left.returncode == 1
    assert "secret: is not a secret" in left.stderr
    assert shutil.which("openssl") is not None
    assert "rows of anon_scratch.main.staged" in _shell(filled).stdout


def _shell(command: str, *, check: bool = True) -> subprocess.CompletedProcess[str]:
    path = f"PATH={Path(shell()).parent}:$PATH"
    return subprocess.run(
        ["bash", "-c", f"export {path}\n{command}"], capture_output=True, text=True, check=check
    )
