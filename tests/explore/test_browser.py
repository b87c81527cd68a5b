"""The whole way in a headless Chromium: open, set roles, choose a level, watch, save, and run."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

import anonymizer
from tests.explore.browser import Page
from tests.explore.conftest import HOSTILE, SCRIPT, Clinic, Served, served
from tests.selection import few

pytestmark = pytest.mark.browser
WIDTHS = (390, 1440)
POLICY = """\
# For the desk.
version: 1
source: {table: visits}
columns:
  visit: {role: identifier}
  name: {role: identifier}   # never
  age: {role: quasi}
  %s: {role: drop}
  admitted: {role: drop}     # when it was
  disease: {role: sensitive, protect: {l_diversity: 2}}
  kept: {role: keep}
privacy: {k_anonymity: 5}
publish: {name: released, database: release.duckdb}
""" % json.dumps(HOSTILE)  # noqa: UP031 (the text has braces)


def opened(driver: Any, address: str) -> Page:
    driver.get(address)
    page = Page(driver)
    page.wide(1440)
    page.find("#figures .tiles")
    return page


NAMES = """
return [...document.querySelectorAll('#frontier .point text')].map((one) => one.textContent);
"""
APART = """
const boxes = [...document.querySelectorAll('#frontier .point text')]
  .map((one) => one.getBoundingClientRect());
return boxes.every((a, at) => boxes.slice(at + 1).every((b) =>
  a.right <= b.left || b.right <= a.left || a.bottom - b.top <= 2 || b.bottom - a.top <= 2));
"""
"""Whether no name of a point covers that of another."""


def test_points_that_lie_on_each_other_share_a_name(driver: Any, clinic: Clinic) -> None:
    """Every class has three diagnoses and so three rows, whichever k is asked for below that."""
    rule = "protect: {l_diversity: 3}"
    clinic.policy.write_text(POLICY.replace("protect: {l_diversity: 2}", rule))
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.settled()
        names = page.run(NAMES)
        assert any("k=2, k=3" in name for name in names)
        assert page.run(APART)


def test_the_whole_way(driver: Any, clinic: Clinic) -> None:
    clinic.policy.write_text(POLICY)
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        first = page.settled()
        assert page.run("return document.querySelectorAll('#frontier .point').length") >= 6
        assert page.find("#frontier .now").text == "k=5 (now)"
        assert page.run(APART)

        page.choose("role admitted", "quasi")
        page.choose(f"role {HOSTILE}", "quasi")
        page.keyed("hierarchy admitted").click()
        page.find("#tree [data-builder=date]").click()
        levels = page.until(lambda: page.run("return document.querySelectorAll('[data-level]')"))
        assert len(levels) >= 2
        assert page.run("return document.querySelectorAll('#tree .tree li').length") >= 1
        levels[1].click()
        page.until(lambda: page.run("return !document.getElementById('tree').open"))
        page.until(lambda: desk.history.now.number == 3)

        # the frontier moves with the policy, and a point of it becomes the policy
        second = page.settled()
        assert second["frontier"]["points"] != first["frontier"]["points"]
        page.keyed("point k=8").send_keys("\n")
        page.until(lambda: page.keyed("k").get_attribute("value") == "8")

        # undo and redo; what is shown is the whole table's
        page.keyed("undo").click()
        page.until(lambda: page.keyed("k").get_attribute("value") == "5")
        page.keyed("redo").click()
        page.until(lambda: page.keyed("k").get_attribute("value") == "8")
        page.settled()
        shown = page.run(
            "return Object.fromEntries([...document.querySelectorAll('[data-on=whole] [data-figure]"
            "')].map(e => [e.dataset.figure, e.textContent]))"
        )
        page.keyed("save").click()
        page.until(lambda: page.keyed("save").text == "Saved")
        log = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert log == []

    saved = clinic.policy.read_text()
    assert "# when it was" in saved
    policy = anonymizer.Policy.load(clinic.policy)
    assert policy.columns["admitted"].hierarchy is not None
    assert policy.privacy.k_anonymity == 8
    measures = anonymizer.run(policy, clinic.database).measures
    assert shown == {
        "largest_risk": f"{100 / measures['class_min']:.1f}\u00a0%",
        "risk": f"{100 * measures['classes'] / measures['rows']:.1f}\u00a0%",
        "loss": f"{100 * measures['ncp']:.1f}\u00a0%",
        "suppressed": f"{100 * measures['suppressed_share']:.1f}\u00a0%",
        "classes": f"{measures['classes']:,}",
        "smallest": f"{measures['class_min']:,}",
    }


def test_an_entry_that_is_no_number_changes_nothing(driver: Any, unchanged: Served) -> None:
    """It has no value in the browser, like an emptied field, which takes a rule away."""
    page = opened(driver, unchanged.address)
    page.settled()
    for key, typed in (("l disease", "e"), ("limit", "200"), ("k", "1")):
        page.keyed(key).send_keys("\ue009a\ue000" + typed + "\n")
        time.sleep(0.5)
        assert unchanged.desk.history.now.number == 0
        assert page.run(
            "return document.querySelector(`[data-key='${arguments[0]}']`).matches(':invalid')",
            key,
        )


def test_the_verdict_names_what_does_not_hold(driver: Any, clinic: Clinic) -> None:
    clinic.policy.write_text(POLICY + "algorithm: {name: lgb}\n")
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.settled()
        page.keyed("t disease").send_keys("0.0001\n")
        page.until(lambda: desk.history.now.number == 1)
        page.settled()
        verdict = page.find("#figures .verdict").text
        first, *others = verdict.splitlines()
        assert first == "It does not hold: run would publish nothing."
        assert others
        assert all(" of disease: required " in line for line in others)


def test_hostile_names_and_values_are_texts(driver: Any, clinic: Clinic) -> None:
    with clinic.desk(show_rows=True) as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.settled()
        page.keyed("raw").click()
        page.until(lambda: "--show-rows" in page.run("return document.body.innerText"))
        text = page.run("return document.body.innerText")
        assert HOSTILE in text
        assert SCRIPT in text
        strange = "return document.querySelectorAll('main script, main img, main iframe').length"
        assert page.run(strange) == 0
        # what markup there may be is not even parsed, and no script of another place runs
        assert page.run(
            "try { document.body.innerHTML = '<b>x</b>'; return 'parsed' }"
            " catch (error) { return error.name }"
        ) == "TypeError"  # fmt: skip
        loaded = page.run("return performance.getEntriesByType('resource').map(r => r.name)")
        assert loaded
        assert all(name.startswith(server.address) for name in loaded)


@pytest.mark.parametrize("scheme", few(["light", "dark"], 1))
def test_every_screen_fits_and_can_be_used(driver: Any, unchanged: Served, scheme: str) -> None:
    feature = {"name": "prefers-color-scheme", "value": scheme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    page = opened(driver, unchanged.address)
    page.settled()
    for width in WIDTHS:
        page.wide(width)
        page.run("document.querySelectorAll('details').forEach(one => { one.open = true })")
        time.sleep(0.3)
        assert page.beyond() == []
        assert page.faults() == []
    page.keyed("hierarchy age").click()
    page.find("#tree [data-builder]").click()
    page.find("#tree .levels")
    assert page.beyond() == []
    assert page.faults() == []
