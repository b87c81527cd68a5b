"""The workflow that comments on a pull request: its shell steps run on a repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from ruamel.yaml import YAML

from tests.docs.blocks import ROOT

WORKFLOW = ROOT / "docs" / "examples" / "policy-diff.yml"
POLICY = """\
version: 1
source: {table: people}
columns:
  age: {role: quasi}
  sex: {role: quasi}
privacy: {k_anonymity: 5}
publish: {name: released, database: release.duckdb}
"""


@pytest.mark.slow
def test_the_step_writes_the_comment(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    steps = YAML(typ="safe", pure=True).load(WORKFLOW)["jobs"]["diff"]["steps"]
    (compare,) = (step["run"] for step in steps if step.get("name", "").startswith("Compare"))
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        connection.execute(
            "create table people as select i % 50 as age, i % 2 as sex from range(200) as r(i)"
        )
    tools = tmp_path / "tools"
    tools.mkdir()
    command = tools / "anonymizer"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m anonymizer "$@"\n')
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "GITHUB_ENV": str(tmp_path / "env"),
        "DATABASE": "warehouse.duckdb",
    }

    def run(text: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "a b.yml").write_text(POLICY)
    (tmp_path / "policies" / "same.yml").write_text(POLICY)
    commit = "git -c user.name=n -c user.email=e@x commit -qm m"
    run(f"git init -q && git add policies && {commit}")
    environment["BASE"] = run("git rev-parse HEAD")
    stricter = POLICY.replace("k_anonymity: 5", "k_anonymity: 9")
    (tmp_path / "policies" / "a b.yml").write_text(stricter)
    run(f"git add policies && {commit}")
    run(compare)
    comment = (tmp_path / "comment.md").read_text()
    assert comment.startswith("## `policies/a b.yml`")
    assert "| k\\_anonymity | k=5 | k=9 | changed |" in comment
    assert "same.yml" not in comment
    assert (tmp_path / "env").read_text() == "FAILED=0\n"
    (tmp_path / "policies" / "a b.yml").write_text(stricter.replace("  sex: {role: quasi}\n", ""))
    run(f"git add policies && {commit}")
    run(compare)
    assert (tmp_path / "env").read_text().endswith("FAILED=1\n")
    assert not list((tmp_path / "policies").glob(".old*"))
