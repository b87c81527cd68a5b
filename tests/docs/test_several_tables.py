"""docs/several-tables.md does what it shows."""

import re
from pathlib import Path

import pytest

from anonymizer.policy import SchemaPolicy, load_policy
from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "several-tables.md"


@pytest.mark.slow
def test_the_page_does_what_it_shows(tmp_path: Path) -> None:
    _, verified, attacked, _, assessed = follow(PAGE, tmp_path)
    assert "known_events" in verified
    assert re.search(r"one event +1,500 -> 0 +1,500 -> 0 +1 -> 5 +5 left", attacked)
    assert re.search(r"one event +583 +38.9 % +1,006 +67.1 %", assessed)
    page = (tmp_path / "hospital" / "report.html").read_text()
    assert "What observers are left with" in page
    shown = next(block for block in blocks(PAGE) if block.language == "yaml")
    (tmp_path / "shown.yml").write_text(shown.code)
    policy = load_policy(tmp_path / "shown.yml")
    assert isinstance(policy, SchemaPolicy)
    assert policy.digest() == load_policy(tmp_path / "hospital" / "policy.yml").digest()
