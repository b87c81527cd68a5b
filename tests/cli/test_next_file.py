"""A policy and the file of another month: every command takes the file of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call

POLICY = """\
version: 1
source: {file: may.csv, read: {encoding: windows-1252, delimiter: ";", skip: 1}}
columns:
  age: {role: quasi}
  sex: {role: quasi}
  town: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_anonymity: 5}
publish: {database: release.duckdb, name: people}
"""


def written(name: str, rows: int) -> None:
    towns = ("Köln", "Mölln", "Jena")
    lines = [f"{20 + i * 7 % 40};{'fm'[i % 2]};{towns[i % 3]}" for i in range(rows)]
    Path(name).write_text("A list\nage;sex;town\n" + "\n".join(lines) + "\n", "windows-1252")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.yml").write_text(POLICY)
    written("may.csv", 200)
    written("june.csv", 230)


def test_the_file_of_the_run_is_attacked_and_reported(call: Call) -> None:
    assert call("run", "policy.yml", "--source", "june.csv").code == 0
    other = call("attack", "policy.yml", "--share", "1")
    assert "another number of rows than the release was made of" in other.err
    same = call("attack", "policy.yml", "--source", "june.csv", "--share", "1")
    assert (same.code, same.err) == (0, "")
    done = call("report", "policy.yml", "--source", "june.csv", "-o", "r.json")
    assert done.code == 0, done.err
    assert Path("r.json").is_file()


def test_a_file_is_assessed_as_the_policy_and_as_a_draft_read_it(call: Call) -> None:
    by_policy = call("assess", "policy.yml", "--format", "json")
    assert by_policy.code == 0, by_policy.err
    by_file = call("assess", "may.csv", "--quasi", "age,sex", "--format", "json")
    assert by_file.code == 0, by_file.err
    assert json.loads(by_policy.out)["rows"] == json.loads(by_file.out)["rows"] == 200


def test_the_file_of_last_month_is_not_taken_again_in_silence(call: Call) -> None:
    """A series whose file was not named: the policy still says the first one."""
    with_key = POLICY.replace("columns:", "key: id\ncolumns:\n  id: {role: identifier}")
    Path("policy.yml").write_text(with_key + "ledger: ledger.duckdb\nrepublish: {follow: true}\n")
    for month in ("may", "june"):
        text = Path(f"{month}.csv").read_text("windows-1252").splitlines()
        rows = [f"{i};{line}" for i, line in enumerate(text[2:])]
        lines = [text[0], f"id;{text[1]}", *rows]
        Path(f"{month}.csv").write_text("\n".join(lines), "windows-1252")
    said = "source.file: has not changed since the release before"
    assert said not in call("run", "policy.yml").err
    again = call("run", "policy.yml")
    assert again.code == 0, again.err
    assert said in again.err
    assert said not in call("run", "policy.yml", "--source", "june.csv").err


def test_a_title_that_comes_or_goes(call: Call) -> None:
    text = Path("june.csv").read_text("windows-1252")
    Path("june.csv").write_text(text.split("\n", 1)[1], "windows-1252")
    gone = call("plan", "policy.yml", "--source", "june.csv")
    assert gone.code == 2
    assert "its first line after source.read.skip: 1 has to name the columns" in gone.err
    Path("june.csv").write_text("Of June 2026;;\n" + text, "windows-1252")
    come = call("plan", "policy.yml", "--source", "june.csv")
    assert come.code == 2
    assert "source.read: {skip:" in come.err


def test_a_file_that_was_handed_out_is_no_policy(call: Call) -> None:
    assert call("run", "policy.yml").code == 0
    assert call("export", "policy.yml", "-o", "out.csv").code == 0
    for given in ("out.csv", "out.csv.manifest.json"):
        refused = call("verify", given)
        assert refused.code == 2
        assert "(hint: anonymizer verify --database out.csv)" in refused.err
    assert call("verify", "--database", "out.csv").code == 0
