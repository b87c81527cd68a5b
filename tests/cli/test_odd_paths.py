"""Paths that are empty, pipes or no databases, and full disks: each is told as what it is."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from anonymizer.cli import VERBS
from anonymizer.errors import TargetError
from anonymizer.review import demo
from tests.cli.conftest import POLICY, Call
from tests.selection import some

DATABASE = ("--database", "warehouse.duckdb")


@pytest.mark.parametrize("given", [("--database", ""), ("--database=",)])
@pytest.mark.parametrize("verb", ["verify", "run", "rewrite"])
def test_an_empty_option(verb: str, given: tuple[str, ...], warehouse: Path, call: Call) -> None:
    done = call(verb, "policy.yml", *given)
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
