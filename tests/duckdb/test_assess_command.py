"""`anonymizer assess` and `anonymizer init` as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.cli import main


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clinic") / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            """create table visits as select
                range as visit_id, range % 150 as patient_id, 'Name ' || (range % 150) as name,
                20 + (range % 150) % 40 as age, 'Z' || (range % 150) % 3 as zip,
                case when (range % 150) % 2 = 0 then 'F' else 'M' end as sex,
                'disease ' || (range % 7) as diagnosis, 'note ' || repeat('x', 50) || range as text,
                [range] as readings, range % 11 as score_of_something
            from range(600)"""
        )
    return path


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


def result(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = run(*arguments, "--format", "json")
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, data


OPTIONS = ("--quasi", "age,zip,sex", "--sensitive", "diagnosis", "--person", "patient_id")


def test_the_page_and_the_keys(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = result(capsys, "assess", "visits", "--database", database, *OPTIONS)
    assert code == 0
    expected = {"rows": 600, "persons": 150, "k": 4, "person_k": 1, "uniques": 0}
    assert {name: data[name] for name in expected} == expected
    assert set(data["distinct_l"]) == set(data["t_equal"]) == {"diagnosis"}
    assert run("assess", "visits", "--database", database, *OPTIONS) == 0
    text = capsys.readouterr().out
    assert "600 rows of 150 persons" in text
    assert "Next" in text
    assert "Z1" not in text
    assert "disease 1" not in text


def test_a_requirement_decides_the_exit_code(
    database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = ("assess", "main.visits", "--database", database, *OPTIONS)
    assert run(*said, "--require", "l=1") == 0
    capsys.readouterr()
    code, data = result(capsys, *said, "--require", "k=5")
    assert code == 1
    assert data["errors"][0]["path"] == "--require k"
    assert data["k"] == 4
    assert run(*said, "--require", "entropy_l=1.5") == 0
    capsys.readouterr()
    for wrong in ("k=five", "k=5.0"):
        assert run(*said, "--require", wrong) == 2
        assert "a whole number" in capsys.readouterr().err
    assert run("assess", "visitors", "--database", database) == 2


def test_a_file_needs_no_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "people.csv"
    file.write_text('"first, last",age\na,1\nb,1\nc,2\n')
    code, data = result(capsys, "assess", file, "--quasi", 'age,"first, last"')
    assert (code, data["uniques"], data["quasi"]) == (0, 3, ["age", "first, last"])


@pytest.mark.slow
def test_a_draft_runs_after_review(database: Path, tmp_path: Path,
                                   capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    policy = tmp_path / "policy.yml"
    assert run("init", "visits", "--database", database, "-o", policy) == 0
    assert run("init", "visits", "--database", database, "-o", policy) == 2
    text = policy.read_text()
    loaded = anonymizer.Policy.load(policy)
    roles = {name: column.role for name, column in loaded.columns.items()}
    assert roles == {
        "visit_id": "identifier", "patient_id": "identifier", "name": "identifier",
        "age": "quasi", "zip": "quasi", "sex": "quasi", "diagnosis": "sensitive",
        "text": "identifier", "readings": "drop", "score_of_something": "sensitive",
    }  # fmt: skip
    assert (loaded.key, loaded.person) == ("visit_id", "patient_id")
    assert "# free text" in text
    assert "Name 1" not in text
    capsys.readouterr()
    assert run("run", policy, "--database", database, "--test-seed", "1", "--quiet") == 0
