"""The page on tables of counts publishes the table that it shows."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb

from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "aggregates.md"


def test_the_page_publishes_what_it_shows(tmp_path: Path) -> None:
    printed = follow(PAGE, tmp_path)
    assert any("no_small_cells" in text for text in printed)
    with (tmp_path / "counts.csv").open() as file:
        rows = list(csv.DictReader(file))
    found = {(row["region"], row["diagnosis"]): row["patients"] for row in rows}
    told = PAGE.read_text().partition("The release, which")[2].partition("and one row")[0]
    shown = told.splitlines()
    for name, row in (("r2", shown), ("r4", shown), ("all", shown)):
        (line,) = (text for text in row if text.startswith(f"| {name} |"))
        figures = [part.strip() for part in line.strip("|").split("|")][1:]
        for column, figure in zip(("c1", "c2", "c3", "c4", "(all)"), figures, strict=True):
            label = "(all)" if name == "all" else name
            assert found.get((label, column), "") == figure
    assert found["(other)", "(other)"] == "9"
    (macro,) = (block.code for block in blocks(PAGE) if "anon_counts" in block.code)
    with duckdb.connect(str(tmp_path / "clinic.duckdb"), read_only=True) as con:
        con.execute((ROOT / "sql" / "anonymizer.sql").read_text()).fetchall()
        counted = con.execute(macro).fetchall()
    assert {(a, b): str(n) for a, b, n, _ in counted} == found
