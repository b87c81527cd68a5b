"""The stored pages belong to the code as it is."""

from __future__ import annotations

import re

import pytest

from benchmarks.reproduce.command import PAPERS
from benchmarks.reproduce.fingerprint import ROOT
from benchmarks.reproduce.page import PAGES, stale


@pytest.mark.parametrize("name", PAPERS)
def test_the_page_is_not_older_than_what_it_measures(name: str) -> None:
    wrong = stale(PAPERS[name])
    assert wrong is None, wrong


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_has_its_row_and_no_page_is_a_quick_one(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text()
    assert "A quick run" not in text
    rows = re.findall(r"^\| (\d+) \|.*\*\*(.+)\*\* \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == [*range(1, len(PAPERS[name].claims) + 1)]
    for plot in re.findall(r"!\[.*\]\((.+)\)", text):
        assert (PAGES / plot).exists()


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_that_does_not_hold_has_its_cause(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text()
    failing = re.findall(r"^\| (\d+) \|.*\*\*does not hold\*\* \|$", text, re.MULTILINE)
    causes = re.findall(r"^- ([\d, ]+) \(does not hold\): \S", text, re.MULTILINE)
    explained = {number for numbers in causes for number in numbers.split(", ")}
    assert set(failing) <= explained
    for number in map(int, failing):
        assert PAPERS[name].claims[number - 1].why


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_is_hashed_over_its_own_module_and_over_templates(name: str) -> None:
    code = PAPERS[name].code
    assert f"benchmarks/reproduce/{name}.py" in code
    assert any(given.startswith("templates/") for given in code)
    assert all((ROOT / given.partition(":")[0]).exists() for given in code)
