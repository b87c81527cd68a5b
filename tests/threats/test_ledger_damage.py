"""A ledger that was damaged, or changed: no release is compared with what is left of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import EngineError
from anonymizer.ledger.session import forget_release, listed
from anonymizer.ledger.store import key_checks, read_key
from tests.forging import seal_ledger_again
from tests.schema import hospital
from tests.selection import some
from tests.threats.population import Population, policy
from tests.threats.test_ledger import PROTECTED

SCHEMA = "anonymizer_ledger"
DAMAGE = {
    "no members": "delete from {0}.members",
    "half of the members": "delete from {0}.members where class_id % 2 = 0",
    "members of another release": "update {0}.members set release = 7",
    "members of nobody": "update {0}.members set person = null",
    "no values": "delete from {0}.signatures",
    "values of one class fewer": "delete from {0}.signatures where grp = 1",
    "values that are null": "update {0}.signatures set signature = null",
    "no value in any class": "update {0}.signatures set signature = []",
    "other values": "update {0}.signatures set signature = [9223372036854775807]",
    "no dictionary": "delete from {0}.dictionary",
    "a dictionary of nulls": "update {0}.dictionary set text = null",
    "a value of two texts": (
        "insert into {0}.dictionary select facet, value, 'x' from {0}.dictionary"
    ),
    "a release twice": "insert into {0}.releases from {0}.releases",
    "no releases": "delete from {0}.releases",
    "more persons": "update {0}.releases set persons = 9223372036854775807",
    "a release without a number": "update {0}.releases set release = null",
    "no state": "update {0}.releases set state = null",
    "another state": "update {0}.releases set state = 'secret'",
    "no place": "update {0}.releases set target = null",
    "a run of another kind": "update {0}.releases set run_id = '../../etc'",
    "an owner that is none": "update {0}.releases set state = 'pending', owner = '[1,'",
    "an owner that is a number": "update {0}.releases set state = 'pending', owner = '1'",
    "an owner without a host": "update {0}.releases set state = 'pending', owner = '{{}}'",
    "an owner that is null": "update {0}.releases set state = 'pending', owner = null",
    "no columns": "update {0}.releases set facets = null",
    "another column": "update {0}.releases set facets = ['x']",
    "a column without a scope": "update {0}.releases set scopes = []",
    "no pseudonyms": "update {0}.releases set marks = null",
    "neither one row nor several": "update {0}.releases set several = null",
}


CHANGES = {
    "another person": "update {0}.members set person = person + 1 where class_id = 1",
    "persons of two classes exchanged": (
        "update {0}.members set class_id = 3 - class_id where class_id in (1, 2)"
    ),
    "another lineage": "update {0}.members set lineage = lineage + 1",
    "a longer promise": "update {0}.members set since = 1",
    "values of classes exchanged": (
        "update {0}.signatures set grp = (select min(grp) + max(grp) from {0}.signatures) - grp"
    ),
    "values in another order": "update {0}.signatures set signature = list_reverse(signature)",
    "texts of two values exchanged": (
        "update {0}.dictionary set text = 'x' || text where value = "
        "(select min(value) from {0}.dictionary)"
    ),
    "another view": "update {0}.releases set view = 'main.other'",
    "another place": "update {0}.releases set target = '/nowhere/release.duckdb'",
    "a release that was not published": "update {0}.releases set state = 'pending'",
    "another policy": "update {0}.releases set policy_digest = ''",
    "another secret": "update {0}.releases set secret_digest = ''",
    "several rows of a person": "update {0}.releases set several = not several",
    "other persons": "update {0}.releases set person_column = 'other'",
    "counterfeits": "update {0}.releases set counterfeits = 1",
    "another seal": "update {0}.releases set seal = repeat('0', 64)",
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    Population(seed=2, size=60).write(folder / "source.duckdb")
    anonymizer.run(policy(folder, columns=PROTECTED), folder / "source.duckdb")
    return folder


@some(3)
@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_ledger_is_refused(kept: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    before = (tmp_path / "release.duckdb").read_bytes()
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        connection.execute(DAMAGE[name].format(SCHEMA))
    with pytest.raises(EngineError, match=r"ledger: is damaged.*restore the ledger from a copy"):
        anonymizer.run(policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb")
    assert (tmp_path / "release.duckdb").read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["values of one class fewer", "no value in any class"])
def test_classes_without_values_are_missed(kept: Path, tmp_path: Path, name: str) -> None:
    """They are looked for apart from the seal, which a ledger of before has not."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        connection.execute(DAMAGE[name].format(SCHEMA))
    with pytest.raises(EngineError, match=r"does not have the values of all classes"):
        anonymizer.run(policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb")


def content(connection: duckdb.DuckDBPyConnection) -> list[str]:
    tables = ("members", "signatures", "dictionary", "releases")
    return sorted(
        f"{table} {row}"
        for table in tables
        for row in connection.execute(f"from {SCHEMA}.{table}").fetchall()
    )


@some(4)
@pytest.mark.parametrize("name", CHANGES)
def test_a_ledger_that_was_changed_is_refused(kept: Path, tmp_path: Path, name: str) -> None:
    """Nothing is lost and everything has its form: only the seal tells it."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        before = content(connection)
        connection.execute(CHANGES[name].format(SCHEMA))
        assert content(connection) != before
    with pytest.raises(EngineError, match=r"ledger: is damaged: .* was changed") as told:
        anonymizer.run(policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb")
    assert "restore the ledger from a copy; or `anonymizer ledger forget" in str(told.value)


def test_a_changed_release_can_be_forgotten(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    ledger = tmp_path / "private.duckdb"
    with duckdb.connect(str(ledger)) as connection:
        connection.execute(CHANGES["another lineage"].format(SCHEMA))
    (run_id,) = (entry.run_id for entry in listed(ledger))
    forget_release(ledger, run_id)
    anonymizer.run(policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb")


@some(2)
@pytest.mark.parametrize(
    ("releases", "before", "refused"),
    [
        ("release = 1", True, False),
        ("true", True, False),
        ("release = 2", True, True),
        ("release = 1", False, True),
        ("true", False, True),
    ],
)
def test_releases_without_a_seal(
    kept: Path, tmp_path: Path, releases: str, before: bool, refused: bool
) -> None:
    """Those of before there were seals are read, but none after a sealed one; others were sealed,
    and whoever takes the seal away does not know the key check of before.
    """
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    asked, database = policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb"
    anonymizer.run(asked, database)
    ledger = tmp_path / "private.duckdb"
    key = read_key(ledger)
    assert key is not None
    seal_ledger_again(ledger, before_lists=True)
    unsealed = "seal = null" + (f", key_check = '{key_checks(key)[-1]}'" if before else "")
    with duckdb.connect(str(ledger)) as connection:
        connection.execute(f"update {SCHEMA}.releases set {unsealed} where {releases}")
    if not refused:
        anonymizer.run(asked, database)
        assert {entry.key_check for entry in listed(ledger)} == {key_checks(key)[0]}
        anonymizer.run(asked, database)  # what was sealed and listed then is as it was recorded
        return
    with pytest.raises(EngineError, match=r"ledger: is damaged: .* was changed"):
        anonymizer.run(asked, database)


REMOVED = [
    "delete from {0}.{1} where release = 1",
    "delete from {0}.{1} where release = 2",
    "delete from {0}.{1} where release = 2; delete from {0}.listing",
    "delete from {0}.{1} where release = 2; drop table if exists {0}.listing",
    "delete from {0}.{1} where release = 2; update {0}.listing set listing = repeat('0', 64)",
    "update {0}.{1} set release = 5 - release",
    "update {0}.{1} set release = release + 1",
]


@pytest.fixture(scope="module")
def kept_twice(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("twice")
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    anonymizer.run(policy(folder, columns=PROTECTED), folder / "source.duckdb")
    return folder


@some(3)
@pytest.mark.parametrize("change", REMOVED)
def test_a_release_that_was_removed_as_a_whole_is_missed(
    kept_twice: Path, tmp_path: Path, change: str
) -> None:
    shutil.copytree(kept_twice, tmp_path, dirs_exist_ok=True)
    ledger = tmp_path / "private.duckdb"
    runs = [entry.run_id for entry in listed(ledger)]
    with duckdb.connect(str(ledger)) as connection:
        for table in ("members", "signatures", "schemas", "rows", "releases"):
            connection.execute(change.format(SCHEMA, table))
    before = (tmp_path / "release.duckdb").read_bytes()
    with pytest.raises(EngineError, match=r"ledger: is damaged: its releases are not those that"):
        anonymizer.run(policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb")
    assert (tmp_path / "release.duckdb").read_bytes() == before
    for run_id in {entry.run_id for entry in listed(ledger)} & set(runs):
        with pytest.raises(EngineError, match="ledger: is damaged"):
            forget_release(ledger, run_id)  # would make the list of what is left


@pytest.mark.slow
def test_a_list_without_its_key_is_not_made_anew(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    ledger = tmp_path / "private.duckdb"
    (run_id,) = (entry.run_id for entry in listed(ledger))
    (tmp_path / "private.duckdb.key").rename(tmp_path / "away")
    with pytest.raises(EngineError, match=r"its key .* is missing"):
        forget_release(ledger, run_id)
    (tmp_path / "away").rename(tmp_path / "private.duckdb.key")
    forget_release(ledger, run_id)
    (tmp_path / "private.duckdb.key").unlink()
    with pytest.raises(EngineError, match=r"its key .* is missing"):
        anonymizer.run(policy(tmp_path, columns=PROTECTED), tmp_path / "source.duckdb")


@pytest.mark.slow
def test_a_ledger_that_is_newer_than_its_key_is_told(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    ledger, asked = tmp_path / "private.duckdb", policy(tmp_path, columns=PROTECTED)
    release = anonymizer.run(asked, tmp_path / "source.duckdb")
    assert not any("is new, and its key is not" in said for said in release.warnings)
    ledger.unlink()
    release = anonymizer.run(asked, tmp_path / "source.duckdb")
    assert any("is new, and its key is not" in said for said in release.warnings)
    release = anonymizer.run(asked, tmp_path / "source.duckdb")
    assert not any("is new, and its key is not" in said for said in release.warnings)


LEDGER = {"ledger": "private.duckdb"}
OF_TABLES = {
    "no known rows": "delete from {0}.rows",
    "known rows of one person fewer": (
        "delete from {0}.rows where person = (select min(person) from {0}.rows)"
    ),
    "known rows that are null": "update {0}.rows set content = null",
    "known rows without cells": "update {0}.rows set cells = null",
    "known rows of another release": "update {0}.rows set release = 7",
    "no promises against knowledge": "delete from {0}.schemas",
    "promises for no table": "update {0}.schemas set tables = [], keys = [], columns = []",
    "promises of another release": "update {0}.schemas set release = 7",
    "neither rows nor promises": "delete from {0}.rows; delete from {0}.schemas",
    "members without a lineage": "update {0}.members set lineage = null",
}


@pytest.fixture(scope="module")
def kept_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    hospital.write(folder / "source.duckdb")
    hospital.run(hospital.policy(folder, LEDGER), folder / "source.duckdb")
    return folder


@some(3)
@pytest.mark.parametrize("name", OF_TABLES)
def test_a_damaged_ledger_of_several_tables_is_refused(
    kept_tables: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(kept_tables, tmp_path, dirs_exist_ok=True)
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        connection.execute(OF_TABLES[name].format(SCHEMA))
    with pytest.raises(EngineError, match=r"ledger: is damaged.*restore the ledger from a copy"):
        hospital.run(hospital.policy(tmp_path, LEDGER), tmp_path / "source.duckdb", seed=2)


CHANGES_OF_TABLES = {
    "another known row": "update {0}.rows set content = content + 1",
    "rows that look different": "update {0}.rows set cells = cells + 1 where source = 'visits'",
    "a table that is not known": "update {0}.schemas set tables = list_transform(tables,"
    " lambda t: t || 'x')",
    "fewer events": "update {0}.schemas set events = events - 1",
    "a smaller k": "update {0}.schemas set k = k - 1",
}


@some(2)
@pytest.mark.parametrize("name", CHANGES_OF_TABLES)
def test_a_ledger_of_several_tables_that_was_changed_is_refused(
    kept_tables: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(kept_tables, tmp_path, dirs_exist_ok=True)
    with duckdb.connect(str(tmp_path / "private.duckdb")) as connection:
        connection.execute(CHANGES_OF_TABLES[name].format(SCHEMA))
    with pytest.raises(EngineError, match=r"ledger: is damaged: .* was changed"):
        hospital.run(hospital.policy(tmp_path, LEDGER), tmp_path / "source.duckdb", seed=2)
