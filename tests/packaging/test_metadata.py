"""One version, one set of bounds, and commands that say the same everywhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path
from typing import Any

import pytest

import anonymizer

ROOT = Path(__file__).resolve().parents[2]
STANDARD = {*sys.stdlib_module_names, "anonymizer"}


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


def test_the_citation_names_the_version_and_the_place(project: dict[str, Any]) -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {anonymizer.__version__}" in citation
    assert f"repository-code: {project['urls']['Source']}" in citation


def test_lowest_versions_are_the_declared_bounds(project: dict[str, Any]) -> None:
    # the test command needs those of the test extra, and the extras that it names
    needed = ("pytest-xdist", "phonenumbers", "python-stdnum")
    extras = project["optional-dependencies"]
    extra = [e for e in extras["test"] if e.startswith(needed)]
    assert "sql-anonymizer[aggregate,docx,dp,excel,explore]" in extras["test"]
    named = [
        one for name in ("aggregate", "docx", "dp", "excel", "explore") for one in extras[name]
    ]
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


def test_every_imported_library_is_declared(project: dict[str, Any]) -> None:
    """By the package or an extra, or required by a declared library; test tools do not count."""
    extras = project["optional-dependencies"]
    entries = [*project["dependencies"]]
    for name in extras.keys() - {"test", "dev", "browser"}:
        entries += extras[name]
    declared = {_normal(entry) for entry in entries}
    for entry in tuple(declared):
        try:
            needed = requires(entry) or ()
            declared |= {_normal(one) for one in needed if "extra ==" not in one}
        except PackageNotFoundError:  # of an extra that is not installed here
            continue
    homes = packages_distributions()
    absent = {
        name for name in _imported() if declared.isdisjoint(map(_normal, homes.get(name, [name])))
    }
    assert not absent


def _normal(requirement: str) -> str:
    """The name of the distribution that a requirement asks for."""
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def _imported() -> Iterator[str]:
    """The libraries that the package imports anywhere, on use too."""
    for path in (ROOT / "anonymizer").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [one.name for one in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            yield from {name.split(".")[0] for name in names} - STANDARD


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
