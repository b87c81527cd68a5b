"""The page on handing over a release does what it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from anonymizer.review.evidence import standards
from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "how-to" / "hand-over.md"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    refusal, figures = [block.code for block in blocks(PAGE) if block.language == "text"]
    for said in (
        "Grace accepts until 2099-12-31",
        "wrote publisher.pem and publisher.pem.pub",
        "approved by Grace until 2099-12-31",
        "published main.visits_anonymous",
        "wrote certificate.json",
        "k_anonymity None 12",
        "age from age DIRECT TRANSFORMATION True",
        "disease from disease DIRECT IDENTITY False",
        "all checks hold",
    ):
        assert any(said in text for text in printed), said
    assert any(DAY.sub("", text).strip() == DAY.sub("", refusal).strip() for text in printed)
    assert printed[-1] == figures
    assert (tmp_path / "visits_anonymous.manifest.sig").is_file()
    assert "<data" in (tmp_path / "ema.html").read_text()
    assert json.loads((tmp_path / "expert.json").read_text())["standard"] == "hipaa-expert"


def test_the_page_lists_every_standard() -> None:
    text = PAGE.read_text()
    assert all(f"| `{name}` |" in text for name in standards())
