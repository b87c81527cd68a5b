"""Every macro in the DuckDB shell, which may be of an older version: the library's answers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import duckdb
import pytest

from tests.macros.conftest import SCRIPT, VISITS
from tests.macros.test_macro_files import MACROS
from tests.scripts import shell


@pytest.mark.shell
def test_examples_in_the_shell_give_what_the_library_gives(
    examples: duckdb.DuckDBPyConnection, adult_parquet: Path, tmp_path: Path
) -> None:
    lines = [
        f"create view adult as from '{adult_parquet}' limit 2000;",
        f"{VISITS};",
        "create table classes as from anon_mondrian('adult', ['age', 'sex', 'education'], 5);",
    ]
    for macro in MACROS:
        query = macro.example.rstrip(";")
        lines.append(f"copy (select cast(answer as varchar) as answer from ({query}) as answer)")
        lines.append(f"to '{tmp_path / macro.name}.parquet';")
    done = subprocess.run(
        [shell(), "-init", str(SCRIPT), "-bail"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARN" not in done.stdout + done.stderr
    for macro in MACROS:
        query = macro.example.rstrip(";")
        here = examples.execute(
            f"select cast(answer as varchar) from ({query}) as answer order by all"
        ).fetchall()
        there = duckdb.execute(f"from '{tmp_path / macro.name}.parquet' order by all").fetchall()
        assert there == here, macro.name
