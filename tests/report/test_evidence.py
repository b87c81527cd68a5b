"""Pages in the words of a standard: every figure is the report's, and what is open says so."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.algorithms.registry import BY_NAME
from anonymizer.errors import PolicyError
from anonymizer.policy.publish import Context
from anonymizer.process.document import Open, Rows, Value
from anonymizer.process.text import figure, json_value
from anonymizer.review.evidence import (
    Evidence,
    StatementBlock,
    ThresholdBlock,
    collect_evidence,
    standards,
)
from anonymizer.review.report import rendered, rendered_bytes
from anonymizer.review.report.content import Report, collect
from tests import runs
from tests.report.conftest import RARE, Clinic
from tests.schema import hospital

OTHERS = [name for name in standards() if name != "safe-harbor"]
FILLED = Context(
    recipients="Researchers, by contract",
    purpose="Costs by <region>",
    knowledge="Neighbours & newspapers",
    controls=("no linking", "<script>alert(1)</script>"),
    impact="A diagnosis becomes known",
    stakeholders="The board",
    monitoring="Every year",
    responsible="The privacy officer",
    acceptable_risk=0.5,
)
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@pytest.fixture(scope="module")
def report(clinic: Clinic) -> Report:
    return collect(clinic.policy, source=clinic.source, attacks=True)


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("harbor")
    rows = [(f"Ada {i}", 1960 + i % 30, "MA" if i % 2 else "NY") for i in range(200)]
    types = {"name": "VARCHAR", "born": "INTEGER", "state": "VARCHAR"}
    columns: dict[str, Any] = {
        "name": {"role": "identifier", "safe_harbor": "names"},
        "born": {"role": "drop", "safe_harbor": "birth"},
        "state": {"role": "keep", "safe_harbor": "none"},
    }
    policy = runs.policy(folder, columns, k=None, preset="safe_harbor")
    runs.run(policy, runs.source(folder, types, rows))
    return collect(policy)


def report_of(name: str, report: Report, harbor: Report) -> Report:
    return harbor if name == "safe-harbor" else report


def with_context(report: Report, context: Context) -> Report:
    return replace(report, policy=report.policy.model_copy(update={"context": context}))


def values(evidence: Evidence) -> list[Value]:
    found: list[Value] = []
    for clause in evidence.clauses:
        for entry in clause.blocks:
            if isinstance(entry, Rows):
                found += [cell for row in entry.rows for cell in row if isinstance(cell, Value)]
            elif isinstance(entry, ThresholdBlock):
                found.append(entry.value)
    return found


def looked_up(data: Any, path: str) -> Any:
    """Another reader of paths than the page's own."""
    if not path:
        return data
    step, _, rest = path.partition(".")
    return looked_up(data[int(step)] if isinstance(data, list) else data[step], rest)


class Figures(HTMLParser):
    """The figures of a page, and the text that stands outside of them."""

    def __init__(self) -> None:
        super().__init__()
        self.figures: list[tuple[str, str]] = []
        self.outside = ""
        self.inside: str | None = None
        self.skipped = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped = tag in ("style", "title")
        if tag == "data":
            self.inside = dict(attrs)["data-figure"]

    def handle_endtag(self, tag: str) -> None:
        self.skipped = False
        if tag == "data":
            self.inside = None

    def handle_data(self, data: str) -> None:
        if self.inside is not None:
            self.figures.append((self.inside, data))
        elif not self.skipped:
            self.outside += f" {data}"


def of_the_report(report: Report) -> str:
    """Sentences of the ordinary report that hold numbers."""
    manifest = report.manifest
    sentences = (
        *report.guarantees, *(c["says"] for c in report.columns), *report.attacks,
        report.certificate, *report.warnings, report.verdict.says, *report.verdict.reasons,
        manifest["run_id"], manifest["created"], manifest["policy_digest"],
        json.dumps(manifest["versions"]), json.dumps(report.safe_harbor),
        BY_NAME[report.policy.algorithm.name].words,
    )  # fmt: skip
    return " ".join(map(str, sentences))


def of_the_standard(evidence: Evidence) -> str:
    """What the standard says by itself: headings, labels, thresholds."""
    said = [evidence.standard.title, evidence.standard.source, evidence.standard.says]
    said += [p.get("says", "") for s in evidence.standard.sections for p in s.parts]
    for clause in evidence.clauses:
        said += [clause.number, clause.title]
        for entry in clause.blocks:
            if isinstance(entry, ThresholdBlock | Open | StatementBlock):
                said.append(entry.says)
            elif isinstance(entry, Rows):
                said += [entry.caption, *entry.head]
                said += [str(row[0]) for row in entry.rows if not isinstance(row[0], Value)]
    return " ".join(said)


