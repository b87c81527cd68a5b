"""What a first user runs into: the message names the place as given, and how to go on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import POLICY, Call

DATABASE = ("--database", "warehouse.duckdb")


@pytest.mark.parametrize("verb", [("plan", "policy.yml"), ("assess", "visits")])
def test_a_database_is_named_as_it_was_given(
    warehouse: Path, call: Call, verb: tuple[str, str]
) -> None:
    done = call(*verb, "--database", "/x/nodir/foo.duckdb")
    assert (done.code, done.err) == (2, "--database: there is no file /x/nodir/foo.duckdb\n")
    done = call(*verb, "--database", str(warehouse))
    assert (done.code, done.err) == (2, f"--database: {warehouse} is a folder, not a file\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("attack", "policy.yml", "--share", "x"), "--share: cannot be read (allowed: a number)"),
        (
            ("approve", "policy.yml", "--by", "me", "--until", "tomorrow"),
            "--until: cannot be read (allowed: YYYY-MM-DD)",
        ),
        (
            ("hierarchy", "show", "--policy", "policy.yml", "--children", "0"),
            "--children: is not a number it takes (allowed: a whole number from 1)",
        ),
        (("export", "policy.yml", "-o", "no/r.csv"), "a folder that does not exist (hint: mkdir"),
        (("key", "new", "no/key.pem"), "a folder that does not exist (hint: mkdir -p no)"),
    ],
)
def test_an_argument_that_cannot_be_used_tells_what_can(
    warehouse: Path, call: Call, given: tuple[str, ...], said: str
) -> None:
    if given[0] == "export":
        assert call("run", "policy.yml", *DATABASE).code == 0
    done = call(*given)
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_release_of_the_policy_is_named_by_the_policy(warehouse: Path, call: Call) -> None:
    """No option was given, so none is to be mended."""
    for verb in (
        ("verify", "policy.yml"),
        ("report", "policy.yml"),
        ("export", "policy.yml", "-o", "r.csv"),
        ("attack", "policy.yml", "--database", "warehouse.duckdb"),
    ):
        done = call(*verb)
        assert (done.code, done.err.partition(": there is no file")[0]) == (2, "publish.database")
        assert str(Path.cwd()) not in done.err, verb
        assert "anonymizer run makes it" in done.err


def test_a_database_that_may_not_be_read(
    warehouse: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so a file that the engine refuses stands for a closed one."""
    (warehouse / "warehouse.duckdb").write_bytes(b"not for you" * 1000)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    done = call("plan", "policy.yml", *DATABASE)
    assert done.code == 2
    assert done.err == (
        "--database: warehouse.duckdb may not be read by this user (hint: chmod u+r, or run as a"
        " user who may read it)\n"
    )


@pytest.mark.parametrize("verb", ["run", "assess"])
def test_a_memory_limit_in_which_no_database_opens(warehouse: Path, call: Call, verb: str) -> None:
    """(The file was said to be no database.)"""
    what = {"run": "policy.yml", "assess": "visits"}[verb]
    done = call(verb, what, "--database", "warehouse.duckdb", "--memory-limit", "1kB")
    assert done.code == 2
    assert "the memory limit was reached" in done.err
    assert "raise --memory-limit" in done.err


@pytest.mark.parametrize("option", ["--memory-limit", "--temp-size"])
def test_a_size_that_is_none_is_told_under_its_option(
    warehouse: Path, call: Call, option: str
) -> None:
    done = call("run", "policy.yml", *DATABASE, option, "12XB")
    assert done.code == 2
    assert done.err.startswith(f"{option}: is not a setting the engine accepts")
    assert "as in 4GB" in done.err


def test_a_policy_without_a_version_is_told_its_first_line(warehouse: Path, call: Call) -> None:
    (warehouse / "policy.yml").write_text(POLICY.removeprefix("version: 1\n"))
    done = call("plan", "policy.yml", *DATABASE)
    assert done.err == "version: is missing (hint: begin with version: 1)\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("version: 1\ncolumns:\n  age: {role: quasi\n  sex: {role: quasi}\n", 3),
        ("version: 1\nalgorithm: [a\nsource: b\n", 2),
        ('version: 1\nkey: "patient\nsource: b\n', 2),
    ],
)
def test_what_is_left_open_is_told_where_it_begins(
    warehouse: Path, call: Call, text: str, line: int
) -> None:
    (warehouse / "policy.yml").write_text(text)
    done = call("plan", "policy.yml", *DATABASE)
    assert done.code == 2
    assert f"close every {{, [ and quote: the one that begins in line {line} is still" in done.err


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_ledger_without_its_folder_tells_how_to_make_it(
    warehouse: Path, call: Call, verb: str
) -> None:
    (warehouse / "policy.yml").write_text(f"{POLICY}ledger: private/ledger.duckdb\n")
    done = call(verb, "policy.yml", *DATABASE)
    assert done.code == 2
    assert "ledger: is in a folder that does not exist (hint: mkdir -p private)" in done.err
