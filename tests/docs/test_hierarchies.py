"""The pages on hierarchies and on full_domain do what they show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, follow


@pytest.mark.slow
def test_pages_do_what_they_show(tmp_path: Path) -> None:
    pages = ("hierarchies.md", "algorithms/full_domain.md")
    _, drawn, suggested, exported, stored, ran, judged = (
        printed for page in pages for printed in follow(ROOT / "docs" / page, tmp_path)
    )
    shown = [(ROOT / "docs" / page).read_text(encoding="utf-8") for page in pages]
    for printed, page in ((drawn, 0), (suggested, 0), (exported, 0), (stored, 0), (judged, 1)):
        for line in printed.splitlines():
            assert line.rstrip() in shown[page]
    assert "level.age" in ran
