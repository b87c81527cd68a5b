"""One version, one set of bounds, and commands that say the same everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

import anonymizer

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        content: dict[str, Any] = tomllib.load(file)["project"]
    return content


def test_installed_version_is_the_package_version() -> None:
    try:
        installed = version("sql-anonymizer")
    except PackageNotFoundError:
        pytest.skip("the package is not installed")
    assert installed == anonymizer.__version__


def test_changelog_names_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## .*{re.escape(anonymizer.__version__)}", changelog, re.MULTILINE)


def test_lowest_versions_are_the_declared_bounds(project: dict[str, Any]) -> None:
    # the test command needs those of the test extra, and the extras that it names
    needed = ("pytest-xdist", "phonenumbers", "python-stdnum")
    extras = project["optional-dependencies"]
    extra = [e for e in extras["test"] if e.startswith(needed)]
    assert "sql-anonymizer[aggregate,dp,explore]" in extras["test"]
    named = (*extras["aggregate"], *extras["dp"], *extras["explore"])
    entries = [*project["dependencies"], *extra, *named]
    declared = {
        match[1]: match[2]
        for match in (re.match(r"([\w.-]+)>=([\d.]+)", entry) for entry in entries)
        if match
    }
    assert len(declared) == len(entries), "every dependency has a lower bound"
    lines = (ROOT / ".ci" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert pinned == declared


@pytest.mark.parametrize("name", ["demo-command", "test-command"])
def test_readme_shows_the_command_that_ci_runs(name: str) -> None:
    command = (ROOT / ".ci" / name).read_text(encoding="utf-8").strip()
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert command in [line.strip() for line in readme]
    assert f".ci/{name}" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_hooks_are_the_style_stage_of_ci() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    stage = (ROOT / ".ci" / "run").read_text(encoding="utf-8").split("style_and_types() {")[1]
    checked = re.findall(r"inside dev (ruff .*|mypy)", stage.split("}")[0])
    assert re.findall(r"entry: (.*)", hooks) == checked


def test_notice_attributes_every_bundled_table() -> None:
    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    tables = list((ROOT / "anonymizer" / "data").glob("*.parquet"))
    assert tables
    for table in tables:
        assert table.relative_to(ROOT).as_posix() in notice
    for statement in ("CC BY 4.0", "10.24432/C5XW20", "Becker", "Kohavi", "Changes:"):
        assert statement in notice


def test_import_loads_no_heavy_library() -> None:
    code = (
        "import sys, anonymizer\n"
        "print([name for name in ('duckdb', 'pandas', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"
