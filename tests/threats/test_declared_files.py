"""A hierarchy file that is edited after the run: the policy no longer describes the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.errors import GuaranteeError, SourceError
from anonymizer.policy import Policy
from anonymizer.policy.referenced_files import declared_digests, declared_files
from anonymizer.publish.export import export
from anonymizer.release.consistency import refuse_other_policy
from anonymizer.release.manifest import Manifest
from anonymizer.run import verbs
from anonymizer.run.tables import read_tables
from tests.runs import policy, run, source

TYPES = {"town": "VARCHAR", "age": "INTEGER", "disease": "VARCHAR"}
PEOPLE = [("abcd"[i % 4], i % 5, ("Flu", "HIV", "Cold")[i % 3]) for i in range(60)]
COLUMNS: dict[str, Any] = {
    "town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}},
    "age": "quasi",
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}
PATH = "columns.town.hierarchy.file"
NORTH, SWAPPED = "a;N;*\nb;N;*\nc;S;*\nd;S;*\n", "a;S;*\nb;N;*\nc;N;*\nd;S;*\n"


@pytest.fixture
def released(tmp_path: Path) -> tuple[Policy, anonymizer.Release]:
    (tmp_path / "towns.csv").write_text(NORTH)
    given = policy(tmp_path, COLUMNS, k=3)
    return given, run(given, source(tmp_path, TYPES, PEOPLE))


def test_an_edited_hierarchy_is_refused(
    tmp_path: Path, released: tuple[Policy, anonymizer.Release]
) -> None:
    given, release = released
    assert set(release.manifest.data["files"]) == {PATH}
    assert PATH not in anonymizer.verify(given).unverified
    (tmp_path / "towns.csv").write_text(SWAPPED)
    assert given.digest() == release.manifest.data["policy_digest"]
    with pytest.raises(GuaranteeError, match=f"{PATH}: has another content"):
        anonymizer.verify(given)
    with pytest.raises(GuaranteeError, match=f"{PATH}: has another content"):
        export(given, tmp_path / "out.csv")
    (tmp_path / "towns.csv").write_text(NORTH)
    assert anonymizer.verify(given).passed


def test_what_is_not_compared_is_named(
    tmp_path: Path, released: tuple[Policy, anonymizer.Release]
) -> None:
    given, release = released
    (tmp_path / "towns.csv").unlink()
    assert PATH in anonymizer.verify(given).unverified
    assert PATH in anonymizer.verify(None, tmp_path / "release.duckdb").unverified
    # a manifest of an earlier version states no digests, and stays readable
    (tmp_path / "towns.csv").write_text(SWAPPED)
    data = {name: value for name, value in release.manifest.data.items() if name != "files"}
    refuse_other_policy(given, Manifest(data))


def test_a_file_that_changes_during_the_run_publishes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "towns.csv").write_text(NORTH)
    given, database = policy(tmp_path, COLUMNS, k=3), source(tmp_path, TYPES, PEOPLE)
    reads = read_tables

    def edited(*args: Any) -> Any:
        found = reads(*args)
        (tmp_path / "towns.csv").write_text(SWAPPED)
        return found

    monkeypatch.setattr(verbs, "read_tables", edited)
    with pytest.raises(SourceError, match=f"{PATH}: was changed while the run read it"):
        run(given, database)
    assert not (tmp_path / "release.duckdb").exists()


def test_a_changed_digest_is_a_changed_release(
    tmp_path: Path, released: tuple[Policy, anonymizer.Release]
) -> None:
    given, release = released
    forged = release.manifest.text().replace(release.manifest.data["files"][PATH], "0" * 64)
    with duckdb.connect(str(tmp_path / "release.duckdb")) as connection:
        connection.execute("update people_anonymous_manifest set manifest = ?", [forged])
    with pytest.raises(GuaranteeError, match="manifest"):
        anonymizer.verify(given)


def test_which_files_are_declared(tmp_path: Path) -> None:
    """Populations of guarantees are judged anew; keys, vaults and sources never leave a digest."""
    text = """\
version: 1
source: {file: visits.csv}
columns:
  id: {role: token, key_file: tokens.key, vault: vault.duckdb}
  age: {role: quasi, hierarchy: {file: age.csv}}
privacy: {k_map: {k: 4, population: {file: people.csv}}}
publish: {database: release.duckdb}
"""
    given = Policy.loads(text, tmp_path)
    for name in ("visits.csv", "tokens.key", "vault.duckdb", "age.csv", "people.csv"):
        (tmp_path / name).write_text("x")
    assert set(declared_files(given)) == set(declared_digests(given))
    assert set(declared_files(given)) == {"columns.age.hierarchy.file"}