@pytest.mark.slow
@pytest.mark.parametrize("name", standards())
def test_every_figure_is_one_of_the_report(name: str, report: Report, harbor: Report) -> None:
    of = report_of(name, report, harbor)
    evidence = collect_evidence(of, name)
    data = json.loads(rendered(of, "json"))
    shown = values(evidence)
    assert len(shown) >= (3 if name == "safe-harbor" else 10)
    for value in shown:
        assert value.value == looked_up(data, value.figure)
        assert value.text == figure(looked_up(data, value.figure))
    page = Figures()
    page.feed(rendered(of, "html", name))
    assert {path for path, _ in page.figures} == {value.figure for value in shown}
    for path, text in page.figures:
        assert text == figure(looked_up(data, path))
    # no other number is on the page than the standard's own and the report's
    words = f"{of_the_report(of)} {of_the_standard(evidence)} {len(evidence.open)} SHA-256"
    assert set(NUMBER.findall(page.outside)) <= set(NUMBER.findall(words))


@pytest.mark.parametrize("name", standards())
@pytest.mark.parametrize("form", ["html", "md", "json"])
def test_what_is_open_is_told_at_the_top(
    name: str, form: str, report: Report, harbor: Report
) -> None:
    of = report_of(name, report, harbor)
    evidence = collect_evidence(of, name)
    text = rendered(of, form, name)
    assert "complian" not in text.lower()
    assert not [value for value in RARE if value in text]
    many = len(evidence.open)
    assert many > 3
    assert f"{many} fields are open" in evidence.says
    filled = rendered(with_context(of, FILLED), form, name)
    fewer = collect_evidence(with_context(of, FILLED), name)
    assert len(fewer.open) < many
    assert fewer.says in unescape(filled)
    if form == "json":
        assert len(json.loads(text)["open"]) == many
    elif form == "md":
        assert text.index(f"**{many} fields are open") < text.index("\n## ")
    else:
        assert text.index(f"{many} fields are open") < text.index("<main>")
        assert re.findall(r'id="open-(\d+)"', text) == [str(i + 1) for i in range(many)]
        assert re.findall(r'href="#open-(\d+)"', text) == [str(i + 1) for i in range(many)]
        assert "<script" not in filled
        assert "http://" not in text
        assert "https://" not in text


def test_context_fills_fields_and_nothing_else(report: Report) -> None:
    for name in OTHERS:
        plain_page = collect_evidence(report, name)
        filled = collect_evidence(with_context(report, FILLED), name)
        told = {e.field for c in filled.clauses for e in c.blocks if isinstance(e, StatementBlock)}
        assert {"context.recipients", "context.knowledge"} <= told
        kept = {v.figure: v for v in values(filled) if v.figure != "risk.after.prosecutor_max"}
        assert kept == {
            v.figure: v for v in values(plain_page) if v.figure != "risk.after.prosecutor_max"
        }


@pytest.mark.slow
def test_context_changes_nothing_of_a_release(tmp_path: Path) -> None:
    rows = [(i % 7, "mf"[i % 2]) for i in range(60)]
    database = runs.source(tmp_path, {"age": "INTEGER", "sex": "VARCHAR"}, rows)
    columns = {"age": "quasi", "sex": "quasi"}
    policy = runs.policy(tmp_path, columns, k=5)
    stated = runs.policy(
        tmp_path, columns, k=5, context={"recipients": "anybody", "acceptable_risk": 0.01}
    )
    assert stated.to_dict()["context"] == {"recipients": "anybody", "acceptable_risk": 0.01}
    assert stated.digest() == policy.digest()
    first = runs.run(policy, database).df()
    second = runs.run(stated, database).df()
    assert first.equals(second)
    assert anonymizer.verify(policy).passed


@pytest.mark.parametrize(("size", "holds"), [(11, False), (12, True)])
def test_the_threshold_of_ema_is_a_class_of_twelve(size: int, holds: bool, tmp_path: Path) -> None:
    rows = [(age, f"v{i % 3}") for age in (20, 30) for i in range(size)]
    database = runs.source(tmp_path, {"age": "INTEGER", "ill": "VARCHAR"}, rows)
    policy = runs.policy(tmp_path, {"age": "quasi", "ill": "keep"}, k=size)
    runs.run(policy, database)
    evidence = collect_evidence(collect(policy), "ema")
    (compared,) = [e for c in evidence.clauses for e in c.blocks if isinstance(e, ThresholdBlock)]
    assert compared.threshold == 0.09
    assert "classes of 12 rows or more" in compared.says
    assert compared.value.value == 1 / size
    assert compared.holds is holds
    assert len(evidence.above) == (not holds)
    page = rendered(evidence.report, "html", "ema")
    assert ("Above the threshold" in page.split("<main>")[0]) is not holds
    # without a source, what it would show is open
    assert "Initial risk" in " ".join(entry.says for _, entry in evidence.open)


def test_a_threshold_without_a_number_is_the_contexts(report: Report) -> None:
    for name in ("hipaa-expert", "iso27559", "sp800-188"):
        assert not [
            e for c in collect_evidence(report, name).clauses for e in c.blocks
            if isinstance(e, ThresholdBlock)
        ]  # fmt: skip
        for stated, above in ((0.001, 1), (1.0, 0)):
            context = Context(acceptable_risk=stated)
            assert len(collect_evidence(with_context(report, context), name).above) == above


def test_what_has_no_page(report: Report) -> None:
    with pytest.raises(PolicyError, match="was not made with preset: safe_harbor"):
        collect_evidence(report, "safe-harbor")
    with pytest.raises(PolicyError, match="allowed: hipaa-expert, ema"):
        collect_evidence(report, "iso9001")


