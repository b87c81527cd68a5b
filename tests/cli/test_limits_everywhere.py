"""Every command that reads a source takes the limits of a run, and passes them to the engine."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest

from anonymizer.commands import VERBS
from tests.cli.conftest import Call

LIMITS = {"--threads", "--memory-limit", "--temp-size"}
OF_RELEASES = {"verify", "certify", "lineage", "report", "export", "rewrite", "clean"}
"""Commands that read a release: its rows were within the limits of the run."""
READS_NO_COLUMNS = {"hierarchy import"}
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
    "lattice": ("policy.yml",),
    "run": ("policy.yml",),
    "sweep": ("policy.yml", "--vary", "k=2,3"),
    "init": ("visits.csv",),
    "assess": ("visits.csv", "--quasi", "age"),
    "hierarchy show": ("--policy", "policy.yml"),
    "hierarchy export": ("age", "--policy", "policy.yml", "-o", "age.csv"),
    "hierarchy suggest": ("policy.yml", "--column", "age"),
}


def commands() -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, verb in VERBS.items():
        command = import_module(f"anonymizer.commands.{verb.module}").command
        if isinstance(command, click.Group):
            found |= {f"{name} {below}": one for below, one in command.commands.items()}
        else:
            found[name] = command
    return found


@pytest.mark.parametrize("name", [name for name in commands() if name not in OF_RELEASES])
def test_a_command_with_a_database_takes_limits(name: str) -> None:
    options = {option for one in commands()[name].params for option in one.opts}
    if "--database" in options and name not in READS_NO_COLUMNS:
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
