"""Approvals on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Call, listing

DATABASE = ("--database", "warehouse.duckdb")
LATER = str(datetime.now(UTC).date() + timedelta(days=30))
BY = ("--by", "Grace", "--until", LATER)


@pytest.fixture
def place(warehouse: Path) -> Path:
    (warehouse / "policy.yml").write_text(POLICY + "ledger: ledger.duckdb\n")
    return warehouse


def test_a_run_that_needs_an_approval(place: Path, call: Call) -> None:
    before = listing(place)
    done = call("run", "policy.yml", *DATABASE, "--require-approval")
    assert done.code == 2
    assert "approval: is missing: nobody has approved main.visits_anonymous" in done.err
    assert listing(place) == before
    done = call("approve", "policy.yml", *BY, "--note", "one study")
    assert done.code == 0
    assert f"Grace accepts until {LATER}" in done.out
    assert "chance of up to 1 in 4" in done.out
    done = call("run", "policy.yml", *DATABASE, "--require-approval", "--format", "json")
    assert done.code == 0
    assert (done.json["approval"]["by"], done.json["approval"]["note"]) == ("Grace", "one study")
    # no word of it is in the release
    for path in ("release.duckdb", "visits_anonymous.manifest.json"):
        assert b"Grace" not in Path(path).read_bytes()
    weaker = Path("policy.yml").read_text().replace("k_anonymity: 4", "k_anonymity: 3")
    Path("policy.yml").write_text(weaker)
    released = Path("release.duckdb").read_bytes()
    done = call("run", "policy.yml", *DATABASE, "--require-approval", "--format", "json")
    assert done.code == 2
    assert done.json["errors"][0]["path"] == "k_anonymity"
    assert Path("release.duckdb").read_bytes() == released
    listed = call("ledger", "approvals", "ledger.duckdb", "--format", "json")
    assert [(one["by"], one["note"]) for one in listed.json["approvals"]] == [
        ("Grace", "one study")
    ]
    assert "Grace" in call("ledger", "approvals", "ledger.duckdb").out
    assert call("ledger", "approvals", "nowhere.duckdb").out == "no approval\n"
    # it can be asked of another ledger than the policy's
    done = call("run", "policy.yml", *DATABASE, "--require-approval", "--approvals", "l.duckdb")
    assert (done.code, "nobody has approved" in done.err) == (2, True)
    done = call("run", "policy.yml", *DATABASE, "--approvals", "ledger.duckdb")
    assert (done.code, "needs --require-approval" in done.err) == (2, True)
    # with a preset it is another policy too
    done = call("run", "policy.yml", *DATABASE, "--require-approval", "--preset", "external")
    assert done.code == 2
