"""`anonymizer plan` for a table that is followed, as text and as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Call
from tests.threats.test_ledger_plan import after_one_leaves


def test_a_plan_in_text_and_json(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written, and the statements do not grow with the releases."""
    after_one_leaves(tmp_path, 300)
    monkeypatch.chdir(tmp_path)
    text = (
        "version: 1\nsource: {table: visits}\nkey: id\nprivacy: {k_anonymity: 3}\ncolumns:\n"
        "  id: {role: identifier}\n  age: {role: quasi}\n  district: {role: quasi}\n"
        "  disease: {role: sensitive, protect: {l_diversity: 3}}\n"
        "publish: {name: released, database: release.duckdb}\nsuppression_limit: 0.9\n"
        "ledger: private.duckdb\nrepublish: {follow: true}\n"
    )
    Path("policy.yml").write_text(text)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = call("plan", "policy.yml", "--database", "source.duckdb", "--no-forecast")
    assert done.code == 0, done.err
    assert "1 have left, and" in done.out
    assert "leaving is frequent" in done.out
    assert re.search(
        r"left out in all: \d+ rows; at this rate \d+ further releases reach", done.out
    )
    done = call(
        "plan", "policy.yml", "--database", "source.duckdb", "--no-forecast", "--format", "json"
    )
    found = json.loads(done.out)["series"]
    assert (found["leavers"], found["releases"]) == (1, 1)
    assert len(found["frontier"]) == 6
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    assert call("run", "policy.yml", "--database", "source.duckdb").code == 0
    again = call("plan", "policy.yml", "--database", "source.duckdb", "--no-forecast")
    assert "nobody has joined or left since" in again.out
