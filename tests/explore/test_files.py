"""Sweep and report as files: complete without a script, and gone through without a server."""

from __future__ import annotations

import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.review.grid import Point, marked, page, sweep
from anonymizer.review.report import write_report
from tests.explore.browser import Page
from tests.explore.conftest import Clinic
from tests.selection import few

HOSTILE = "</script><script>document.title = 'owned'</script>"


def points() -> list[Point]:
    made = [
        Point({"k": str(k), "split": split}, True, 1 / k, 1 / k, loss, 0.0, 100 // k)
        for split, more in (("loss", 0.0), ("median", 0.1))
        for k, loss in ((2, 0.1 + more), (5, 0.2 + more), (20, 0.4 + more))
    ]
    refused = Point({"k": "50", "split": HOSTILE}, problem=f"split: {HOSTILE} is none")
    return marked([*made, refused])


def test_the_page_has_every_figure_without_its_script() -> None:
    text = page(points(), "policy.yml")
    before_script, _, rest = text.partition('<script type="application/json"')
    for said in ("20.0 %", "50.0 %", "cannot work", "k=5, split=loss *", "k=20, split=median"):
        assert said in before_script
    assert HOSTILE not in text
    assert rest.count("<script") == 1
    for outside in ("http://", "https://", "//cdn", "@import", "url("):
        assert outside not in text


def test_a_sweep_without_a_point_that_works_is_a_table() -> None:
    text = page([Point({"k": "3"}, problem="k: cannot be")], "policy.yml")
    assert "<svg" not in text
    assert "cannot work" in text


@pytest.mark.browser
def test_the_frontier_moves_without_a_server(driver: Any, tmp_path: Path) -> None:
    file = tmp_path / "sweep.html"
    file.write_text(page(points(), "policy.yml"))
    driver.get(file.as_uri())
    seen = Page(driver)
    seen.wide(1440)

    def loss() -> str:
        return str(seen.find("[data-figure=loss]").text)

    def curve() -> str:
        return str(seen.find("#curve").get_attribute("points"))

    assert loss() == "10.0 %"
    first = curve()
    driver.execute_script(
        "const s = document.querySelector('select[name=split]'); s.value = 'median';"
        " s.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    assert loss() == "20.0 %"
    assert curve() != first
    seen.find("g[aria-label^='k=20, split=loss']").send_keys(" ")
    assert loss() == "40.0 %"
    assert seen.find("g[data-point='2']").get_attribute("aria-pressed") == "true"
    assert seen.find("select[name=k]").get_attribute("value") == "20"
    assert driver.title == "Risk against loss: policy.yml"
    assert [one for one in driver.get_log("browser") if one["level"] == "SEVERE"] == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1440])
def test_names_of_points_are_apart_and_within_the_window(
    driver: Any, tmp_path: Path, width: int
) -> None:
    """Every name in bold, as that of the chosen point is."""
    made = [
        Point({"k": str(k), "algorithm": "mondrian"}, True, risk, risk, loss, 0.0, 9)
        for k, risk, loss in ((2, 0.126, 0.029), (3, 0.128, 0.0289), (6, 0.137, 0.027),
                              (8, 0.096, 0.044), (12, 0.071, 0.06), (15, 0.058, 0.072))
    ]  # fmt: skip
    file = tmp_path / "sweep.html"
    file.write_text(page(marked(made), "policy.yml"))
    driver.get(file.as_uri())
    Page(driver).wide(width)
    boxes = driver.execute_script("""
        return [...document.querySelectorAll('g.point text')].map(e => {
            e.style.fontWeight = 700;
            const b = e.getBoundingClientRect();
            return [b.left, b.right, b.top, b.bottom]; });""")
    assert len(boxes) >= 4
    assert all(left >= 0 and right <= width for left, right, *_ in boxes)
    for one, other in combinations(boxes, 2):
        across = min(one[1], other[1]) - max(one[0], other[0])
        assert across <= 0 or min(one[3], other[3]) - max(one[2], other[2]) <= 2  # line spacing


@pytest.mark.browser
@pytest.mark.parametrize("scheme", few(["light", "dark"], 1))
def test_both_pages_fit_and_can_be_used(
    driver: Any, clinic: Clinic, scheme: str, tmp_path: Path
) -> None:
    policy = anonymizer.Policy.load(clinic.policy)
    anonymizer.run(policy, clinic.database, seed=1)
    report, swept = tmp_path / "report.html", tmp_path / "sweep.html"
    write_report(policy, report, source=clinic.database)
    swept.write_text(page(sweep(policy, clinic.database, vary=["k=3,5,900"]), "policy.yml"))
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    for file in (swept, report):
        driver.get(file.as_uri())
        seen = Page(driver)
        for width in (390, 1440):
            seen.wide(width)
            time.sleep(0.3)
            assert seen.beyond() == [], file.name
            assert seen.faults() == [], file.name
