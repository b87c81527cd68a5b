"""The pages on risk and on the report do what they show, in a folder of the demonstration."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.policy import Policy
from anonymizer.review import demo
from tests.docs.blocks import ROOT, follow


@pytest.mark.slow
def test_pages_do_what_they_show(tmp_path: Path) -> None:
    made = demo.write(tmp_path)
    release = demo.run(made)
    assert release.verification.passed
    assert Policy.load(made.policy).publish.database
    assess, judged, attack, sweep, init = follow(ROOT / "docs" / "risk.md", tmp_path)
    assert "prosecutor" in assess
    assert "holds" in judged
    assert "no promised bound was passed" in attack
    assert "k=20" in sweep
    assert "review" in init
    follow(ROOT / "docs" / "report.md", tmp_path)
    assert "what it does not promise" in (tmp_path / "report.html").read_text().lower()
    assert (tmp_path / "report.md").read_text().startswith("# Privacy report")
