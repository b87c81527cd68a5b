"""The page on Safe Harbor does what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.policy.safe_harbor import KINDS
from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "how-to" / "safe-harbor.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert any("main.visits_safe_harbor" in text and "pseudonymised" in text for text in printed)
    (shown,) = (block.code for block in blocks(PAGE) if block.language == "text")
    assert printed[-1] == shown


def test_the_page_names_every_kind() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []
