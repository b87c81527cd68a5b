"""Files that are written into: nothing of anybody else's is lost, whatever they are called."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import POLICY, Call


def rows(name: str = "visits") -> int:
    with duckdb.connect("warehouse.duckdb", read_only=True) as connection:
        ((count,),) = connection.execute(f"select count(*) from {name}").fetchall()
    return int(count)


def imported(call: Call, *more: str) -> str:
    Path("tree.csv").write_text("a;x;*\nb;x;*\n")
    done = call("hierarchy", "import", "tree.csv", *more)
    assert done.code in (0, 2)
    return str(done.err)


@pytest.mark.parametrize("more", [(), ("--replace",)])
@pytest.mark.parametrize("name", ["visits", "VISITS", "Main.Visits"])
def test_a_hierarchy_takes_the_place_of_no_table(
    name: str, more: tuple[str, ...], warehouse: Path, call: Call
) -> None:
    said = imported(call, "--table", name, "--database", "warehouse.duckdb", *more)
    assert "visits exists and is not a hierarchy that this tool stored" in said
    assert rows() == 80


def test_a_hierarchy_breaks_no_release_and_no_record(warehouse: Path, call: Call) -> None:
    assert call("run", "policy.yml", "--database", "warehouse.duckdb", "--quiet").code == 0
    said = imported(call, "--table", "tree", "--database", "release.duckdb")
    assert "--database: holds a release that stands there alone" in said
    assert call("verify", "policy.yml").code == 0
    said = imported(call, "--table", "_anonymizer.tree", "--database", "warehouse.duckdb")
    assert "--table: is in _anonymizer" in said


@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_a_data_file_is_no_database(suffix: str, warehouse: Path, call: Call) -> None:
    """The engine would open it as one in memory, and what is written there is lost."""
    file = Path(f"people.{suffix}")
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 1 as a, 'x' as b) to '{file}'")
    before = file.read_bytes()
    assert call("rewrite", "--database", str(file)).code == 2
    said = imported(call, "--table", "tree", "--database", str(file))
    assert said == f"--database: {file} is not a DuckDB database that can be read\n"
    Path("ledger.yml").write_text(POLICY + f"ledger: {file}\n")
    done = call("run", "ledger.yml", "--database", "warehouse.duckdb", "--quiet")
    assert done.code == 2
    assert "ledger" in done.err
    assert file.read_bytes() == before
    assert not Path("release.duckdb").exists()


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
