"""`python -m benchmarks reproduce`: the page that it writes, and what it refuses."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.reproduce import command, lgb
from benchmarks.reproduce.claims import SEEDS, Claim, Effort, Panel, Paper, Rule
from benchmarks.reproduce.fingerprint import fingerprint
from benchmarks.reproduce.page import PAGES, stale

PAPER = Paper(
    name="toy",
    title="A toy",
    citation="Nobody, *Nothing*, 1900.",
    inputs=("benchmarks/reproduce/pool.py",),
    seeds=2,
    measured=lambda effort: [
        {"seed": seed, "k": k, "loss": k / 10 + seed / 1000, "way": "plain"}
        for seed in range(1, effort.seeds + 1)
        for k in (5, 10)
    ],
    claims=(
        Claim("Fig. 1", "loss grows", "2.00", "ratio",
              lambda runs: runs.one("loss", k=10) / runs.one("loss", k=5), Rule(least=1.5),
              remark="Always."),
        Claim("Fig. 1", "by three", "3.00", "ratio",
              lambda runs: runs.one("loss", k=10) / runs.one("loss", k=5), Rule(least=2.9),
              "It is a toy."),
        Claim("Fig. 2", "values", "an image", why="It is an image."),
    ),
    figures={
        "fig1": (Panel("1", "Fig. 1", "k", "loss", "loss", lambda r: str(r["way"])),),
        "fig2": (Panel("2", "Fig. 2", "k", "gone", "gone", lambda r: str(r["way"])),),
    },
    notes="Smaller than the paper.",
    more=lambda runs: f"{len(runs.records)} runs.",
)  # fmt: skip


def made(folder: Path, paper: Paper = PAPER, *, quick: bool = False, seeds: int = 2) -> str:
    effort = Effort(quick=quick, seeds=seeds, jobs=1, scratch=folder)
    return command.reproduce(paper, effort, folder, "the command").read_text()


def test_the_page_has_claims_verdicts_reasons_and_where_it_is_from(tmp_path: Path) -> None:
    text = made(tmp_path)
    assert "| made by | `the command` |" in text
    assert f"| code | `{fingerprint(PAPER.code)}` of `benchmarks/reproduce/pool.py`" in text
    assert re.search(r"\| date \| \d{4}-\d\d-\d\d \|", text)
    assert "cores" in text
    assert "DuckDB" in text
    assert "3: 1 × holds, 1 × does not hold, 0 × undecided, 1 × cannot be tested." in text
    assert re.search(
        r"\| 1 \| Fig. 1 \| loss grows \| 2.00 \| ratio \| 1.99\d ± .* \| \*\*holds", text
    )
    assert "- 1 (holds): Always." in text
    assert "- 2 (does not hold): It is a toy." in text
    assert "- 3 (cannot be tested): It is an image." in text
    assert "Smaller than the paper." in text
    assert "4 runs." in text


def test_figures_have_tables_plots_and_raw_values(tmp_path: Path) -> None:
    text = made(tmp_path)
    assert "| 5 | 0.5015 ± 0.0064 |" in text
    assert "![fig1](toy_fig1.png)" in text
    assert (tmp_path / "toy_fig1.png").stat().st_size > 1000
    assert "fig2" not in text, "nothing was measured for it"
    with (tmp_path / "toy.csv").open() as handle:
        assert [row["loss"] for row in csv.DictReader(handle)] == [
            "0.501",
            "1.001",
            "0.502",
            "1.002",
        ]


def test_a_quick_page_says_so_and_one_seed_has_no_interval(tmp_path: Path) -> None:
    text = made(tmp_path, quick=True, seeds=1)
    assert "A quick run" in text
    assert "1, so no interval" in text
    assert "±" not in text


def test_a_page_is_stale_when_its_code_is_other_code(tmp_path: Path) -> None:
    assert "toy.md is missing; run: python -m benchmarks reproduce toy" in str(
        stale(PAPER, tmp_path)
    )
    made(tmp_path)
    assert stale(PAPER, tmp_path) is None
    other = replace(PAPER, inputs=("benchmarks/reproduce/page.py",))
    assert "made by other code" in str(stale(other, tmp_path))
    assert "python -m benchmarks reproduce toy" in str(stale(other, tmp_path))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "unknown paper nosuch (known: hierarchies, privacyfrost, msb, lgb, danonyir)"),
        (["lgb", "--seeds", "0"], "--seeds must be 1 or more"),
        (["lgb", "--seeds", "many"], "invalid int value"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        command.main(arguments)
    assert left.value.code == 2
    assert said in capsys.readouterr().err


def test_help_says_how_many_seeds_a_page_has(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "default: 8, and 1 where nothing is drawn (hierarchies), as on the pages" in said
    assert {paper.seeds for paper in command.PAPERS.values()} == {1, SEEDS}


def test_papers_are_run_in_turn_and_a_quick_run_writes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "PAPERS", {"toy": PAPER})
    monkeypatch.setattr(command, "scratch", lambda: tmp_path)
    assert command.main(["--quick"]) == 0
    assert (tmp_path / "quick" / "toy.md").exists()
    assert not (PAGES / "toy.md").exists()
    said = capsys.readouterr().out
    assert "toy: 0 holds, 0 does not hold, 2 undecided, 1 cannot be tested" in said
    assert "s in all" in said


def test_a_paper_that_fails_keeps_no_other_from_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(effort: Effort) -> list[dict[str, object]]:
        raise RuntimeError("no data")

    broken = replace(PAPER, name="broken", measured=fails)
    monkeypatch.setattr(command, "PAPERS", {"broken": broken, "toy": PAPER})
    assert command.main(["--out", str(tmp_path)]) == 1
    assert [file.name for file in tmp_path.glob("*.md")] == ["toy.md"]
    said = capsys.readouterr().err
    assert "no data" in said
    assert "no page was written for broken" in said


@pytest.mark.slow
def test_lgb_is_reproduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lgb, "QUICK_ROWS", 1_500)
    monkeypatch.setattr(lgb, "QUICK_QUERIES", 20)
    before = {file: file.stat().st_mtime_ns for file in PAGES.iterdir()}
    assert (
        command.main(["lgb", "--quick", "--seeds", "2", "--jobs", "1", "--out", str(tmp_path)]) == 0
    )
    text = (tmp_path / "lgb.md").read_text()
    assert "| 3 | Fig. 5 | the penalty is the same for every l" in text
    assert re.search(r"over l, the worst of all k and both variants \| 1 \| 1 \| \*\*holds", text)
    assert {file: file.stat().st_mtime_ns for file in PAGES.iterdir()} == before
