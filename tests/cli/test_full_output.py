"""Standard output that is full: what a command has done stands, and its exit code says so."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from anonymizer.cli import main
from tests.cli.conftest import Call
from tests.cli.test_limits_everywhere import commands

Capture = pytest.CaptureFixture[str]
FULL = Path("/dev/full")
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
DATABASE = ("--database", "warehouse.duckdb")
POLICY = ("policy.yml",)
HIERARCHY = ("--policy", "policy.yml", *DATABASE)
WRITES = {
    "demo": ("made",),
    "run": (*POLICY, *DATABASE),
    "export": (*POLICY, "-o", "rows.csv"),
    "init": ("visits", *DATABASE, "-o", "made.yml"),
    "compile": (*POLICY, *DATABASE, "-o", "made.sql"),
    "schema": ("-o", "made.json"),
    "report": (*POLICY, "-o", "made.html"),
    "certify": (*POLICY, "--sign", "own.key", "-o", "made.json"),
    "approve": (*POLICY, "--by", "A", "--until", "2999-01-01", "--approvals", "l.duckdb"),
    "clean": DATABASE,
    "key new": ("made.key",),
    "hierarchy export": ("age", *HIERARCHY, "-o", "made.csv"),
    "ledger erase": ("l.duckdb", "1"),
    "ledger forget": ("l.duckdb", "{run}"),
}
"""Commands that write or remove something: their output only tells so."""
SHOWS = {
    "assess": ("visits", *DATABASE, "--quasi", "age"),
    "plan": (*POLICY, *DATABASE),
    "verify": POLICY,
    "compare": (*POLICY, *POLICY, *DATABASE),
    "attack": (*POLICY, *DATABASE),
    "hierarchy show": ("age", *HIERARCHY),
    "hierarchy suggest": (*POLICY, *DATABASE),
    "ledger show": ("l.duckdb",),
    "ledger who": ("l.duckdb", "1"),
    "ledger approvals": ("l.duckdb",),
    "explore": (*POLICY, *DATABASE),
}
"""Commands whose output is what they were called for."""
DRAWS = {"init": ("visits", *DATABASE), "compile": (*POLICY, *DATABASE), "schema": ()}
"""Commands that write, called without -o: their output is all there is."""


def full(name: str, *arguments: str) -> int:
    """The exit code of a command whose standard output is full."""
    with (
        FULL.open("w", encoding="utf-8") as stream,
        contextlib.redirect_stdout(stream),
        pytest.raises(SystemExit) as ended,
    ):
        main.main([*name.split(), *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_every_command_is_one_of_the_two() -> None:
    assert set(WRITES) | set(SHOWS) == set(commands())


@pytest.fixture
def ready(warehouse: Path, call: Call) -> str:
    """A warehouse with a policy, its release, a ledger, and a key; the run's id."""
    text = Path("policy.yml").read_text()
    nested = text.replace("{role: quasi}", "{role: quasi, hierarchy: {builder: frequency}}")
    Path("policy.yml").write_text(nested + "ledger: l.duckdb\n")
    assert call("key", "new", "own.key").code == 0
    done = call("run", *POLICY, *DATABASE, "--format", "json")
    assert done.code == 0, done.err
    return str(done.json["run_id"])


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_published_release(warehouse: Path, form: str, capsys: Capture) -> None:
    assert full("run", *POLICY, *DATABASE, "--format", form) == 0
    said = "warning: standard output: cannot be written: "
    assert said in capsys.readouterr().err
    assert Path("release.duckdb").exists()


@pytest.mark.slow
def test_what_was_written_stands(ready: str, capsys: Capture) -> None:
    codes = {
        name: full(name, *(part.format(run=ready) for part in arguments))
        for name, arguments in WRITES.items()
    }
    assert codes == dict.fromkeys(WRITES, 0)
    assert json.loads(Path("made.json").read_text())


@pytest.mark.slow
def test_what_could_not_be_shown_is_missing(ready: str, capsys: Capture) -> None:
    codes = {name: full(name, *arguments) for name, arguments in {**SHOWS, **DRAWS}.items()}
    assert codes == dict.fromkeys(codes, 2)
    said = capsys.readouterr().err
    assert said.count("standard output: cannot be written: ") == len(codes), said


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_verdict_is_the_exit_code(published: Path, form: str) -> None:
    text = Path("policy.yml").read_text()
    Path("policy.yml").write_text(text.replace("k_anonymity: 4", "k_anonymity: 50"))
    assert full("verify", *POLICY, "--format", form) == 1
    assert full("report", *POLICY, "--format", "md") == 1
