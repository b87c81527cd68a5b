"""`anonymizer compare`: both policies run aside, compared; nothing is written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.process.secret import Seed
from anonymizer.review.comparison import (
    Comparison,
    cell,
    compare,
    markdown_lines,
    text_lines,
    verdict,
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table people as select i as id, 20 + (i * 13) % 50 as age,"
            " case when i % 3 = 0 then 'f' else 'm' end as sex,"
            " printf('%05d', i * 37 % 900) as zip, chr(cast(65 + i % 5 as integer)) as disease"
            " from range(300) as numbers(i)"
        )
    return path


def given(**changes: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "id": {"role": "drop"},
        "age": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "zip": {"role": "quasi"},
        "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    columns |= changes.pop("columns", {})
    return {
        "version": 1,
        "source": {"table": "people"},
        "columns": {name: column for name, column in columns.items() if column is not None},
        "privacy": {"k_anonymity": 5},
        "publish": {"name": "released", "database": "release.duckdb"},
        **changes,
    }


def compared(source: Path, old: dict[str, Any], new: dict[str, Any]) -> Comparison:
    policies = [Policy.loads(json.dumps(one), source.parent) for one in (old, new)]
    return compare(policies[0], source, other=policies[1], seed=Seed.test(1))


def changed(changes: Any) -> dict[str, tuple[Any, Any]]:
    return {c.what: (c.old, c.new) for c in changes if c.changed}


@pytest.mark.slow
def test_what_changes_is_told_and_equals_what_a_run_would_say(source: Path) -> None:
    new = given(
        columns={"zip": {"role": "quasi", "hierarchy": {"builder": "prefix"}}},
        privacy={"k_anonymity": 20},
    )
    found = compared(source, given(), new)
    assert changed(found.roles) == {}
    assert changed(found.required) == {"k_anonymity": ("k=5", "k=20")}
    assert changed(found.settings)["columns.zip.hierarchy.builder"] == (None, "prefix")
    assert found.new.holds
    for policy, name in ((given(), "old"), (new, "new")):
        release = anonymizer.run(Policy.loads(json.dumps(policy), source.parent), source, seed=1)
        figures = {change.what: getattr(change, name) for change in found.figures}
        assert figures["loss per cell (NCP)"] == release.measures["ncp"]
        assert figures["smallest class (rows)"] == release.measures["class_min"]
        assert figures["classes"] == release.measures["classes"]
        (reached,) = (getattr(c, name) for c in found.achieved if c.what == "k_anonymity")
        assert reached == {"reaches": release.measures["class_min"], "holds": True}
        losses = getattr(found, name).losses
        mean = sum(losses.values()) / len(losses)
        # (of codes, figures are told with three digits)
        assert mean == pytest.approx(release.measures["ncp"], rel=0.005)
    assert set(found.old.losses) == {"age", "sex", "zip"}


@pytest.mark.slow
def test_nothing_is_written(source: Path) -> None:
    before = source.read_bytes()
    compared(source, given(), given(privacy={"k_anonymity": 7}))
    assert source.read_bytes() == before
    assert [path.name for path in source.parent.iterdir()] == ["source.duckdb"]


def test_roles_and_a_guarantee_that_goes(source: Path) -> None:
    found = compared(
        source,
        given(),
        given(columns={"zip": {"role": "drop"}, "disease": {"role": "drop"}}),
    )
    assert changed(found.roles) == {"zip": ("quasi", "drop"), "disease": ("sensitive", "drop")}
    assert changed(found.required) == {"distinct_l (disease)": ("l=2", None)}
    assert changed(found.losses)["zip"][1] is None
    rows = "\n".join(text_lines(found))
    assert "disease  sensitive  drop" in rows


def test_the_same_policy_twice(source: Path) -> None:
    found = compared(source, given(), given())
    for part in (found.roles, found.settings, found.required, found.achieved, found.figures):
        assert changed(part) == {}
    assert verdict(found) == "The policies are the same in everything that is compared."


@pytest.mark.slow
def test_a_column_that_no_policy_classifies_is_an_error(source: Path) -> None:
    lacking = given(columns={"id": None})
    found = compared(source, lacking, lacking)
    assert found.unclassified == ("id",)
    assert [problem.path for problem in found.problems] == ["columns.id"]
    # a column that is new in the source: the change that classifies it is fine
    found = compared(source, lacking, given())
    assert found.unclassified == ()
    assert found.problems == ()
    assert not found.old.runs
    assert found.new.holds
    assert changed(found.roles) == {"id": (None, "drop")}
    # and one that takes the role away is not
    assert [p.path for p in compared(source, given(), lacking).problems] == ["columns.id"]


def test_a_policy_that_cannot_hold_says_so(source: Path) -> None:
    found = compared(source, given(), given(privacy={"k_anonymity": 400}))
    assert found.problems
    assert not found.new.runs
    assert "new policy: " in "\n".join(text_lines(found))


def command(source: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anonymizer", "compare", "old.yml", "new.yml",
         "--database", source.name, *options],
        cwd=source.parent,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[2]), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_formats_and_exit_codes(source: Path) -> None:
    folder = source.parent
    (folder / "old.yml").write_text(json.dumps(given()))
    (folder / "new.yml").write_text(json.dumps(given(privacy={"k_anonymity": 9})))
    done = command(source, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["new"] == {
        "runs": True,
        "holds": True,
        "problems": [],
        "replaces": [],
    }
    done = command(source, "--format", "markdown", "-o", "comment.md")
    assert done.returncode == 0, done.stderr
    assert "| k\\_anonymity | k=5 | k=9 | changed |" in done.stdout
    assert (folder / "comment.md").read_text() == done.stdout
    assert "people" not in done.stderr
    (folder / "new.yml").write_text(json.dumps(given(columns={"id": None})))
    done = command(source, "--format", "json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["errors"][0]["path"] == "columns.id"


@pytest.mark.slow
def test_a_guarantee_that_fails_ends_with_1(source: Path) -> None:
    with duckdb.connect(str(source)) as connection:
        connection.execute("update people set age = null where id % 20 = 0")
    folder = source.parent
    (folder / "old.yml").write_text(json.dumps(given()))
    suppressing = {"age": {"role": "quasi", "nulls": "suppress"}}
    (folder / "new.yml").write_text(json.dumps(given(columns=suppressing)))
    done = command(source)
    assert done.returncode == 1, done.stdout
    assert "suppressed (share)" in done.stdout
    assert "0.05" in done.stdout


def test_names_cannot_break_out_of_a_markdown_table(source: Path) -> None:
    assert cell("a|b\n<img src=x>`*_") == "a\\|b\\\\n\\<img src=x\\>\\`\\*\\_"
    with duckdb.connect(str(source)) as connection:
        connection.execute('alter table people rename zip to "z|i\np"')
    odd = {"zip": None, "z|i\np": {"role": "quasi"}}
    found = compared(source, given(columns=odd), given(columns=odd, privacy={"k_anonymity": 6}))
    rows = [line for line in markdown_lines(found) if line.startswith("| z")]
    assert len(rows) == 1
    assert rows[0].startswith("| z\\|i\\\\np |")
