"""Every command that reads rows takes the limits of a run, and passes them to the engine."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from anonymizer.cli import VERBS, load
from tests.cli.conftest import Call, listing
from tests.selection import some

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

OF_RELEASES = {
    "verify": ("policy.yml",),
    "verify --database": ("release.duckdb",),
    "certify": ("policy.yml", "--sign", "own.key"),
    "lineage": ("policy.yml",),
    "report": ("policy.yml",),
    "report --source": ("warehouse.duckdb", "policy.yml"),
    "report --attack --source": ("warehouse.duckdb", "policy.yml"),
    "export": ("policy.yml", "-o", "rows.csv"),
    "rewrite --database": ("release.duckdb",),
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
