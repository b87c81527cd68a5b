"""`anonymizer demo --counts`: a table of counts of real persons, and the attack on blank cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymizer.cli import main
from anonymizer.run.verify import verify


def run(*arguments: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert not ended.value.code


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("highspy")
    run("demo", str(tmp_path / "demo"), "--counts", "--format", "json")
    found = json.loads(capsys.readouterr().out)
    assert found["attack"]["counts"]["exact"] == 116
    assert found["measures"] == {"rows": 548, "suppressed": 222}
    assert verify(None, tmp_path / "demo" / "adult_release.duckdb").passed
    run("demo", str(tmp_path / "demo"), "--counts")
    said = capsys.readouterr().out
    assert "116 exactly, and 148 to be below 5" in said
    assert "(other)" in said
