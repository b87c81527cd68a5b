"""The page on lakes does what it shows, with a second database in place of a lake."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "how-to" / "lakehouse.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert printed[0].split() == ["True", "('lake',)"]
    assert (tmp_path / "visits.parquet").is_file()
    assert (tmp_path / "visits.parquet.manifest.json").is_file()
