"""The page on evidence does what it shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anonymizer.review.evidence import standards
from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "how-to" / "evidence.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    (shown,) = [block.code for block in blocks(PAGE) if block.language == "text"]
    assert printed[-1] == shown
    assert "<data" in (tmp_path / "ema.html").read_text()
    assert json.loads((tmp_path / "expert.json").read_text())["standard"] == "hipaa-expert"


def test_the_page_lists_every_standard() -> None:
    text = PAGE.read_text()
    assert all(f"| `{name}` |" in text for name in standards())
