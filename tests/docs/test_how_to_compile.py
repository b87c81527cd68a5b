"""The page on compiled scripts: a complete one, run by hand, makes the rows of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer.api import plan
from anonymizer.engines.duckdb_script import script
from anonymizer.seed import Seed
from tests.docs.blocks import ROOT, blocks, follow
from tests.runs import policy, published, run, source

PAGE = ROOT / "docs" / "how-to" / "compile.md"
STARTED = ROOT / "docs" / "getting-started.md"
TYPES = {"age": "INTEGER", "town": "VARCHAR", "ill": "VARCHAR"}
ROWS = [(i * 7 % 40, f"t{i % 5}", "abc"[i % 3]) for i in range(90)]
ROLES = {"age": "quasi", "town": "quasi", "ill": "sensitive"}
DIVERSE = {"role": "sensitive", "protect": {"l_diversity": 2}}


def test_the_page_does_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(next(block.code for block in blocks(STARTED) if block.language == "python"), {})
    (given,) = (block for block in blocks(STARTED) if block.file == "policy.yml")
    (tmp_path / "policy.yml").write_text(given.code)
    same = follow(PAGE, tmp_path)[-1]
    shown = next(block.code for block in blocks(PAGE) if block.language == "text")
    assert (tmp_path / "run.sql").read_text().startswith(shown)
    assert same.strip() == "True"


def by_hand(text: str, secret: str) -> list[dict[str, Any]]:
    """What a reader does who follows the header only: the lines to begin with, then the rest."""
    header = text[: text.index("\n\n")]
    lines = [line.removeprefix("--") for line in header.splitlines()]
    opening = "\n".join(line for line in lines if line.startswith("   "))
    with duckdb.connect() as connection:
        connection.execute(opening)
        for part in text.split(";\n\n"):
            (statement,) = duckdb.extract_statements(part)
            values = {"secret": secret} if "secret" in statement.named_parameters else {}
            rows = connection.execute(statement, values).fetchall()
            assert not rows or "(stops the run if it returns rows)" not in part
        cursor = connection.execute("from anon_scratch.main.staged")
        names = [name for name, *_ in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize(
    "rest", [{}, {"source": {"query": "select * from people where age < 30 -- the young"},
                  "publish": {"name": "young"}}], ids=["table", "query"]
)  # fmt: skip
def test_the_header_is_all_that_a_complete_script_needs(
    tmp_path: Path, rest: dict[str, Any]
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = policy(tmp_path, ROLES, 5, **rest)
    text = script(plan(given, database), given, database)
    header = text[: text.index("\n\n")]
    assert "COMPLETE: run to its end" in header
    assert all(line.startswith("--") for line in header.splitlines())
    seed = Seed.test(3)
    assert by_hand(text, seed.secret) == published(run(given, database, seed=3))


@pytest.mark.parametrize(
    ("columns", "rest", "said"),
    [
        ({**ROLES, "ill": DIVERSE}, {"algorithm": {"name": "lgb"}}, "  loops, each written once"),
        (
            {**ROLES, "town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}}},
            {},
            "  steps in Python (`then in Python, into ...`): ",
        ),
    ],
)
def test_a_script_that_is_to_be_read_says_so(
    tmp_path: Path, columns: dict[str, Any], rest: dict[str, Any], said: str
) -> None:
    (tmp_path / "towns.csv").write_text("".join(f"t{i};*\n" for i in range(5)))
    database = source(tmp_path, TYPES, ROWS)
    given = policy(tmp_path, columns, 3, **rest)
    text = script(plan(given, database), given, database)
    header = text[: text.index("\n\n")]
    assert "NOT COMPLETE: it is to be read, not to be run" in header
    assert said in header


def test_a_name_with_a_line_break_does_not_end_the_comment(tmp_path: Path) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = policy(tmp_path, ROLES, 5)
    text = script(plan(given, database), given, "a\n; drop table t; --.duckdb")
    assert "--   attach '...' as anon_source (read_only);" in text
