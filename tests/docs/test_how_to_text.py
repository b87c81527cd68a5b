"""The page on text that names somebody shows what a run says."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.source.identifiers import KINDS
from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "how-to" / "text.md"


@pytest.mark.slow
def test_the_page_shows_the_refusal(tmp_path: Path) -> None:
    (printed,) = follow(PAGE, tmp_path)
    (shown,) = (block.code for block in blocks(PAGE) if block.language == "text")
    assert printed == shown


def test_every_kind_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"`{kind}`" not in text] == []
