"""The page on tables of counts shows what the command prints."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from anonymizer.cli import main
from tests.docs.blocks import ROOT, blocks, follow

pytest.importorskip("highspy")
PAGE = ROOT / "docs" / "aggregates.md"


def test_the_page_does_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    follow(PAGE, tmp_path)
    monkeypatch.chdir(tmp_path)
    shown = [block.code for block in blocks(PAGE) if block.code.startswith("$ anonymizer ")]
    assert shown
    for code in shown:
        command, _, output = code.partition("\n")
        with pytest.raises(SystemExit):
            main(shlex.split(command)[2:])
        assert capsys.readouterr().out == output
