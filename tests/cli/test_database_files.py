"""Files that are written into: nothing of anybody else's is lost, whatever they are called."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.errors import AnonymizerError
from anonymizer.review.hierarchies import Wide, store
from tests.cli.conftest import POLICY, Call


def rows(name: str = "visits") -> int:
    with duckdb.connect("warehouse.duckdb", read_only=True) as connection:
        ((count,),) = connection.execute(f"select count(*) from {name}").fetchall()
    return int(count)


def stored(name: str, database: str = "warehouse.duckdb", *, replace: bool = False) -> str:
    """Store a hierarchy as a table, and return why that is refused."""
    columns = tuple((column, "VARCHAR") for column in ("value", "level_1", "level_2"))
    wide = Wide(columns, (("a", "x", "*"), ("b", "x", "*")))
    schema, _, table = name.rpartition(".")
    try:
        store(wide, Path(database), Table(table, schema or None), replace_it=replace)
    except AnonymizerError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", ["visits", "VISITS", "Main.Visits"])
def test_a_hierarchy_takes_the_place_of_no_table(name: str, replace: bool, warehouse: Path) -> None:
    said = stored(name, replace=replace)
    assert "visits exists and is not a hierarchy that this tool stored" in said
    assert rows() == 80


def test_a_hierarchy_of_another_spelling_is_no_new_one(warehouse: Path) -> None:
    assert stored("tree") == ""
    said = stored("TREE", replace=True)
    assert "tree exists" in said
    assert stored("tree", replace=True) == ""


def test_a_hierarchy_breaks_no_release_and_no_record(warehouse: Path, call: Call) -> None:
    assert call("run", "policy.yml", "--database", "warehouse.duckdb", "--quiet").code == 0
    said = stored("tree", "release.duckdb")
    assert "--database: contains a release and nothing else" in said
    assert call("verify", "policy.yml").code == 0
    said = stored("_anonymizer.tree")
    assert "--table: is in _anonymizer" in said


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_a_data_file_is_no_database(suffix: str, warehouse: Path, call: Call) -> None:
    """The engine would open it as one in memory, and what is written there is lost."""
    file = Path(f"people.{suffix}")
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 1 as a, 'x' as b) to '{file}'")
    before = file.read_bytes()
    assert call("clean", "--rewrite", "--database", str(file)).code == 2
    said = stored("tree", str(file))
    assert said.startswith(f"--database: {file} is not a DuckDB database that can be read (hint:")
    Path("ledger.yml").write_text(POLICY + f"ledger: {file}\n")
    done = call("run", "ledger.yml", "--database", "warehouse.duckdb", "--quiet")
    assert done.code == 2
    assert "ledger" in done.err
    assert file.read_bytes() == before
    assert not Path("release.duckdb").exists()


def test_a_file_that_may_not_be_written_is_not_said_to_be_locked(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    said = stored("tree")
    assert "--database: warehouse.duckdb may not be written by this user" in said


def test_a_file_that_is_no_database_is_not_called_locked(warehouse: Path, call: Call) -> None:
    Path("notes.duckdb").write_text("not a database, but longer than the head of one\n")
    Path("folder").mkdir()
    said = "notes.duckdb is not a DuckDB database (hint: name another file)"
    done = call("ledger", "show", "notes.duckdb")
    assert (done.code, done.err) == (2, f"ledger: {said}\n")
    run = ("run", "policy.yml", "--database", "warehouse.duckdb", "--quiet")
    for ledger, wrong in (("notes.duckdb", said), ("folder", "folder is a folder, not a file")):
        Path("policy.yml").write_text(f"{POLICY}ledger: {ledger}\n")
        done = call(*run)
        assert (done.code, f"ledger: {wrong}" in done.err) == (2, True), done.err
    Path("policy.yml").write_text(POLICY.replace("release.duckdb", "notes.duckdb"))
    done = call(*run)
    assert (done.code, done.err) == (2, f"publish.database: {said}\n")
    assert Path("notes.duckdb").read_text().startswith("not a database")
