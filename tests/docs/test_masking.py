"""The page on masked columns does what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "masking.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert any("wrote tokens.key" in text for text in printed)
    assert any("main.visits_masked" in text and "pseudonymised" in text for text in printed)
    assert any("checks of form and against the source hold" in text for text in printed)
    assert any("16 different spans, 0 not of whole weeks" in text for text in printed)
