"""Verification as a recipient would: from the release alone, on a machine without the source."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from tests.conftest import ROOT
from tests.selection import some
from tests.threats.population import Population

POLICY = """
version: 1
source: {table: visits}
key: id
columns:
  id: {role: identifier}
  age: {role: quasi}
  district: {role: quasi}
  disease: {role: sensitive, protect: {l_diversity: 2}}
privacy: {k_anonymity: 3}
ledger: private.duckdb
publish: {name: released, database: release.duckdb}
"""


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the release and the policy, and nothing else."""
    sender, recipient = tmp_path_factory.mktemp("sender"), tmp_path_factory.mktemp("recipient")
    Population(seed=4, size=60).write(sender / "source.duckdb")
    (sender / "policy.yml").write_text(POLICY)
    anonymizer.run(anonymizer.Policy.load(sender / "policy.yml"), sender / "source.duckdb")
    for name in ("release.duckdb", "policy.yml", "released.manifest.json"):
        shutil.move(sender / name, recipient / name)
    shutil.rmtree(sender)
    return recipient


@pytest.fixture
def received(sent: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sent, tmp_path / "recipient"))


def command(folder: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "anonymizer", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def called(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str]:
    """The same in this process."""
    monkeypatch.chdir(folder)
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0), out.getvalue() + err.getvalue()


@pytest.mark.slow
def test_ledger_free_verification_of_a_recipient(
    received: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, said = command(received, "verify", "policy.yml")
    assert code == 0, said
    for arguments in (
        ("verify", "policy.yml", "--database", "release.duckdb"),
        ("verify", "--database", "release.duckdb"),
    ):
        code, said = called(received, monkeypatch, *arguments)
        assert code == 0, said
        assert "k_anonymity" in said


@pytest.mark.slow
def test_ledger_free_verification_in_pure_sql(received: Path) -> None:
    """The manifest carries the statements: any DuckDB runs them, under any name of the file."""
    manifest = json.loads((received / "released.manifest.json").read_text())
    checks = manifest["verification"]["checks"]
    with duckdb.connect(":memory:") as connection:
        connection.execute(f"attach '{received}/release.duckdb' as anything (read_only)")
        connection.execute("use anything")
        ran = 0
        for check in checks:
            if not check["name"].startswith("source_"):
                assert connection.execute(check["sql"]).fetchall() == [], check["name"]
                ran += 1
    assert ran >= 4


def broken(folder: Path, text: str) -> None:
    with duckdb.connect(str(folder / "release.duckdb")) as connection:
        rows = connection.execute(
            "select table_name from duckdb_tables() where starts_with(table_name, '_released_')"
        ).fetchall()
        connection.execute(text.format(rows=f'"{rows[0][0]}"')).fetchall()


@some(3)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("delete from {rows} where class_id = 1 and rowid > (select min(rowid) from {rows}"
         " where class_id = 1)", 1),
        ("update {rows} set disease = 'flu' where class_id = 1", 1),
        ("delete from {rows}", 1),
        ("drop table released_manifest", 2),
        ("delete from released_manifest", 2),
        ("drop view released", 1),
    ],
)  # fmt: skip
def test_ledger_free_verification_finds_and_refuses(
    received: Path, text: str, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1 for a release that changed, 2 where there is nothing to check; never 0."""
    broken(received, text)
    for arguments in (("verify", "policy.yml"), ("verify", "--database", "release.duckdb")):
        found, said = called(received, monkeypatch, *arguments)
        assert found == code, said
        assert "Traceback" not in said
