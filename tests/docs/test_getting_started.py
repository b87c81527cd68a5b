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


def test_every_command_of_the_page_runs(printed: list[str], folder: Path) -> None:
    run, *rest = printed[2:]
    assert "published main.visits_anonymous in release.duckdb" in run
    assert "visits.parquet (2,000 rows)" in "".join(rest)
    assert {"release.duckdb", "visits.parquet", "warehouse.duckdb"} <= {
        path.name for path in folder.iterdir()
    }


@pytest.mark.slow
def test_the_files_named_are_those_written(printed: list[str], folder: Path) -> None:
    made = {path.name for path in folder.iterdir() if path.name.endswith(".manifest.json")}
    assert made == set(re.findall(r"`(\S+\.manifest\.json)`", PAGE.read_text()))


def test_the_plan_shown_is_the_plan_printed(printed: list[str]) -> None:
    shown = next(block.code for block in blocks(PAGE) if block.language == "text")

    def lasting(text: str) -> list[str]:
        """Without the seconds and the memory that this machine takes."""
        lines = re.sub(r"to take [^ ]+ s, \d+ MB", "to take 1 s, 1 MB", text).splitlines()
        return [line for line in lines if line.strip() != "..."]

    lines, actual = lasting(shown), lasting(printed[1])
    assert [line for line in lines if line not in actual] == []
    assert (lines[0], lines[-1]) == (actual[0], actual[-1])
    assert lines[-2] == actual[-2], "the last step and its number"


def test_the_output_shown_is_all_that_a_run_prints(printed: list[str]) -> None:
    def lasting(text: str) -> list[str]:
        """Without the run's number and its times, and the column that they may widen; and
        without the bound, which is that of a sample drawn with the run's secret.
        """
        text = re.sub(r"\(run \w+\)", "", text)
        bound = r"at most [\d.]+ (times the smallest .*) \(lower bound [\d.]+\)"
        text = re.sub(bound, r"at most 2 \1 (lower bound 0.02)", text)
        lines = [x for x in text.splitlines() if not x.startswith(("  seconds for", "  what any"))]
        return [re.sub(" +", " ", x) for x in lines]

    shown = [block.code for block in blocks(PAGE) if block.language == "text"][1]
    assert lasting(shown) == lasting(printed[2])
