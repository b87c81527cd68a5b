"""The page on releases beside the raw table does what it shows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "how-to" / "in-place.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert "published published.visits_anonymous" in printed[2]
    assert "k_anonymity" in printed[3]
    assert "published.visits_anonymous" in printed[4]
    assert "k\\_anonymity | k=5 | k=8" in printed[5]
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as warehouse:
        columns = {
            row[0] for row in warehouse.execute("describe published.visits_anonymous").fetchall()
        }
        assert columns == {"person_id", "age", "sex", "disease", "class_id"}
        made = warehouse.execute("select object_name from _anonymizer.objects").fetchall()
        assert {name for (name,) in made} >= {"visits_anonymous", "visits_anonymous_manifest"}
