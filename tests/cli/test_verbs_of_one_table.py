"""Verbs that work on policies of one table refuse a policy of several, before they do anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main
from anonymizer.dbt_release import policy_of
from anonymizer.errors import AnonymizerError, PolicyError, SourceError
from anonymizer.policy import Policy
from tests.core.several_tables import SEVERAL

COMMANDS = {
    "plan --lattice": ["plan", "policy.yml", "--lattice", "--database", "w.duckdb"],
}
SINGLE = """
version: 1
source: {table: patients}
columns: {zip: {role: quasi}}
privacy: {k_anonymity: 1000000}
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yml").write_text(SEVERAL)
    (tmp_path / "single.yml").write_text(SINGLE)
    with duckdb.connect("w.duckdb") as connection:
        connection.execute("create table patients as select 'z' as zip")
    return tmp_path


def files(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("name", COMMANDS)
def test_command(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(place)
    with pytest.raises(SystemExit) as ended:
        main(COMMANDS[name])
    assert ended.value.code == 2
    shown = capsys.readouterr()
    assert shown.err.splitlines()[-1].startswith(f"tables: are several, and `{name}`")
    assert shown.out == ""
    assert files(place) == before


@pytest.mark.parametrize("new", [True, False])
def test_compare_one_one_table_and_several(
    new: bool, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(place)
    names = ["single.yml", "policy.yml"] if new else ["policy.yml", "single.yml"]
    with pytest.raises(SystemExit) as ended:
        main(["compare", *names, "--database", "w.duckdb"])
    assert ended.value.code == 2
    one, several = ("OLD", "NEW") if new else ("NEW", "OLD")
    said = f"{one}: is of one table, and {several} of several: their figures are not comparable"
    assert capsys.readouterr().err.splitlines()[-1].startswith(said)
    assert files(place) == before


def problems_of(call: Callable[[], object], kind: type[AnonymizerError]) -> list[str]:
    with pytest.raises(kind) as raised:
        call()
    return [problem.path for problem in raised.value.problems]


def test_one_frame_is_not_several_tables() -> None:
    pandas: Any = pytest.importorskip("pandas")
    frame, policy = pandas.DataFrame({"zip": ["z"]}), Policy.loads(SEVERAL)
    assert problems_of(lambda: anonymizer.run(policy, frame), SourceError) == ["database"]
    given: Any = {"tables": {}}
    called = problems_of(lambda: anonymizer.anonymize(frame, ["zip"], **given), PolicyError)
    assert called == ["tables"]


def test_a_model_of_dbt_is_one_table(tmp_path: Path) -> None:
    model = {"columns": {}, "query": "select 1", "name": "n", "schema": "s"}
    data = {"policy": {"tables": {}}, **model}
    assert problems_of(lambda: policy_of(data, tmp_path, tmp_path), PolicyError) == ["tables"]


def test_a_full_refresh_of_dbt_is_a_new_population_of_the_ledger(tmp_path: Path) -> None:
    columns = {"id": {"role": "identifier"}, "age": {"role": "quasi"}}
    model = {"columns": columns, "query": "select 1", "name": "n", "schema": "s"}
    given = {"key": "id", "privacy": {"k_anonymity": 3}, "ledger": "l.duckdb"}
    for republish in (None, {"follow": True}):
        policy = {**given, **({"republish": republish} if republish else {})}
        for full in (False, True):
            data = {"policy": policy, "full_refresh": full, **model}
            found = policy_of(data, tmp_path, tmp_path).republish
            assert bool(found and found.new_population) == full
            assert bool(found and found.follow) == bool(republish)


def test_schema_describes_both(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["schema"])
    assert ended.value.code == 0
    assert json.loads(capsys.readouterr().out) == Policy.json_schema()
