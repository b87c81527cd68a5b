"""The page on frames and notebooks does what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "how-to" / "notebook.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    anonymized, released = follow(PAGE, tmp_path)
    assert "class_id" in anonymized
    assert "Release main.anonymized" in anonymized
    assert "every check holds" in anonymized
    assert "class_id" in released