def test_the_eighteen_identifiers(harbor: Report) -> None:
    page = rendered(harbor, "html", "safe-harbor")
    assert len(re.findall(r'<th scope="row">[A-R]</th>', page)) == 18
    assert "name: not published" in page
    assert "no actual knowledge" in page
    assert "safe_harbor_text" in page


@pytest.mark.parametrize("events", [0, 1])
def test_several_tables_have_the_figures_of_those_who_know_rows(
    tmp_path: Path, events: int
) -> None:
    database = hospital.write(tmp_path / "source.duckdb")
    policy = hospital.policy(tmp_path, {"privacy.knows": {"events": events}})
    anonymizer.run(policy, database, seed=1)
    found = collect(policy, source=database)
    data = json_value(found.as_dict())
    after = data["observers"]["after"]
    promised = [one["fewest"] for one in after if one["promised"]]
    assert data["observers"]["most"] == (1 / min(promised) if events else None)
    for name in OTHERS:
        evidence = collect_evidence(found, name)
        shown = {value.figure: value for value in values(evidence)}
        assert all(looked_up(data, path) == value.value for path, value in shown.items()), name
        if "risk.after.prosecutor_max" in shown:
            assert ("observers.most" in shown) == (events == 1)
        page = rendered(found, "html", name)
        assert "visits.diagnosis" in page or name == "gdpr"
        for one in after:
            assert one["promised"] or f"{one['knows']}" in page
        if events == 0:
            assert "Nothing is promised against somebody who knows a single event" in unescape(page)
        assert "--attack" not in page, "attacks of one table are refused with several"
        assert not re.search(r"N1\d{3}", page), "a name"


def test_the_threshold_is_for_whoever_knows_most(tmp_path: Path) -> None:
    """The classes may be large enough where those who know rows are left with fewer."""
    database = hospital.write(tmp_path / "source.duckdb")
    policy = hospital.policy(tmp_path, {"privacy.knows": {"events": 1}})
    anonymizer.run(policy, database, seed=1)
    found = collect(policy)
    assert found.linked is not None
    low = replace(found.linked.after[0], promised=True, fewest=2)
    raised = replace(found, linked=replace(found.linked, after=(low, *found.linked.after[1:])))
    (entry,) = [e for _, e in collect_evidence(raised, "ema").above]
    assert (entry.value.figure, entry.value.value) == ("observers.most", 0.5)


def test_persons_are_counted_where_there_are_persons(tmp_path: Path) -> None:
    rows = [(i // 2, 20 + i // 2 % 2) for i in range(48)]
    database = runs.source(tmp_path, {"person": "INTEGER", "age": "INTEGER"}, rows)
    policy = runs.policy(tmp_path, {"person": "drop", "age": "quasi"}, k=12, person="person")
    runs.run(policy, database)
    found = {v.figure: v.value for v in values(collect_evidence(collect(policy), "ema"))}
    assert found["risk.after.person_k"] == 12
    assert "risk.after.k" not in found


def test_json_is_plain(report: Report) -> None:
    for name in OTHERS:
        data = collect_evidence(report, name).as_dict()
        assert json_value(data) == json.loads(rendered(report, "json", name))


@pytest.mark.parametrize("context", [Context(), FILLED])
def test_a_text_document_has_what_the_page_has(report: Report, context: Context) -> None:
    docx = pytest.importorskip("docx")
    of = with_context(report, context)
    made = docx.Document(BytesIO(rendered_bytes(of, "docx", "gdpr")))
    assert (datetime.now(UTC) - made.core_properties.created.astimezone(UTC)).days == 0
    assert made.core_properties.title.startswith("Anonymous information under the GDPR")
    cells = [cell.text for table in made.tables for row in table.rows for cell in row.cells]
    text = "\n".join([*(one.text for one in made.paragraphs), *cells])
    evidence = collect_evidence(of, "gdpr")
    for value in values(evidence):
        assert value.text in cells or value.text in text
    for clause in evidence.clauses:
        assert f"{clause.number} {clause.title}" in text
    assert text.count("☐ Open: ") == len(evidence.open)
    assert not [value for value in RARE if value in text]
    if context.controls:
        assert "<script>alert(1)</script>" in text
        assert [one.style.name for one in made.paragraphs if one.text == "no linking"] == ["Quote"]


def test_the_page_for_the_gdpr_has_the_three_ways(report: Report) -> None:
    evidence = collect_evidence(report, "gdpr")
    shown = {value.figure: value.value for value in values(evidence)}
    attacked = report.attacked
    assert attacked is not None
    assert shown["attack.linking.most"] == attacked.linking.most
    assert shown["attack.linking.success"] == attacked.linking.success
    for at, one in enumerate(attacked.inference):
        assert shown[f"attack.inference.{at}.most_confident"] == one.most_confident
    without = collect_evidence(replace(report, attacked=None), "gdpr")
    assert {"WP216, 3"} <= {
        clause.number for clause, entry in without.open if "--attack" in entry.how
    }
