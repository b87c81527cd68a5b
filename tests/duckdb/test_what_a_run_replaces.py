"""What a run drops or replaces is said first, before it and after it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

from anonymizer.cli import main
from tests import runs

PEOPLE = [(i, 20 + i % 5, ("flu", "cold")[i % 2]) for i in range(40)]
POLICY = """\
version: 1
source: {{table: people}}
columns:
  id: {{role: drop}}
  age: {{role: quasi}}
  disease: {{role: sensitive, protect: {{l_diversity: 2}}}}
privacy: {{k_anonymity: {k}}}
publish: {publish}
"""
REPLACED = "the source table main.people is dropped with all its rows"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    types = {"id": "integer", "age": "integer", "disease": "varchar"}
    runs.source(tmp_path, types, PEOPLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, publish: str, k: int = 3) -> str:
    Path(name).write_text(POLICY.format(publish=publish, k=k))
    return name


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    return done(capsys, *arguments, "--database", "source.duckdb")


def done(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main.main(list(arguments))
    said = capsys.readouterr()
    assert ended.value.code == 0, said.err
    return str(said.out)


def first_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    return called(capsys, *arguments).splitlines()[0]


@pytest.mark.slow
def test_a_replaced_source_is_told_first(capsys: pytest.CaptureFixture[str]) -> None:
    old = written("old.yml", "{database: release.duckdb}")
    new = written("new.yml", "{replace_source: true}", k=4)
    assert REPLACED in first_line(capsys, "plan", new)
    assert REPLACED in first_line(capsys, "diff", old, new)
    assert REPLACED in first_line(capsys, "diff", new, old)
    assert "dropped" in first_line(capsys, "diff", old, new, "--format", "markdown")
    assert REPLACED not in first_line(capsys, "plan", old)
    shown = json.loads(called(capsys, "plan", new, "--format", "json"))
    assert REPLACED in shown["replaces"][0]
    shown = json.loads(called(capsys, "diff", old, new, "--format", "json"))
    assert REPLACED in shown["new"]["replaces"][0]
    assert shown["old"]["replaces"] == []
    assert REPLACED in first_line(capsys, "run", new, "--yes-replace-source")


@pytest.mark.slow
@pytest.mark.parametrize("publish", ["{database: release.duckdb}", "{schema: shown}"])
def test_a_replaced_release_is_told_first(capsys: pytest.CaptureFixture[str], publish: str) -> None:
    given = written("policy.yml", publish)
    for verb in ("plan", "diff", "run"):
        arguments = [verb, given] + ([given] if verb == "diff" else [])
        assert "replace" not in first_line(capsys, *arguments)
    for verb in ("plan", "diff", "run"):
        arguments = [verb, given] + ([given] if verb == "diff" else [])
        said = first_line(capsys, *arguments)
        assert "people_anonymous of run " in said
        assert "is replaced by the new one" in said
        assert re.search(r", made \d{4}-\d\d-\d\d \d\d:\d\d, in ", said)
        assert "attack --earlier" in said


@pytest.mark.slow
def test_databases_of_one_folder_keep_their_manifests(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Releases of one name in two databases of a folder have a JSON file each, also after `clean`
    and further runs.
    """
    names = ("first", "second")
    files = {"first": "released.manifest.json", "second": "second.duckdb.released.manifest.json"}
    for name in names:
        written(f"{name}.yml", f"{{database: {name}.duckdb, name: released}}")
        assert "is of another release" not in called(capsys, "plan", f"{name}.yml")
        called(capsys, "run", f"{name}.yml")
    for name in (*names, *names):
        done(capsys, "clean", "--database", f"{name}.duckdb")
        for one in names:
            done(capsys, "verify", f"{one}.yml")
            done(capsys, "export", f"{one}.yml", "-o", f"{one}.csv")
            found = json.loads((folder / files[one]).read_text())
            with duckdb.connect(f"{one}.duckdb", read_only=True) as held:
                ((manifest,),) = held.execute("from released_manifest").fetchall()
            assert found == json.loads(manifest)
        called(capsys, "run", f"{name}.yml")


@pytest.mark.slow
def test_a_schema_in_other_letter_case_is_refused_by_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The engine takes the two as one; the seal of the release would name one that is not there."""
    called(capsys, "run", written("first.yml", "{database: release.duckdb, schema: Shown}"))
    with duckdb.connect("source.duckdb") as connection:
        connection.execute("create schema own")
    for publish, there in (
        ("{database: new.duckdb, schema: MAIN}", "main"),
        ("{schema: Main}", "main"),
        ("{database: release.duckdb, schema: shown, name: other}", "Shown"),
        ("{schema: OWN}", "own"),
    ):
        for verb in ("plan", "run"):
            given = written("p.yml", publish)
            with pytest.raises(SystemExit) as ended:
                main.main([verb, given, "--database", "source.duckdb"])
            assert ended.value.code == 2
            assert f"publish.schema: is there as {there}," in capsys.readouterr().err
    assert not (folder / "new.duckdb").exists()


def test_what_is_lost_with_a_replaced_table_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with duckdb.connect("source.duckdb") as connection:
        ((table,),) = connection.execute("select table_name from duckdb_tables()").fetchall()
        connection.execute(f"create index by_age on {table} (age)")
        connection.execute(f"comment on table {table} is 'Ada moved'")
        connection.execute(f"comment on column {table}.age is 'in years'")
    said = first_line(capsys, "plan", written("new.yml", "{replace_source: true}"))
    lost = "comments on its columns, its comment, the index by_age"
    assert f"dropped with all its rows and with {lost}, and its release" in said
    assert "Ada" not in said
