"""The page on approvals does what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "how-to" / "approve.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert any("Grace accepts until 2099-12-31" in text for text in printed)
    assert "approved by Grace until 2099-12-31" in printed[-1]
    (shown,) = [block.code for block in blocks(PAGE) if block.language == "text"]
    day = re.compile(r"\d{4}-\d{2}-\d{2}")
    assert any(day.sub("", text).strip() == day.sub("", shown).strip() for text in printed)
