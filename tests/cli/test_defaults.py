"""Defaults of options, from the environment and a file of the folder; completion in the shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from anonymizer.cli import VERBS, load
from anonymizer.cli.options import DEFAULTED, Defaulted
from tests.cli.conftest import POLICY


def done(folder: Path, *given: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "anonymizer", *given],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_database_is_named_by_the_folder_or_the_environment(
    warehouse: Path, tmp_path: Path
) -> None:
    (tmp_path / "policy.yml").write_text(POLICY)
    assert "--database: is needed" in done(tmp_path, "plan", "policy.yml").stderr
    (tmp_path / ".anonymizer.toml").write_text('database = "warehouse.duckdb"\nthreads = 1\n')
    assert done(tmp_path, "plan", "policy.yml").returncode == 0
    other = done(tmp_path, "plan", "policy.yml", ANONYMIZER_DATABASE="other.duckdb")
    assert other.stderr == "--database: there is no file other.duckdb\n"
    named = ("plan", "policy.yml", "--database", "warehouse.duckdb")
    assert done(tmp_path, *named, ANONYMIZER_DATABASE="other.duckdb").returncode == 0
    limited = done(tmp_path, "plan", "policy.yml", ANONYMIZER_MEMORY_LIMIT="much")
    assert limited.stderr.startswith("--memory-limit: is not a setting")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("databases = 1", "databases: is not an option with a default (allowed: database, threads"),
        ("threads = 'many'", "threads: is not a number it takes (allowed: a whole number from 1)"),
        ("threads = true", "threads: must be a text or a whole number"),
        ("database = [1]", "database: must be a text or a whole number"),
        ("database", "is not a TOML file that can be read (hint: lines such as"),
    ],
)
def test_a_file_that_says_anything_else_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / ".anonymizer.toml").write_text(text)
    found = done(tmp_path, "assess", "t")
    assert found.returncode == 2
    assert found.stderr.startswith(f".anonymizer.toml: {said}")
    assert "Traceback" not in found.stderr


def test_a_default_never_names_a_release_or_what_is_cleaned() -> None:
    for verb in VERBS:
        command = load(verb)
        commands = command.commands.values() if isinstance(command, click.Group) else [command]
        for parameter in (one for each in commands for one in each.params):
            if isinstance(parameter, Defaulted):
                assert parameter.opts[0].lstrip("-") in DEFAULTED
                assert verb not in ("clean", "verify", "export", "report", "certify") or (
                    parameter.name != "database"
                )


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("anonymizer ver", "plain,verify"),
        ("anonymizer run --dat", "plain,--database"),
        ("anonymizer hierarchy ex", "plain,export"),
        ("anonymizer run pol", "file,pol"),
        ("anonymizer run policy.yml --database w", "file,w"),
    ],
)
def test_the_shell_completes(tmp_path: Path, words: str, offered: str) -> None:
    at = str(len(words.split()) - 1)
    asked = {"_ANONYMIZER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at}
    command = "from anonymizer.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", command],
        cwd=tmp_path,
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert offered in found.stdout.splitlines(), found.stderr
