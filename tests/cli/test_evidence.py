"""Reports in the words of a standard on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Call, listing

DATABASE = ("--database", "warehouse.duckdb")


@pytest.fixture
def released(warehouse: Path, call: Call) -> Call:
    assert call("run", "policy.yml", *DATABASE).code == 0
    return call


@pytest.mark.slow
def test_a_page_of_its_own(released: Call, warehouse: Path) -> None:
    before = set(listing(warehouse))
    done = released("report", "policy.yml", "--as", "ema")
    assert (done.code, done.err) == (0, "wrote ema.html\n")
    assert set(listing(warehouse)) - before == {"ema.html"}
    done = released("report", "policy.yml", "--as", "iso27559", "--format", "json")
    found = json.loads(done.out)
    assert (done.code, found["standard"], found["passed"]) == (0, "iso27559", True)
    # k = 4 is above the threshold of EMA; the policy promised nothing else
    found = json.loads(released("report", "policy.yml", "--as", "ema", "--format", "json").out)
    assert found["above_threshold"][0]["threshold"] == 0.09
    # a context is stated afterwards, and the release stays as it is
    context = "context: {recipients: anybody, acceptable_risk: 0.3}\n"
    Path("policy.yml").write_text(POLICY + context)
    done = released("report", "policy.yml", "--as", "sp800-188", "--format", "md")
    assert done.code == 0
    assert "> anybody" in done.out
    assert "the policy has changed" not in done.out
    assert released("verify", "policy.yml").code == 0
