"""The page for the SQL shell: its statements in the library and in the shell itself."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.docs.blocks import ROOT, blocks
from tests.macros.conftest import SCRIPT

PAGE = ROOT / "docs" / "how-to" / "sql-shell.md"
STATEMENTS = [
    statement
    for block in blocks(PAGE)
    if block.language == "sql"
    for statement in block.code.strip().split(";\n")
]


def _row(found: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    assert len(found) == 1
    return found[0]


def test_the_page_works_in_the_library() -> None:
    with duckdb.connect() as connection:
        connection.execute(SCRIPT.read_text(encoding="utf-8")).fetchall()
        printed = {}
        for statement in STATEMENTS:
            printed[statement.rstrip(";")] = connection.execute(statement).fetchall()
    assert len(printed) >= 20
    assert _row(printed["from anon_k('visits', ['age', 'sex', 'zip'])"])[0] < 10
    assert _row(printed["from anon_k('anonymous', ['age', 'sex', 'zip'])"])[0] >= 10
    assert _row(printed["from anon_l('bucketized', ['disease_bucket'], 'disease')"])[0] >= 2


def shell() -> str:
    found = shutil.which("duckdb", path=str(Path(sys.executable).parent)) or shutil.which("duckdb")
    assert found is not None, "the DuckDB shell is not installed: pip install duckdb-cli"
    return found


@pytest.mark.shell
@pytest.mark.parametrize("way", ["init", "read"])
def test_the_page_works_in_the_shell(way: str, tmp_path: Path) -> None:
    database = tmp_path / "warehouse.duckdb"
    options = ["-init", str(SCRIPT)] if way == "init" else []
    script = (f".read '{SCRIPT}'\n" if way == "read" else "") + ";\n".join(
        [*(statement.rstrip(";") for statement in STATEMENTS), ""]
    )
    done = subprocess.run(
        [shell(), str(database), *options, "-json", "-bail"],
        input=script,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr
    assert '{"k":' in done.stdout.replace(" ", "")
    # the macros themselves are not in the file
    left = subprocess.run(
        [shell(), str(database), "-init", "/dev/null", "-json", "-c",
         "select count(*) as n from duckdb_functions() where contains(function_name, 'anon_')"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )  # fmt: skip
    assert json.loads(left.stdout) == [{"n": 0}]


@pytest.mark.shell
def test_errors_reach_the_shell(tmp_path: Path) -> None:
    done = subprocess.run(
        [shell(), "-init", str(SCRIPT), "-c",
         "create table t as select 1 as a; from anon_k('t', ['b'])"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    assert "anon_k: quasi: the table has no column b (allowed: a)" in done.stderr
