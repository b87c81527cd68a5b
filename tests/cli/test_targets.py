"""No command writes its result over a file that it reads, whatever the name is written like."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import Call, listing
from tests.core.test_files_of_policy import FILES, POLICY

BESIDE = {"ledger.duckdb.key", "ledger.duckdb.approvals", "release.duckdb.wal", "policy.yml"}
COMMANDS: dict[str, tuple[str, ...]] = {
    "certify": ("certify", "policy.yml", "--sign", "sign.pem", "-o"),
    "compile": ("compile", "policy.yml", "-o"),
    "compare": ("compare", "other.yml", "policy.yml", "-o"),
    "explore": ("explore", "policy.yml", "-o"),
    "export": ("export", "policy.yml", "--force", "-o"),
    "hierarchy export": ("hierarchy", "export", "age", "--policy", "policy.yml", "-o"),
    "init": ("init", "visits.csv", "-o"),
    "plan": ("plan", "policy.yml", "--lattice", "-o"),
    "report": ("report", "policy.yml", "--format", "html", "-o"),
    "schema": ("schema", "-o"),
}
OTHERS = {
    "explore": {"policy.yml"},  # where it saves
}
READS_NOTHING = {"schema"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in FILES | BESIDE | {"other.yml", "sign.pem"}:
        (tmp_path / name).write_text(f"{name}\n")
    for name in ("policy.yml", "other.yml"):
        (tmp_path / name).write_text(POLICY)
    (tmp_path / "release.duckdb").unlink()
    duckdb.connect(str(tmp_path / "made.duckdb")).close()
    (tmp_path / "made.duckdb").rename(tmp_path / "release.duckdb")
    return tmp_path


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - READS_NOTHING))
def test_no_file_that_is_read_is_written_over(name: str, folder: Path, call: Call) -> None:
    before = listing(folder)
    for file in sorted((FILES | BESIDE) - OTHERS.get(name, set())):
        done = call(*COMMANDS[name], file)
        assert done.code == 2, (file, done.out)
        assert "-o: " in done.err, (file, done.err)
        assert listing(folder) == before, file


@pytest.mark.parametrize("name", ["compile", "report", "hierarchy export", "compare"])
def test_another_spelling_is_the_same_file(name: str, folder: Path, call: Call) -> None:
    (folder / "symbolic").symlink_to("visits.csv")
    os.link(folder / "visits.csv", folder / "hard")
    before = listing(folder)
    (folder / "ledger.duckdb").unlink()  # not yet there: the run makes it
    for file in ("symbolic", "hard", "./x/../visits.csv", str(folder / "age.csv"), "ledger.duckdb"):
        (folder / "x").mkdir(exist_ok=True)
        done = call(*COMMANDS[name], file)
        assert (done.code, "is a file that the command reads" in done.err) == (2, True), file
        after = listing(folder)
        assert all(after.get(one, content) == content for one, content in before.items())
        assert not (folder / "ledger.duckdb").exists()


def test_files_of_other_options_are_read_as_well(folder: Path, call: Call) -> None:
    before = listing(folder)
    done = call(*COMMANDS["certify"], "sign.pem")
    assert "is a file that the command reads" in done.err
    done = call(
        "report", "policy.yml", "--source", "other.yml", "-o", "other.yml", "--format", "md"
    )
    assert "is a file that the command reads" in done.err
    assert listing(folder) == before
