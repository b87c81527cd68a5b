"""Certificates and lineage on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call, listing

DATABASE = ("--database", "warehouse.duckdb")
KEY = ("--public-key", "key.pem.pub")


@pytest.fixture
def released(warehouse: Path, call: Call) -> Call:
    assert call("key", "new", "key.pem").code == 0
    assert call("run", "policy.yml", *DATABASE).code == 0
    return call


def test_a_certificate_of_a_release(released: Call) -> None:
    done = released("certify", "policy.yml", "--sign", "key.pem", "-o", "c.json")
    assert (done.code, done.out) == (0, "wrote c.json\n")
    checked = released("verify", "policy.yml", "--certificate", "c.json", *KEY)
    assert checked.code == 0
    alone = ("--database", "release.duckdb", "--certificate", "c.json")
    done = released("verify", *alone, *KEY, "--format", "json")
    assert (done.code, done.json["origin"], done.json["certificate"]) == (0, "signature", "c.json")
    done = released("verify", *alone)
    assert done.code == 2
    assert "--public-key: is missing" in done.err
    # a second run is another release
    assert released("run", "policy.yml", *DATABASE).code == 0
    done = released("verify", *alone, *KEY)
    assert done.code == 1
    assert "certificate.predicate.release.runId: is not that of the release" in done.err
    Path("c.json").write_text("{}")
    done = released("verify", *alone, *KEY)
    assert done.code == 2
    assert "is not a DSSE envelope" in done.err
    assert released("verify", "--certificate", "no.json", *KEY, *alone[:2]).code == 2


def test_lineage_goes_only_where_it_is_sent(released: Call, warehouse: Path) -> None:
    before = listing(warehouse)
    done = released("lineage", "policy.yml")
    event = json.loads(done.out)
    assert (done.code, event["job"]["name"]) == (0, "main.visits_anonymous")
    assert listing(warehouse) == before
    done = released("lineage", "policy.yml", "-o", "event.json", "--source-namespace", "theirs")
    assert done.code == 0
    written = json.loads(Path("event.json").read_text())
    assert written["run"] == event["run"]
    assert written["inputs"][0]["namespace"] == "theirs"
    done = released("lineage", "policy.yml", "--to", "http://127.0.0.1:9/api/v1/lineage")
    assert (done.code, done.out) == (2, "")
    assert "--to: did not answer" in done.err
    done = released("lineage", "policy.yml", "--to", "event.json", "--format", "json")
    assert done.code == 2
    assert done.json["errors"][0]["path"] == "--to"
