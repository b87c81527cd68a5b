"""The page on dbt, in a project made of its blocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.docs.blocks import ROOT, blocks

pytestmark = pytest.mark.dbt

PAGE = ROOT / "docs" / "how-to" / "dbt.md"
VISITS = """
select
    i as visit,
    'patient ' || i // 2 as patient,
    18 + (i // 2 * 37) % 70 as age,
    case when i // 2 % 2 = 0 then 'female' else 'male' end as sex,
    list_value('Flu', 'Asthma', 'Cancer', 'Fracture')[(i * i) % 7 % 4 + 1] as disease
from range(800) as numbers(i)
"""


def test_the_page_works(tmp_path: Path) -> None:
    files = {block.file: block.code for block in blocks(PAGE) if block.file}
    files["models/visits.sql"] = VISITS
    files["dbt_project.yml"] = json.dumps({"name": "page", "version": "1.0.0", "profile": "page"})
    files["packages.yml"] = json.dumps({"packages": [{"local": str(ROOT / "sql" / "dbt")}]})
    output = {"type": "duckdb", "path": "page.duckdb"}
    files["profiles.yml"] = json.dumps({"page": {"target": "dev", "outputs": {"dev": output}}})
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    commands = [b.code.split() for b in blocks(PAGE) if b.language == "sh"]
    assert commands == [["dbt", "build"]]
    for command in (["deps"], *(words[1:] for words in commands)):
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])",
             *command],
            cwd=tmp_path,
            env={**os.environ, "DBT_PROFILES_DIR": str(tmp_path), "DO_NOT_TRACK": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    with duckdb.connect(str(tmp_path / "page.duckdb"), read_only=True) as warehouse:
        columns = {row[0] for row in warehouse.execute("describe visits_release").fetchall()}
        assert columns == {"person_id", "age", "sex", "disease", "class_id"}
        counts = warehouse.execute("select max(persons), min(persons) from visits_counts")
        ((all_persons, fewest),) = counts.fetchall()
        assert (all_persons, fewest >= 5) == (400, True)
