"""Files whose path the engine takes for a pattern: they are read themselves, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.independent import judge
from anonymizer.publish.export import export
from tests import runs
from tests.selection import some

NAMES = ["rows[1].csv", "rows[1].parquet", "rows?.csv", "rows*.parquet"]


def two_files(folder: Path, name: str) -> Path:
    """A file, and the one that its name as a pattern would find."""
    found = folder / name.replace("[1]", "1").replace("?", "1").replace("*", "1")
    for file, said in ((folder / name, "right"), (found, "wrong")):
        duckdb.sql(f"copy (select i % 3 as age, '{said}' as what from range(30) t(i)) to '{file}'")
    return folder / name


@some(2, 3)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("own", [True, False], ids=["in the sandbox", "an open connection"])
def test_the_source_is_the_file_of_that_name(tmp_path: Path, name: str, own: bool) -> None:
    two_files(tmp_path, name)
    columns: dict[str, Any] = {"age": "quasi", "what": "keep"}
    policy = runs.policy(tmp_path, columns, source={"file": name})
    with duckdb.connect() as connection:
        release = runs.run(policy, None if own else connection)
        assert {row["what"] for row in runs.published(release)} == {"right"}


@some(1)
@pytest.mark.parametrize("place", ["rows[1].csv", "rows?.parquet", "year=2026/rows.parquet"])
def test_an_export_is_the_file_of_that_name(tmp_path: Path, place: str) -> None:
    two_files(tmp_path, "source[1].csv")
    columns: dict[str, Any] = {"age": "quasi", "what": "keep"}
    policy = runs.policy(tmp_path, columns, source={"file": "source[1].csv"})
    runs.run(policy)
    target = tmp_path / place
    target.parent.mkdir(exist_ok=True)
    export(policy, target)
    found = judge(target)
    assert (found.passed, found.rows) == (True, 30)
