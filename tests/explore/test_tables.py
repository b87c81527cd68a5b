"""The desk of several tables: its figures, its calls, and its page in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError, PolicyError, SourceError
from anonymizer.explore.edits import edits_of
from anonymizer.explore.tables_desk import TablesDesk, open_tables_desk
from anonymizer.policy import load_policy
from anonymizer.review.observers import attack_tables
from tests.explore.browser import Page
from tests.explore.conftest import served
from tests.schema import hospital

TEXT = """\
# The hospital's tables, as we release them.
version: 1
person: patients
tables:
  patients:
    source: {table: patients}
    key: patient_id
    columns:
      patient_id: {role: key}
      name: {role: identifier}
      birth_date: {role: quasi}      # days
      sex: {role: quasi}
      zip: {role: quasi}
      died: {role: keep}
  visits:
    source: {table: visits}
    key: visit_id
    links: {patient_id: patients}
    columns:
      visit_id: {role: key}
      patient_id: {role: key}
      day: {role: drop}
      ward: {role: event}
      diagnosis: {role: sensitive, protect: {l_diversity: 2}}
      cost: {role: drop}
privacy: {k_anonymity: 3, knows: {events: 1}}     # inside the house
suppression_limit: {persons: 0.2, rows: 0.5}
publish: {names: {patients: released}, database: release.duckdb}
"""


def opened(folder: Path) -> TablesDesk:
    database = hospital.write(folder / "source.duckdb")
    path = folder / "tables.yml"
    path.write_text(TEXT)
    policy: Any = load_policy(path)
    desk = open_tables_desk(policy, path, path, str(database), None)
    desk.begin()
    return desk


def change(desk: TablesDesk, value: Any, *path: str) -> dict[str, Any]:
    desk.change(edits_of([{"path": list(path), "value": value}]), "change")
    return desk.view()


def test_its_figures_are_those_of_a_release(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    found = desk.view()
    assert found["holds"]
    assert not found["failed"]
    anonymizer.run(desk.policy, desk.database)
    attacked = attack_tables(desk.policy, tmp_path / "source.duckdb")
    assert {one["knows"] for one in found["observers"]} == {one.knows for one in attacked.after}
    assert {one["knows"] for one in found["observers"] if one["promised"]} == {
        one.knows for one in attacked.after if one.promised
    }
    before = {one.knows: one.alone for one in attacked.before}
    assert before.items() <= found["before"].items()
    assert set(found["losses"]) == {
        *(f"patients.{name}" for name in ("birth_date", "sex", "zip")), "visits.ward",
    }  # fmt: skip


def test_what_is_changed_is_tried_and_saved_where_it_stands(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    less = desk.view()["loss"]
    assert change(desk, 8, "privacy", "k_anonymity")["loss"] > less
    found = change(desk, 0, "privacy", "knows", "events")
    assert not any(one["promised"] for one in found["observers"])
    found = change(desk, "drop", "tables", "visits", "columns", "ward", "role")
    assert "visits.ward" not in found["losses"]
    assert found["unprotected"] == []
    assert change(desk, "sensitive", "tables", "patients", "columns", "sex", "role")[
        "unprotected"
    ] == ["patients.sex"]
    change(desk, "quasi", "tables", "patients", "columns", "sex", "role")
    assert not found["saved"]
    assert (tmp_path / "tables.yml").read_text() == TEXT
    desk.save()
    text = (tmp_path / "tables.yml").read_text()
    assert text == TEXT.replace("k_anonymity: 3", "k_anonymity: 8").replace(
        "events: 1", "events: 0"
    ).replace("role: event", "role: drop")
    assert desk.view()["saved"]
    assert [path.name for path in tmp_path.iterdir() if "release" in path.name] == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("tables", "visits", "source"), {"table": "patients"}),
        (("tables", "visits", "columns", "cost", "role"), "key"),
        (("tables", "visits", "columns", "cost", "protect"), {"l_diversity": 2}),
        (("tables", "visits", "columns", "cost", "role", "x"), "drop"),
        (("publish", "database"), "other.duckdb"),
        (("privacy", "t_closeness"), 0.2),
        (("person",), "visits"),
    ],
)
def test_what_is_not_changed_here(tmp_path: Path, path: tuple[str, ...], value: Any) -> None:
    desk = opened(tmp_path)
    with pytest.raises(PolicyError, match="is not changed here"):
        change(desk, value, *path)
    assert desk.view()["text"] == TEXT


def test_a_policy_that_cannot_be_is_not_taken(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    with pytest.raises(PolicyError):
        change(desk, 1, "privacy", "k_anonymity")
    with pytest.raises(PolicyError):
        change(desk, "quasi", "tables", "visits", "columns", "cost", "role")
    assert desk.view()["text"] == TEXT
    found = change(desk, 61, "privacy", "k_anonymity")
    assert found["problems"] or not found["holds"], "there are 60 persons"


def test_tables_that_cannot_be_read_are_said_at_the_start(tmp_path: Path) -> None:
    database = hospital.write(tmp_path / "source.duckdb")
    path = tmp_path / "tables.yml"
    path.write_text(TEXT.replace("{table: visits}", "{table: gone}"))
    policy: Any = Policy.load(path)
    with pytest.raises(SourceError):
        open_tables_desk(policy, path, path, str(database), None).begin()


def test_large_tables_are_tried_on_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymizer.review.preview.WHOLE", 100)
    found = opened(tmp_path).view()
    assert 0 < found["share"] < 1
    assert 0 < found["persons"] < hospital.PERSONS


def test_a_report_and_evidence_of_the_release(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    assert "there is no release" in desk.view()["handover"]["reasons"]["report"]
    with pytest.raises(AnonymizerError):
        desk.paper("html", "gdpr")
    anonymizer.run(desk.policy, desk.database)
    assert desk.view()["handover"]["reasons"]["report"] is None
    assert desk.paper("html", "gdpr") == "gdpr.html"
    page = desk.handover.papers["gdpr.html"].content.decode()
    assert "to those who know rows" in page
    change(desk, "Researchers, by contract", "context", "recipients")
    desk.paper("html", "gdpr")
    assert "Researchers, by contract" in desk.handover.papers["gdpr.html"].content.decode()
    change(desk, 4, "privacy", "k_anonymity")
    assert "of another policy" in desk.view()["handover"]["reasons"]["report"]


def test_calls(tmp_path: Path) -> None:
    with served(opened(tmp_path)) as server:
        status, _, text = server.ask(server.path)
        assert (status, "tables.js" in text) == (200, True)
        edits = [{"path": ["privacy", "k_anonymity"], "value": 4}]
        status, found = server.call("change", edits=edits, label="k = 4")
        assert (status, found["k"]) == (200, 4)
        assert server.call("try", minimum=10, method="rest")[0] == 404
        assert server.call("rows")[0] == 404
        status, found = server.call("risks")
        assert (status, any("1 in 4" in one for one in found)) == (200, True)
        status, found = server.call("save")
        assert (status, found["saved"]) == (200, True)


@pytest.mark.browser
def test_the_page(driver: Any, tmp_path: Path) -> None:
    desk = opened(tmp_path)
    anonymizer.run(desk.policy, desk.database)
    with served(desk) as server:
        driver.get(server.address)
        page = Page(driver)
        for width in (390, 1440):
            page.wide(width)
            page.find("#verdict .verdict.good")
            assert page.beyond() == []
            assert page.faults() == []
        page.choose("events", "2")
        page.until(lambda: "two rows" in page.run("return document.body.innerText"))
        page.choose("role patients.sex", "drop")
        page.until(lambda: "loses" not in page.run(
            "return [...document.querySelectorAll('.columns li')].find("
            "e => e.innerText.startsWith('patients.sex')).innerText"
        ))  # fmt: skip
        page.choose("k", "20")
        page.until(lambda: "among fewer than 20" in page.run("return document.body.innerText"))
        assert not driver.get_log("browser")
