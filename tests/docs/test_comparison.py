"""The figures of the page that compares tools are those of the benchmarks."""

from __future__ import annotations

import csv
import re

from tests.docs.blocks import ROOT

RESULTS = ROOT / "benchmarks" / "results"
PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
OURS = {
    "default |": "QI9, k=5",
    "`refine: full`": "QI9, k=5, refine full",
    "`bounds: grid` | 0.05": "QI9, k=5, public cells",
    "`full_domain` |": "QI9, full domain, 5 %",
    "k = 10 |": "QI9, k=10",
    "l = 2 |": "QI8, l=2",
    "l = 5 |": "QI8, l=5",
    "t = 0.2 |": "QI8, t=0.2",
    "| 1,000,000 |": "QI9, k=5, 1,000,000 rows",
    "`bounds: grid` | 0.00": "QI9, k=5, public cells, 1,000,000 rows",
    "`full_domain`, 5 %": "QI9, full domain, 5 %, 1,000,000 rows",
    "| 3,000,000 |": "QI9, k=5, 3,000,000 rows",
}
"""What is in the row of a table, and the case of the benchmarks."""


def near(shown: str, figure: str) -> bool:
    """Rounded at its last digit."""
    digits = len(shown.partition(".")[2])
    difference: float = abs(float(shown) - float(figure))
    return difference <= 0.5001 / 10.0**digits


def test_ours_are_those_of_the_last_run() -> None:
    with (RESULTS / "comparison.csv").open(encoding="utf-8") as file:
        cases = {row["case"]: row for row in csv.DictReader(file) if not row["tool"]}
    for part, name in OURS.items():
        row = next(line for line in PAGE.splitlines() if line.startswith("|") and part in line)
        found = re.search(r"\| (0\.\d+) \| ([\d.]+) \|", row)
        assert found is not None, row
        loss, seconds = found.groups()
        assert near(loss, cases[name]["ncp"]), row
        assert near(seconds, cases[name]["CPU s, judging included"]), row


def test_those_of_others_were_measured() -> None:
    figures = set()
    for name, seconds in (("others.csv", "CPU s"), ("comparison.csv", "CPU s")):
        with (RESULTS / name).open(encoding="utf-8") as file:
            figures |= {(row["ncp"], row[seconds]) for row in csv.DictReader(file) if row["ncp"]}
    pairs = re.findall(
        r"(?:ARX|mosaic|anonypy|qiyuan|anjana)[^|\n]*\| (0\.\d+) \| ([\d.]+) \|", PAGE
    )
    assert len(pairs) >= 10
    for loss, taken in pairs:
        assert any(near(loss, a) and b and near(taken, b) for a, b in figures), (loss, taken)
