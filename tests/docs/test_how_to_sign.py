"""The page on signatures does what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "how-to" / "sign.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert any("wrote publisher.pem and publisher.pem.pub" in text for text in printed)
    assert any("published main.visits_anonymous" in text for text in printed)
    assert any("k_anonymity" in text and "holds" in text for text in printed)
    assert "all checks hold" in printed[-1]
    assert (tmp_path / "visits_anonymous.manifest.sig").is_file()
