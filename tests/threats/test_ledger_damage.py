"""A ledger that was damaged, or changed: no release is compared with what is left of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.errors import EngineError
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
