"""What the desk hands over: the report and evidence of a release, and approvals."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any

import pytest

import anonymizer
from anonymizer.errors import PolicyError
from anonymizer.explore.edits import Edit, edits_of, with_edits
from anonymizer.explore.server import view
from anonymizer.review.approval import required
from tests.explore.conftest import POLICY, RARE, Clinic, Served, settled

K = [{"path": ["privacy", "k_anonymity"], "value": 6}]


def reasons(page: Served) -> dict[str, Any]:
    found: dict[str, Any] = view(page.desk)["handover"]["reasons"]
    return found


def test_a_report_needs_the_release_of_the_policy(
    serving: Callable[..., Served], clinic: Clinic
) -> None:
    page = serving()
    assert reasons(page)["report"].startswith("there is no release: publish.database")
    status, found = page.call("paper", form="html")
    assert (status, found["errors"][0]["path"]) == (409, "report")
    anonymizer.run(anonymizer.Policy.load(clinic.policy), clinic.database, seed=1)
    assert reasons(page)["report"] is None
    assert page.call("paper", form="html") == (200, "report.html")
    assert page.call("change", edits=K, label="k")[0] == 200
    assert "of another policy" in reasons(page)["report"]
    assert page.call("paper", form="html")[0] == 409
    assert page.call("paper", form="exe")[0] == 409
    assert page.call("undo")[0] == 200
    assert page.call("paper", form="html", standard="iso9001")[0] == 409


def test_a_ledger_whose_folder_is_missing_is_not_called_missing(
    serving: Callable[..., Served], clinic: Clinic
) -> None:
    clinic.policy.write_text(POLICY.replace("privacy:", "ledger: private/l.duckdb\nprivacy:"))
    assert "ledger: is in a folder that does not exist" in reasons(serving())["approve"]


@pytest.mark.slow
def test_a_paper_runs_nothing_and_has_no_style_but_its_own(
    serving: Callable[..., Served], clinic: Clinic
) -> None:
    docx = pytest.importorskip("docx")
    anonymizer.run(anonymizer.Policy.load(clinic.policy), clinic.database, seed=1)
    page = serving()
    for form in ("html", "docx"):
        assert page.call("paper", form=form, standard="gdpr") == (200, f"gdpr.{form}")
    assert view(page.desk)["handover"]["papers"] == ["gdpr.html", "gdpr.docx"]
    status, headers, text = page.ask(f"{page.path}papers/gdpr.html")
    assert status == 200
    rules = headers["content-security-policy"]
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in rules
    assert rules.endswith("sandbox")
    assert "unsafe" not in rules
    assert "script-src" not in rules
    assert headers["x-content-type-options"] == "nosniff"
    assert "Largest chance of an attack" in text
    assert not [value for value in RARE if value in text]
    content = page.desk.handover.papers["gdpr.docx"].content
    assert "Singling out" in " ".join(p.text for p in docx.Document(BytesIO(content)).paragraphs)
    assert page.ask(f"{page.path}papers/other.html")[0] == 404
    assert page.ask("/papers/gdpr.html")[0] == 403


def test_fields_of_evidence_are_kept_in_the_context(clinic: Clinic) -> None:
    """Words change neither the figures nor what is published: nothing is tried again."""
    with clinic.desk() as desk:
        before = settled(desk)
        edits = edits_of([
            {"path": ["context", "recipients"], "value": "Researchers: by contract"},
            {"path": ["context", "controls"], "value": ["no linking", "access by name"]},
            {"path": ["context", "acceptable_risk"], "value": 0.2},
        ])  # fmt: skip
        desk.change(edits, "context")
        shown = view(desk)
        assert shown["whole"] == before["whole"]
        assert shown["details"].keys() == before["details"].keys()
        (gdpr,) = [one for one in shown["handover"]["standards"] if one["name"] == "gdpr"]
        held = {one["field"]: one["value"] for one in gdpr["fields"]}
        assert held["recipients"] == "Researchers: by contract"
        assert held["purpose"] is None
        desk.save()
    saved = clinic.policy.read_text()
    assert saved.startswith(POLICY)
    context = anonymizer.Policy.load(clinic.policy).context
    assert context is not None
    assert (context.controls, context.acceptable_risk) == (("no linking", "access by name"), 0.2)
    gone = [Edit(("context", name), None) for name in ("recipients", "controls", "acceptable_risk")]
    assert with_edits(saved, gone, clinic.folder, saved)[0] == POLICY


@pytest.mark.parametrize("path", [["context"], ["context", "other"], ["context", "controls", "0"]])
def test_no_other_part_of_a_context_is_changed(path: list[str]) -> None:
    with pytest.raises(PolicyError, match="is not changed here"):
        edits_of([{"path": path, "value": "x"}])


def test_an_approval_is_of_the_file_and_beside_the_ledger(
    serving: Callable[..., Served], clinic: Clinic
) -> None:
    until = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
    given = {"by": "The privacy officer", "until": until, "note": ""}
    page = serving()
    assert "no ledger" in reasons(page)["approve"]
    assert page.call("approve", **given)[0] == 409
    clinic.policy.write_text(POLICY + "ledger: ledger.duckdb\n")
    page = serving()
    assert reasons(page)["approve"] is None
    assert any("1 in 5" in risk for risk in page.call("risks")[1])
    assert page.call("approve", **given | {"until": "soon"})[0] == 409
    assert page.call("approve", **given | {"by": " "})[0] == 409
    page.call("change", edits=K, label="k")
    assert "save the policy first" in reasons(page)["approve"]
    assert page.call("approve", **given)[0] == 409
    page.call("undo")
    status, said = page.call("approve", **given)
    assert (status, said.split(" what ")[0]) == (200, f"The privacy officer accepts until {until}")
    made = required(anonymizer.Policy.load(clinic.policy))
    assert (made.by, made.until) == ("The privacy officer", until)
