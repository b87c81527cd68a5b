"""Paths that are empty, pipes or no databases, and full disks: each is told as what it is."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.cli import VERBS
from anonymizer.errors import TargetError
from anonymizer.review import demo
from tests.cli.conftest import POLICY, Call
from tests.selection import some

DATABASE = ("--database", "warehouse.duckdb")


@pytest.mark.parametrize("given", [("--database", ""), ("--database=",)])
@pytest.mark.parametrize("verb", ["verify", "run", "clean --rewrite"])
def test_an_empty_option(verb: str, given: tuple[str, ...], warehouse: Path, call: Call) -> None:
    done = call(*verb.split(), "policy.yml", *given)
    assert done.code == 2
    assert done.err.startswith("--database: is empty")


@pytest.mark.parametrize("verb", list(VERBS))
def test_an_empty_argument(verb: str, call: Call) -> None:
    done = call(verb, "")
    assert done.code == 2
    assert done.err.startswith("anonymizer: an argument is empty")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_nobody_waits_for_a_pipe_without_a_writer(warehouse: Path, call: Call) -> None:
    os.mkfifo("pipe.yml")
    done = call("verify", "pipe.yml")
    assert done.code == 2
    assert "pipe.yml: is a named pipe, not a policy file" in done.err


@some(1)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("{role: quasi}\n  sex", "{role: quasi, hierarchy: {file: p}}\n  sex", "hierarchy.file"),
        ("sex: {role: quasi}", "sex: {role: token, key_file: p}", "columns.sex"),
        ("publish:", "workload: {sql: q.sql}\npublish:", "workload"),
        ("version", "version", "--seed-file"),
    ],
)
def test_a_file_that_a_policy_names_is_no_pipe(
    old: str, new: str, path: str, warehouse: Path, call: Call
) -> None:
    Path("policy.yml").write_text(POLICY.replace(old, new))
    verb, more = "run", DATABASE
    pipe = Path("q.sql" if path == "workload" else "p")
    if path == "workload":
        pipe.write_text("select count(*) from visits")
        assert call("run", "policy.yml", *DATABASE, "--quiet").code == 0
        pipe.unlink()
        verb, more = "report", ("--source", "warehouse.duckdb")
    os.mkfifo(pipe)
    done = call(verb, "policy.yml", *more, *(["--seed-file", "p"] if path == "--seed-file" else []))
    assert done.code == 2, done.err
    assert "named pipe" in done.err
    assert path in done.err


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="no such folder here")
def test_the_pipes_of_the_shell_are_read(warehouse: Path, call: Call) -> None:
    text = Path("policy.yml").read_bytes()
    read, write = os.pipe()

    def fill() -> None:
        with os.fdopen(write, "wb") as pipe:
            pipe.write(text)

    writer = threading.Thread(target=fill)
    writer.start()
    done = call("plan", f"/dev/fd/{read}", "--database", "warehouse.duckdb")
    writer.join()
    os.close(read)
    assert "named pipe" not in done.err


def test_a_file_that_is_no_database_is_not_said_to_be_locked(warehouse: Path, call: Call) -> None:
    Path("x.duckdb").write_text("no database")
    done = call("clean", "--rewrite", "--database", "x.duckdb")
    assert done.code == 2
    assert done.err == "--database: x.duckdb is not a DuckDB database that can be read\n"


def test_half_a_file_of_the_demo_does_not_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would count as one that was edited."""
    real = Path.write_bytes

    def full(path: Path, content: Any) -> int:
        if not path.name.startswith("policy.yml"):
            return real(path, content)
        real(path, content[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(TargetError, match=r"policy.yml cannot be written: No space left"):
        demo.write_hospital(tmp_path / "demo")
    monkeypatch.undo()
    assert not demo.write_hospital(tmp_path / "demo").kept


@pytest.mark.slow
def test_the_second_verifier_names_the_way_to_one_of_several(warehouse: Path, call: Call) -> None:
    for name in ("one", "two"):
        text = POLICY.replace("name: visits_anonymous", f"name: {name}")
        Path(f"{name}.yml").write_text(text)
        done = call("run", f"{name}.yml", "--database", "warehouse.duckdb", "--quiet")
        assert done.code == 0
    (file,) = {path.name for path in warehouse.glob("*.duckdb")} - {"warehouse.duckdb"}
    done = call("verify", "--independent", "--database", file)
    assert done.code == 2
    assert "release: the file holds several, and none is named (main.one, main.two)" in done.err
    assert "name the POLICY of one" in done.err


def test_the_tables_are_named_where_none_was_found(warehouse: Path, call: Call) -> None:
    def told() -> str:
        plan = call("plan", "policy.yml", *DATABASE)
        init = call("init", "nothing_alike", *DATABASE)
        assert (plan.code, init.code) == (2, 2)
        assert plan.err.startswith("source.table: is not a table of the source (hint: ")
        said = plan.err.split("(hint: ")[1]
        assert said == init.err.split("(hint: ")[1]
        return said.strip().removesuffix(")")

    text = Path("policy.yml").read_text()
    Path("policy.yml").write_text(text.replace("main.visits", "nothing_alike"))
    assert told() == "the source has visits"
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute("drop table visits")
    assert told() == "the source has no table"
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute('create schema "a b"')
        connection.execute('create view "a b"."x.y" as select 1 as a')
        for number in range(9):
            connection.execute(f"create table z{number} (a integer)")
    assert told() == 'the source has a b."x.y", z0, z1, z2, z3 and 5 more'


def test_an_assessment_without_quasi_identifiers_says_how_to_name_them(
    warehouse: Path, call: Call
) -> None:
    with duckdb.connect("warehouse.duckdb") as connection:
        connection.execute("create table one as select 1 as a, 'x' as b")
    done = call("assess", "one", *DATABASE)
    assert done.code == 2
    assert "--quasi: names no column" in done.err
    assert "(hint: name the columns that others may know)" in done.err
