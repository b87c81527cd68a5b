"""`anonymizer diff`: both policies run aside, compared; nothing is written."""

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
from anonymizer.review.diff import Comparison, compare


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
    return compare(policies[0], policies[1], source, seed=Seed.test(1))


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
    for policy, trial in ((given(), found.old), (new, found.new)):
        release = anonymizer.run(Policy.loads(json.dumps(policy), source.parent), source, seed=1)
        assert trial.figures["loss per cell (NCP)"] == release.measures["ncp"]
        assert trial.figures["smallest class (rows)"] == release.measures["class_min"]
        assert trial.figures["classes"] == release.measures["classes"]
        assert trial.achieved["k_anonymity", None][0] == release.measures["class_min"]
        mean = sum(trial.losses.values()) / len(trial.losses)
        # (of codes, figures are told with three digits)
        assert mean == pytest.approx(release.measures["ncp"], rel=0.005)
    assert set(found.old.losses) == {"age", "sex", "zip"}


@pytest.mark.slow
def test_nothing_is_written(source: Path) -> None:
    before = source.read_bytes()
    compared(source, given(), given(privacy={"k_anonymity": 7}))
    assert source.read_bytes() == before
    assert [path.name for path in source.parent.iterdir()] == ["source.duckdb"]


def command(source: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anonymizer", "diff", "old.yml", "new.yml",
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
