"""A signed export: whoever gets the files checks them with the public key alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Call

FILE, BESIDE = Path("people.csv"), Path("people.csv.manifest.json")
SIGNATURE = Path("people.csv.manifest.sig")
VERIFY = ("verify", "--database", str(FILE), "--public-key", "k.pem.pub")


@pytest.fixture
def exported(warehouse: Path, call: Call) -> Call:
    """In the folder of the warehouse, a signed export of its release."""
    assert warehouse.is_dir()
    Path("policy.yml").write_text(POLICY)
    for given in (
        ("key", "new", "k.pem"),
        ("key", "new", "other.pem"),
        ("run", "policy.yml", "--database", "warehouse.duckdb"),
        ("export", "policy.yml", "-o", str(FILE), "--sign", "k.pem"),
    ):
        done = call(*given)
        assert done.code == 0, done.err
    return call


def test_a_signed_file_is_verified_with_the_key_alone(exported: Call) -> None:
    done = exported(*VERIFY)
    assert done.code == 0
    assert "signed by the owner of the key" in done.err
    assert exported(*VERIFY[:-1], "other.pem.pub").code == 1


def forged_rows() -> None:
    from hashlib import sha256

    text = FILE.read_text().splitlines()
    FILE.write_text("\n".join([*text[:-1], text[1]]) + "\n")
    told = json.loads(BESIDE.read_text())
    told["export"]["files"][0]["sha256"] = sha256(FILE.read_bytes()).hexdigest()
    BESIDE.write_text(json.dumps(told, indent=2, sort_keys=True) + "\n")


FORGED: dict[str, Callable[[], object]] = {
    "rows and digests": forged_rows,
    "the rows": lambda: FILE.write_text(FILE.read_text().replace(",", ";", 1)),
    "the manifest": lambda: BESIDE.write_text(BESIDE.read_text() + " "),
    "no signature": SIGNATURE.unlink,
    "another signature": lambda: SIGNATURE.write_text("aaaa\n"),
    "no manifest": BESIDE.unlink,
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_export_is_refused(exported: Call, name: str) -> None:
    FORGED[name]()
    done = exported(*VERIFY)
    assert done.code in (1, 2)
    assert "signed by" not in done.err
    assert "Traceback" not in done.err


def test_an_export_without_a_key_has_no_signature(exported: Call) -> None:
    assert exported("export", "policy.yml", "-o", str(FILE)).code == 0
    assert not SIGNATURE.exists()
    assert "by whom" in exported(*VERIFY[:3]).err
