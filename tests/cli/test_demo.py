"""The demonstration, as a newcomer starts it: in some folder, with a relative one of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call


@pytest.mark.slow
def test_the_demonstration_runs_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("demo")
    assert done.code == 0, done.err
    assert "k_anonymity" in done.out
    made = {path.name for path in (tmp_path / "anonymizer-demo").iterdir()}
    assert {"adult.duckdb", "policy.yml", "adult_release.duckdb", "report.html"} <= made
    # every command that it names for what comes next, from the folder it names
    monkeypatch.chdir(tmp_path / "anonymizer-demo")
    assert call("verify", "policy.yml").code == 0
    assert call("plan", "policy.yml", "--database", "adult.duckdb").code == 0
    assert call("export", "policy.yml", "-o", "adult.parquet").code == 0
