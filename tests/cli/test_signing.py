"""Keys, signatures and the second reader on the command line."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.run import verify as verifying
from tests.cli.conftest import Call

DATABASE = ("--database", "warehouse.duckdb")
RELEASE = ("--database", "release.duckdb")
KEY = ("--public-key", "key.pem.pub")


@pytest.fixture
def signed(warehouse: Path, call: Call) -> Call:
    assert call("key", "new", "key.pem").code == 0
    assert call("run", "policy.yml", *DATABASE, "--sign", "key.pem").code == 0
    return call


def test_a_key_is_its_owners_alone(warehouse: Path, call: Call) -> None:
    assert call("key", "new", "key.pem").code == 0
    assert stat.S_IMODE(Path("key.pem").stat().st_mode) == 0o600
    again = call("key", "new", "key.pem")
    assert (again.code, again.out) == (2, "")
    assert "exists" in again.err
    Path("key.pem").chmod(0o640)
    done = call("run", "policy.yml", *DATABASE, "--sign", "key.pem")
    assert done.code == 2
    assert "can be read by others" in done.err
    assert not Path("release.duckdb").exists()


def test_a_signed_release_tells_by_whom_it_was_made(signed: Call) -> None:
    done = signed("verify", *RELEASE, *KEY, "--format", "json")
    assert (done.code, done.json["origin"]) == (0, "signature")
    assert "unknown" not in done.err
    done = signed("verify", "policy.yml", "--format", "json")
    assert (done.code, done.json["origin"]) == (0, "policy")
    done = signed("verify", *RELEASE, "--format", "json")
    assert (done.code, done.json["origin"]) == (0, "unknown")
    assert "by whom this release was made is unknown" in done.err


def test_another_key_and_no_signature(signed: Call) -> None:
    assert signed("key", "new", "other.pem").code == 0
    done = signed("verify", *RELEASE, "--public-key", "other.pem.pub")
    assert done.code == 1
    assert "its signature is not that of this key" in done.err
    assert signed("run", "policy.yml", *DATABASE).code == 0
    done = signed("verify", *RELEASE, *KEY)
    assert done.code == 1
    assert "is not signed" in done.err
    assert not Path("visits_anonymous.manifest.sig").exists()


def test_without_the_library(signed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.setitem(sys.modules, name, None)
    done = signed("verify", *RELEASE, *KEY)
    assert done.code == 2
    assert 'pip install "sql-anonymizer[sign]"' in done.err


@pytest.mark.slow
def test_the_second_reader(signed: Call) -> None:
    done = signed("verify", *RELEASE, "--independent")
    assert done.code == 0
    assert "all checks hold" in done.out
    done = signed("verify", "policy.yml", "--independent", "--format", "json")
    assert (done.code, done.json["passed"]) == (0, True)
    with duckdb.connect("release.duckdb") as connection:
        connection.execute(
            "update visits_anonymous_manifest set manifest ="
            " regexp_replace(manifest, '\"k\": 4', '\"k\": 400')"
        )
    assert signed("verify", *RELEASE, "--independent").code == 1
    assert signed("verify", *RELEASE, "--independent", *KEY).code == 1
    with duckdb.connect("release.duckdb") as connection:
        connection.execute("update visits_anonymous_manifest set manifest = repeat('[', 100000)")
    assert signed("verify", *RELEASE, "--independent").code == 2
    done = signed("verify", *RELEASE)
    assert done.code == 2
    assert "cannot be read" in done.err


@pytest.mark.parametrize("how", ["replaced", "changed"])
def test_both_readers_judge_one_file(
    signed: Call, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Each of them opens it: what takes its place in between was judged by one alone."""
    real = verifying.verify

    def then_another(*given: Any, **rest: Any) -> Any:
        found = real(*given, **rest)
        release = Path("release.duckdb")
        times = release.stat()
        if how == "replaced":
            shutil.copy2(release, "copy.duckdb")
            Path("copy.duckdb").replace(release)
        else:
            content = release.read_bytes()
            release.write_bytes(content)
            os.utime(release, ns=(times.st_atime_ns, times.st_mtime_ns))
        return found

    monkeypatch.setattr(verifying, "verify", then_another)
    done = signed("verify", "policy.yml", *KEY, "--independent")
    assert (done.code, done.out) == (1, "")
    assert "release: was changed or replaced while it was judged" in done.err


@pytest.mark.parametrize("extra", [(), ("--independent",), ("--independent", "--plain")])
def test_the_second_reader_is_asked_besides_the_first(signed: Call, extra: tuple[str, ...]) -> None:
    """Rows that keep every guarantee, and are not those that were published."""
    with duckdb.connect("release.duckdb") as connection:
        found = connection.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchall()
        connection.execute(f"insert into {found[0][0]} from {found[0][0]}")
    done = signed("verify", *RELEASE, *extra)
    assert done.code == 1
    assert "are not those that were judged" in done.err
