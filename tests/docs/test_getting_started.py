"""The first page a newcomer follows does what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks, follow

PAGE = ROOT / "docs" / "getting-started.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("getting-started")


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[str]:
    return follow(PAGE, folder)


def unnumbered(line: str) -> str:
    return re.sub(r"^ +\d+\. ", "", line)


def test_every_command_of_the_page_runs(printed: list[str], folder: Path) -> None:
    run, *rest = printed[2:]
    assert "published main.visits_anonymous in release.duckdb" in run
    assert "visits.parquet (2,000 rows)" in "".join(rest)
    assert {"release.duckdb", "visits.parquet", "warehouse.duckdb"} <= {
        path.name for path in folder.iterdir()
    }


def test_the_plan_shown_is_the_plan_printed(printed: list[str]) -> None:
    shown = next(block.code for block in blocks(PAGE) if block.language == "text")
    lines = [unnumbered(line) for line in shown.splitlines() if line.strip() != "..."]
    actual = [unnumbered(line) for line in printed[1].splitlines()]
    assert [line for line in lines if line not in actual] == []


def test_the_measures_shown_are_measured(printed: list[str]) -> None:
    shown = [block.code for block in blocks(PAGE) if block.language == "text"][1]
    for name, value in re.findall(r"^  (rows|suppressed|classes) +(\S+)$", shown, re.MULTILINE):
        assert re.search(rf"^  {name} +{re.escape(value)}$", printed[2], re.MULTILINE), name
