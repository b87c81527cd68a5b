"""The desk of a table of counts: its figures, its calls, and its page in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import PolicyError
from anonymizer.explore.counts_desk import CountsDesk
from anonymizer.explore.desk import policy_of
from tests.aggregate.releases import WORKED, database, grid, policy
from tests.explore.browser import Page
from tests.explore.conftest import served

BLANKED = {"cells": 25, "hidden": 1, "exact": 1, "below": 1, "minimum": 5}


def opened(folder: Path) -> Any:
    source = database(folder, grid(WORKED), "r varchar, c varchar")
    made = policy(folder, {"r": {}, "c": {}})
    desk = CountsDesk(made, "counts.yml", str(source))
    desk.begin()
    return desk


def test_the_worked_example(tmp_path: Path) -> None:
    """Blanked alone the group of 2 is recomputed; what each method publishes gives nothing away."""
    desk = opened(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    found = desk.view()
    assert found["before"] == BLANKED
    assert (found["after"]["exact"], found["after"]["below"]) == (0, 0)
    assert found["figures"]["persons_left_out"] == 9
    assert ["(other)", "(other)", 9, "other"] in found["rows"]
    desk.change({"minimum": 5, "method": "suppress"})
    found = desk.view()
    assert found["after"] == {**BLANKED, "hidden": 4, "exact": 0, "below": 0}
    assert sum(row[-1] == "hidden" for row in found["rows"]) == 4
    desk.change({"minimum": 10, "method": "round"})
    assert desk.view()["after"] is None
    assert desk.view()["before"]["hidden"] == 4
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "given", [{"minimum": 1, "method": "rest"}, {"minimum": 5, "method": "dp"}]
)
def test_what_is_not_offered(tmp_path: Path, given: dict[str, Any]) -> None:
    desk = opened(tmp_path)
    with pytest.raises(PolicyError, match="is not offered here"):
        desk.change(given)
    assert desk.view()["minimum"] == 5


def test_too_much_left_out_is_said(tmp_path: Path) -> None:
    source = database(tmp_path, grid([[3, 3, 3, 90]]), "r varchar, c varchar")
    made = policy(tmp_path, {"r": {}, "c": {}}, rest={"limit": 0.01})
    desk = CountsDesk(made, "counts.yml", str(source))
    desk.begin()
    (problem,) = desk.view()["problems"]
    assert problem["path"] == "rest.limit"


def test_only_policies_of_counts(tmp_path: Path) -> None:
    made = policy(tmp_path, {"r": {}, "c": {}})
    file = tmp_path / "counts.yml"
    file.write_text(json.dumps(made.to_dict()))
    assert policy_of(str(file)) == made
    assert policy_of("t") is None
    assert policy_of(str(tmp_path / "missing.yml")) is None


def test_calls(tmp_path: Path) -> None:
    with served(opened(tmp_path)) as server:
        status, _, text = server.ask(server.path)
        assert (status, "counts.js" in text) == (200, True)
        status, found = server.call("try", minimum=10, method="rest")
        assert (status, found["minimum"]) == (200, 10)
        assert server.call("change", edits=[])[0] == 404
        status, found = server.call("try", minimum="x", method="rest")
        assert (status, found["errors"][0]["path"]) == (409, "protect")


@pytest.mark.browser
def test_the_page(driver: Any, tmp_path: Path) -> None:
    with served(opened(tmp_path)) as server:
        driver.get(server.address)
        page = Page(driver)
        for width in (390, 1440):
            page.wide(width)
            page.find("#attack .verdict.good")
            assert page.beyond() == []
            assert page.faults() == []
        page.choose("method", "suppress")
        page.until(
            lambda: (
                "suppress" in page.run("return document.querySelector('#attack table').innerText")
            )
        )
        page.choose("minimum", "10")
        page.until(
            lambda: "below 10" in page.run("return document.querySelector('#attack').innerText")
        )
        assert not driver.get_log("browser")
