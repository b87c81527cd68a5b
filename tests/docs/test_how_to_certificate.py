"""The page on certificates does what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "how-to" / "certificate.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert any("wrote certificate.json" in text for text in printed)
    assert any("k_anonymity None 5" in text for text in printed)
    assert "age from age DIRECT TRANSFORMATION True" in printed[-1]
    assert "disease from disease DIRECT IDENTITY False" in printed[-1]
