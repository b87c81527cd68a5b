"""The pages of roles do what they show, from an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import duckdb
import pytest

from tests.docs.blocks import ROOT, blocks, follow

ROLES = ROOT / "docs" / "roles"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]
RUN = re.compile(r"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")


def absent(page: Path, printed: str) -> list[str]:
    """Lines that the page shows and nothing printed; numbers of runs, and white space, aside."""

    def lines(text: str) -> list[str]:
        return [" ".join(line.split()) for line in RUN.sub("run", text).splitlines()]

    there = set(lines(printed))
    shown = [line for b in blocks(page) if b.language == "text" for line in lines(b.code)]
    assert shown
    return [line for line in shown if line not in there]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "signing", "warehouse"])
def test_a_role(name: str, tmp_path: Path) -> None:
    page = ROLES / f"{name}.md"
    printed = "\n".join(follow(page, tmp_path))
    policy = (tmp_path / "policy.yml").read_text()
    assert absent(page, printed + "\n" + policy) == []


@pytest.mark.dbt
def test_a_dbt_project(tmp_path: Path) -> None:
    page = ROLES / "dbt.md"
    (tmp_path / "models").mkdir()
    for block in blocks(page):
        if block.file:
            code = block.code.replace("../sql-anonymizer", str(ROOT))
            (tmp_path / block.file).write_text(code, encoding="utf-8")
    printed = [
        _dbt(words.split(), tmp_path, 0)
        for block in blocks(page)
        if block.language == "sh"
        for words in block.code.splitlines()
    ]
    with duckdb.connect(str(tmp_path / "clinic.duckdb"), read_only=True) as warehouse:
        columns = {row[0] for row in warehouse.execute("describe visits_release").fetchall()}
    assert columns == {"person_id", "age", "sex", "disease", "class_id"}
    policy = tmp_path / "policy.yml"
    policy.write_text(policy.read_text().replace("k_anonymity: 5", "k_anonymity: 500"))
    printed.append(_dbt(["dbt", "build"], tmp_path, 1))
    shown = [line for b in blocks(page) if b.language == "text" for line in b.code.splitlines()]
    assert [line for line in shown if line not in "".join(printed)] == []


def _dbt(words: list[str], folder: Path, code: int) -> str:
    assert words[0] == "dbt"
    called = "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", called, *words[1:], "--no-use-colors"],
        cwd=folder,
        env={**os.environ, "DBT_PROFILES_DIR": str(folder), "DO_NOT_TRACK": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_what_pages_install_is_in_a_clone() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = set(extras["optional-dependencies"])
    wrong = []
    for page in PAGES:
        for asked in re.findall(r"pip install ([^\n`]*)", page.read_text(encoding="utf-8")):
            of_clone = re.match(r"(?:-e )?(?:\.|'\.\[([\w,-]+)\]')(?:$| )", asked)
            if not of_clone or not set(filter(None, (of_clone[1] or "").split(","))) <= named:
                wrong.append(f"{page.name}: {asked}")
    assert wrong == []


def test_every_page_with_commands_is_followed_by_a_test() -> None:
    tests = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    )
    left = [
        page.name
        for page in PAGES
        if any(block.language in {"sh", "python", "sql"} for block in blocks(page))
        and f'"{page.name}"' not in tests
        and f'/{page.name}"' not in tests
        and not (page.parent == ROLES and f'"{page.stem}"' in tests)
    ]
    assert left == []
