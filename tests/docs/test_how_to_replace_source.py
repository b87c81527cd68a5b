"""The page on replacing a table does what it shows, with the table that it makes."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.docs.blocks import ROOT, follow

PAGE = ROOT / "docs" / "how-to" / "replace-source.md"


@pytest.mark.slow
def test_the_page_works(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert "published main.visits" in printed[2]
    assert "distinct_l" in printed[2]
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as warehouse:
        described = warehouse.execute("describe visits").fetchall()
    assert {row[0] for row in described} == {"class_id", "age", "disease"}
    assert b"patient 1234" not in (tmp_path / "warehouse.duckdb").read_bytes()
