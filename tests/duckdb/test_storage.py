"""Releases are files that older versions of DuckDB can open: 1.4 unless the policy says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from anonymizer import Policy
from anonymizer.errors import PolicyError
from tests.runs import policy, run, source

TYPES = {"id": "INTEGER", "age": "INTEGER"}


def asked(folder: Path, **publish: str) -> Policy:
    return policy(folder, {"id": "identifier", "age": "quasi"}, k=2, publish=publish)


def header_version(path: Path) -> int:
    """The format's number: eight bytes after the checksum and the four magic ones."""
    with path.open("rb") as handle:
        return int.from_bytes(handle.read(20)[12:20], "little")


@pytest.mark.slow
def test_a_release_has_the_format_that_the_policy_says(tmp_path: Path) -> None:
    path = source(tmp_path, TYPES, [(i, i // 2) for i in range(8)])
    run(asked(tmp_path), path)
    usual = header_version(tmp_path / "release.duckdb")
    found = {}
    for version in ("v1.0.0", "v1.2.0", "v1.4.0", "v1.5.0", "latest"):
        run(asked(tmp_path, storage=version), path)
        found[version] = header_version(tmp_path / "release.duckdb")
    assert sorted(found.values()) == list(found.values())
    assert found["v1.0.0"] < usual == found["v1.4.0"] < found["latest"]


def test_a_format_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"publish\.storage: is the format of a file") as error:
        Policy.model_validate(
            {
                "version": 1,
                "source": {"table": "people"},
                "columns": {"age": {"role": "quasi"}},
                "privacy": {"k_anonymity": 2},
                "publish": {"storage": "v1.5.0"},
            }
        )
    assert len(error.value.problems) == 1
    assert asked(tmp_path).publish.storage == "v1.4.0"


@pytest.mark.shell
def test_an_older_shell_opens_the_release(tmp_path: Path) -> None:
    path = source(tmp_path, TYPES, [(i, i // 2) for i in range(8)])
    run(asked(tmp_path), path)
    shell = ["duckdb", "-readonly", "-csv", str(tmp_path / "release.duckdb")]
    version = subprocess.run(["duckdb", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("v1."), "the shell is not older than the library any more"
    done = subprocess.run(
        [*shell, "select count(*) from people_anonymous"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["count_star()", "8"], done.stderr
