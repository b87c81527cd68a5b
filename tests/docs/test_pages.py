"""Pages whose commands are executed in turn do what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from anonymizer.policy import Policy, SchemaPolicy, load_policy
from anonymizer.policy.safe_harbor import KINDS as OF_SAFE_HARBOR
from anonymizer.review import demo
from anonymizer.review.evidence import standards
from anonymizer.source.identifiers import KINDS as IN_TEXT
from tests.docs.blocks import ROOT, blocks, follow

DOCS = ROOT / "docs"
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def shown(page: str) -> list[str]:
    """What a page says that its commands print."""
    return [block.code for block in blocks(DOCS / page) if block.language == "text"]


@pytest.mark.slow
def test_a_release_beside_the_raw_table(tmp_path: Path) -> None:
    printed = follow(DOCS / "how-to" / "in-place.md", tmp_path)
    assert "published published.visits_anonymous" in printed[2]
    assert "k_anonymity" in printed[3]
    assert "published.visits_anonymous" in printed[4]
    assert "k\\_anonymity | k=5 | k=8" in printed[5]
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as warehouse:
        columns = {
            row[0] for row in warehouse.execute("describe published.visits_anonymous").fetchall()
        }
        assert columns == {"person_id", "age", "sex", "disease", "class_id"}
        made = warehouse.execute("select object_name from _anonymizer.objects").fetchall()
        assert {name for (name,) in made} >= {"visits_anonymous", "visits_anonymous_manifest"}


@pytest.mark.slow
def test_a_table_that_is_replaced(tmp_path: Path) -> None:
    printed = follow(DOCS / "how-to" / "replace-source.md", tmp_path)
    assert "published main.visits" in printed[2]
    assert "distinct_l" in printed[2]
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as warehouse:
        described = warehouse.execute("describe visits").fetchall()
    assert {row[0] for row in described} == {"class_id", "age", "disease"}
    assert b"patient 1234" not in (tmp_path / "warehouse.duckdb").read_bytes()


@pytest.mark.slow
def test_safe_harbor(tmp_path: Path) -> None:
    page = "how-to/safe-harbor.md"
    printed = follow(DOCS / page, tmp_path)
    assert any("main.visits_safe_harbor" in text and "pseudonymised" in text for text in printed)
    assert [printed[-1]] == shown(page)


@pytest.mark.slow
def test_text_that_names_somebody(tmp_path: Path) -> None:
    page = "how-to/text.md"
    assert follow(DOCS / page, tmp_path) == shown(page)


@pytest.mark.slow
def test_files_as_offices_write_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "how-to/files.md"
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}  # its blocks are one session of Python
    for block in blocks(DOCS / page):
        if block.language == "python":
            exec(block.code, names)
    assert capsys.readouterr().out.split() == "".join(shown(page)).split()


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("how-to/safe-harbor.md", OF_SAFE_HARBOR),
        ("how-to/text.md", IN_TEXT),
        ("how-to/hand-over.md", standards()),
    ],
)
def test_every_kind_is_on_its_page(page: str, names: object) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert isinstance(names, dict | tuple | list | frozenset)
    assert [name for name in names if f"`{name}`" not in text] == []


@pytest.mark.slow
def test_handing_over(tmp_path: Path) -> None:
    page = "how-to/hand-over.md"
    printed = follow(DOCS / page, tmp_path)
    refusal, figures = shown(page)
    for said in (
        "Grace accepts until 2099-12-31",
        "wrote publisher.pem and publisher.pem.pub",
        "approved by Grace until 2099-12-31",
        "published main.visits_anonymous",
        "wrote certificate.json",
        "k_anonymity None 12",
        "age from age DIRECT TRANSFORMATION True",
        "disease from disease DIRECT IDENTITY False",
        "all checks hold",
    ):
        assert any(said in text for text in printed), said
    assert any(DAY.sub("", text).strip() == DAY.sub("", refusal).strip() for text in printed)
    assert printed[-1] == figures
    assert (tmp_path / "visits_anonymous.manifest.sig").is_file()
    assert "<data" in (tmp_path / "ema.html").read_text()
    assert json.loads((tmp_path / "expert.json").read_text())["standard"] == "hipaa-expert"


@pytest.mark.slow
def test_masked_columns(tmp_path: Path) -> None:
    printed = follow(DOCS / "masking.md", tmp_path)
    assert any("wrote tokens.key" in text for text in printed)
    assert any("main.visits_masked" in text and "pseudonymised" in text for text in printed)
    assert any("checks of form and against the source hold" in text for text in printed)
    assert any("16 different spans, 0 not of whole weeks" in text for text in printed)


@pytest.mark.slow
def test_risk_and_the_report_in_a_folder_of_the_demonstration(tmp_path: Path) -> None:
    made = demo.write(tmp_path)
    release = demo.run(made)
    assert release.verification.passed
    assert Policy.load(made.policy).publish.database
    assess, judged, attack, sweep, init = follow(DOCS / "risk.md", tmp_path)
    assert "prosecutor" in assess
    assert "holds" in judged
    assert "no promised bound was passed" in attack
    assert "k=20" in sweep
    assert "review" in init
    follow(DOCS / "report.md", tmp_path)
    assert "what it does not promise" in (tmp_path / "report.html").read_text().lower()
    assert (tmp_path / "report.md").read_text().startswith("# Privacy report")


@pytest.mark.slow
def test_hierarchies_and_full_domain(tmp_path: Path) -> None:
    pages = ("hierarchies.md", "algorithms/full_domain.md")
    _, drawn, suggested, exported, stored, ran, judged = (
        printed for page in pages for printed in follow(DOCS / page, tmp_path)
    )
    texts = [(DOCS / page).read_text(encoding="utf-8") for page in pages]
    for printed, page in ((drawn, 0), (suggested, 0), (exported, 0), (stored, 0), (judged, 1)):
        for line in printed.splitlines():
            assert line.rstrip() in texts[page]
    assert "level of age" in ran


@pytest.mark.slow
def test_several_tables(tmp_path: Path) -> None:
    page = DOCS / "several-tables.md"
    _, verified, attacked, _, assessed = follow(page, tmp_path)
    assert "known_events" in verified
    assert re.search(r"one event +1,500 -> 0 +1,500 -> 0 +1 -> 5 +5 left", attacked)
    assert re.search(r"the set of events +929 +61.9 % +1,021 +68.1 %", assessed)
    report = (tmp_path / "hospital" / "report.html").read_text()
    assert "What observers are left with" in report
    example = next(block for block in blocks(page) if block.language == "yaml")
    (tmp_path / "shown.yml").write_text(example.code)
    policy = load_policy(tmp_path / "shown.yml")
    assert isinstance(policy, SchemaPolicy)
    assert policy.digest() == load_policy(tmp_path / "hospital" / "policy.yml").digest()
