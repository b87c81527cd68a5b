"""Every command that reads rows takes the limits of a run, and passes them to the engine."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import pytest

import anonymizer
from anonymizer.cli import VERBS, load
from anonymizer.engines.base import Limits
from anonymizer.errors import AnonymizerError
from tests.cli.conftest import Call, listing
from tests.selection import some

LIMITS = {"--threads", "--memory-limit", "--temp-size"}
POLICY = """\
version: 1
source: {file: visits.csv}
columns:
  age: {role: quasi, hierarchy: {builder: intervals, cuts: [2, 4]}}
  s: {role: sensitive}
privacy: {k_anonymity: 3}
algorithm: {name: full_domain}
publish: {name: v, database: release.duckdb}
"""
CALLS = {
    "plan": ("policy.yml",),
    "compile": ("policy.yml",),
    "plan --lattice": ("policy.yml",),
    "run": ("policy.yml",),
    "compare": ("policy.yml", "--vary", "k=2,3"),
    "init": ("visits.csv",),
    "assess": ("visits.csv", "--quasi", "age"),
    "hierarchy show": ("--policy", "policy.yml"),
    "hierarchy export": ("age", "--policy", "policy.yml", "-o", "age.csv"),
    "hierarchy suggest": ("policy.yml", "--column", "age"),
}

OF_RELEASES = {
    "verify": ("policy.yml",),
    "verify --database": ("release.duckdb",),
    "certify": ("policy.yml", "--sign", "own.key"),
    "report --as openlineage": ("policy.yml",),
    "report": ("policy.yml",),
    "report --source": ("warehouse.duckdb", "policy.yml"),
    "report --attack --source": ("warehouse.duckdb", "policy.yml"),
    "export": ("policy.yml", "-o", "rows.csv"),
    "clean --rewrite --database": ("release.duckdb",),
}


def commands() -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name in VERBS:
        command = load(name)
        if isinstance(command, click.Group):
            found |= {f"{name} {below}": one for below, one in command.commands.items()}
        else:
            found[name] = command
    return found


@pytest.mark.parametrize("name", commands())
def test_a_command_with_a_database_takes_limits(name: str) -> None:
    options = {option for one in commands()[name].params for option in one.opts}
    if "--database" in options:
        assert options >= LIMITS


@pytest.mark.parametrize("name", CALLS)
def test_the_limit_reaches_the_engine(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i % 9},v{i % 5}\n" for i in range(90))
    (tmp_path / "visits.csv").write_text(f"age,s\n{rows}")
    (tmp_path / "policy.yml").write_text(POLICY)
    done = call(*name.split(), *CALLS[name], "--memory-limit", "much")
    assert done.code == 2
    assert "--memory-limit" in done.err


@some(4)
@pytest.mark.parametrize("name", OF_RELEASES)
def test_the_limit_reaches_the_engine_that_reads_a_release(
    name: str, published: Path, call: Call
) -> None:
    assert call("key", "new", "own.key").code == 0
    before = listing(published)
    done = call(*name.split(), *OF_RELEASES[name], "--memory-limit", "much")
    assert done.code == 2
    assert "--memory-limit" in done.err
    assert listing(published) == before
    done = call(*name.split(), *OF_RELEASES[name], "--memory-limit", "500MB", "--threads", "1")
    assert done.code == 0, done.err


def test_a_limit_that_is_too_low_is_told(published: Path, call: Call) -> None:
    done = call("verify", "policy.yml", "--memory-limit", "1KB")
    assert done.code == 2
    assert "the memory limit was reached" in done.err
    assert "(hint: raise --memory-limit" in done.err


def test_the_limits_of_a_release_in_python(published: Path, call: Call) -> None:
    assert call("key", "new", "own.key").code == 0
    policy = anonymizer.Policy.load("policy.yml")
    limits = Limits(memory="much")
    for asked in (
        partial(anonymizer.verify, policy),
        partial(anonymizer.certify, policy, sign="own.key"),
        partial(anonymizer.report, policy, "report.md"),
    ):
        with pytest.raises(AnonymizerError, match=r"limits\.memory"):
            asked(limits=limits)
