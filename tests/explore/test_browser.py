"""The whole way in a headless Chromium: open, set roles, choose a level, watch, save, and run."""

from __future__ import annotations

import json
import time
from threading import Event
from typing import Any

import pytest

import anonymizer
from anonymizer.review.trial import Bench, Figures
from tests.explore.browser import Page
from tests.explore.conftest import HOSTILE, SCRIPT, Clinic, Served, served
from tests.selection import few

pytestmark = pytest.mark.browser
WIDTHS = (390, 1024, 1440)
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
        assert page.find("#verdict").text == "It does not hold: run would publish nothing."
        others = page.find("#figures .broken").text.splitlines()
        assert others
        assert all(" of disease: required " in line for line in others)
        page.keyed("save").click()
        said = f"saved {clinic.policy.name}. It does not hold: run would publish nothing."
        page.until(lambda: page.find("#status").text == said)


MOVED = """
window.moved = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.moved += one.value;
}).observe({type: 'layout-shift'});
"""


def colours(page: Page) -> set[str]:
    """The kinds of verdict that the page has shown since `watched`."""
    return set(page.run("return window.kinds"))


def watched(page: Page) -> None:
    """Note every verdict that is shown, and how far anything moves."""
    page.run(MOVED)
    page.run("""
        window.kinds = [];
        const seen = () => window.kinds.push(document.querySelector('#verdict p').className);
        new MutationObserver(seen).observe(document.getElementById('verdict'), {childList: true});
    """)


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_red_and_nothing_moves_while_the_table_is_awaited(
    driver: Any, clinic: Clinic, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of 200 rows has no class of 250, and the table has two."""
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.wide(width)
        page.settled()
        watched(page)
        release, figures = Event(), Bench.figures

        def late(bench: Bench, *given: Any, **options: Any) -> Figures:
            assert bench is not desk.whole or release.wait(60)
            return figures(bench, *given, **options)

        monkeypatch.setattr(Bench, "figures", late)
        page.choose("k", "250")
        waiting = "The sample is too small for k = 250; waiting for the whole table."
        page.until(lambda: page.find("#verdict").text == waiting, 20)
        assert "…" not in page.run("return document.querySelector('#results').innerText")
        release.set()
        page.settled()
        assert page.find("#verdict").text == "Every guarantee holds, and little is left."
        assert colours(page) == {"verdict wait", "verdict warn"}
        assert page.run("return window.moved") < 0.02  # (0.1 is called good)


def test_what_cannot_be_chosen_is_grey_and_says_why(driver: Any, clinic: Clinic) -> None:
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.settled()
        grey = page.run(
            "return Object.fromEntries([...arguments[0].options].filter(o => o.disabled)"
            ".map(o => [o.value, o.title]))",
            page.keyed("algorithm"),
        )
        assert "full_domain" in grey
        assert "mondrian" not in grey
        assert "hierarchy is missing" in grey["full_domain"]
        # a rule that is taken away leaves an amber column and an amber verdict
        page.choose("l disease", "")
        page.settled()
        assert "no rule protects disease" in page.find("#verdict .warn").text
        assert "No rule:" in page.find("#columns .bare").text
        # a slider and its field are one
        slider = page.keyed("l disease slider")
        page.run("arguments[0].focus()", slider)
        slider.send_keys("\ue014")
        page.until(lambda: page.keyed("l disease").get_attribute("value") == "3")
        page.until(lambda: desk.history.now.number == 2)
        assert desk.history.now.policy.columns["disease"].protect is not None


def test_a_mask_and_its_options(driver: Any, clinic: Clinic) -> None:
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.settled()
        page.choose("role admitted", "round")
        page.until(lambda: page.keyed("to admitted").get_attribute("value") == "month", 20)
        page.choose("to admitted", "year")
        page.choose("role age", "top_code")
        page.until(lambda: page.keyed("at_least age").get_attribute("value") == "5", 20)
        page.choose("at age", "70")
        page.until(lambda: page.keyed("at_least age").get_attribute("value") == "", 20)
        found = page.settled()
        columns = desk.history.now.policy.columns
        assert (columns["admitted"].to, columns["age"].at, columns["age"].at_least) == (
            "year",
            70,
            None,
        )
        assert found["whole"]["problems"] == []
        assert page.faults() == []


def test_evidence_is_filled_in_made_and_opened(driver: Any, clinic: Clinic) -> None:
    clinic.policy.write_text(POLICY + "ledger: ledger.duckdb\n")
    anonymizer.run(anonymizer.Policy.load(clinic.policy), clinic.database, seed=1)
    with clinic.desk() as desk, served(desk) as server:
        page = opened(driver, server.address)
        page.settled()
        driver.get_log("browser")  # (of the page before, whose server has ended)
        page.keyed("evidence").click()
        assert page.run("return document.activeElement.id") == "evidence-head"
        page.keyed("context recipients").send_keys("Researchers\t")
        page.until(lambda: desk.history.now.number == 1, 20)
        page.until(lambda: page.keyed("context recipients").get_attribute("value"), 20)
        page.keyed("page html").click()
        page.until(lambda: page.run("return document.activeElement.dataset.key ?? ''")
                   == "paper gdpr.html", 60)  # fmt: skip
        assert page.keyed("approve").get_attribute("disabled")
        assert "No approval: save the policy first" in page.find("#grey").text
        page.keyed("save").click()
        page.until(lambda: page.keyed("approve").get_attribute("disabled") is None, 20)
        page.keyed("approve").click()
        page.find("dialog[open] li")
        assert page.faults() == []
        page.find("dialog input[name=by]").send_keys("Officer")
        page.run("arguments[0].value = '2999-12-31'", page.find("dialog input[name=until]"))
        page.find("dialog button[type=submit]").click()
        page.until(lambda: "Officer accepts until 2999-12-31" in page.find("#status").text, 20)
        # the paper itself: its style applies, and it is no part of the page's origin
        driver.get(f"{server.address}papers/gdpr.html")
        assert "Researchers" in page.find("main").text
        assert page.run("return getComputedStyle(document.querySelector('main')).maxWidth")
        log = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert log == []


def test_the_verdict_stays_in_sight(driver: Any, unchanged: Served) -> None:
    page = opened(driver, unchanged.address)
    page.settled()
    for width in WIDTHS:
        page.wide(width)
        page.run("scrollTo(0, document.body.scrollHeight)")
        time.sleep(0.2)
        box = page.run("const b = document.getElementById('verdict').getBoundingClientRect();"
                       " return [b.top, b.bottom]")  # fmt: skip
        assert 0 <= box[0] < box[1] <= 150


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
