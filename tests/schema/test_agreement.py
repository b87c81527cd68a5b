"""The verifier in SQL and the reader in Python judge releases of several tables alike."""

from __future__ import annotations

import json
import random
from pathlib import Path

import duckdb
import pytest

from anonymizer.compile import Table
from anonymizer.contract.checks import Check, verification
from anonymizer.contract.layout import Layout, PublishedColumn, Requirement
from anonymizer.contract.reading import ReleasedTable, Tables
from anonymizer.independent.judge import judge_opened
from anonymizer.independent.rules import Check as Own
from anonymizer.verification.across_tables import tables_questions
from anonymizer.verification.questions import ask_all
from tests.independent.agreement import compare
from tests.schema.handmade import Made
from tests.schema.test_reader import FAULTS, clinic, drawn, secret

UNDEFINED = ("known_", "eir_l", "distinct_l")
"""What is judged over the join: nothing says what it is where keys lead nowhere, or to two rows."""


def in_sql(made: Made, path: Path) -> tuple[Check, ...]:
    """What the verifier finds of the tables together."""
    made.database(path)
    data = json.loads(json.dumps(made.manifest()))
    given = {"person_id": None, "group_id": None, **data["layout"]}
    columns = tuple(PublishedColumn(**one) for one in given.pop("columns"))
    for one in data["tables"]["tables"]:
        for column in one["columns"]:
            column.setdefault("name", None)
    persons = Layout(columns=columns, **given)
    required = [Requirement(**item) for item in data["requirements"]]
    tables = Tables.from_dict(data["tables"], persons, required)

    def where(one: ReleasedTable) -> Table:
        return Table(one.name, "main", None)

    with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as connection:
        return ask_all(
            tables_questions(tables, where), lambda text: connection.execute(text).fetchall()
        )


def differences(made: Made, path: Path) -> tuple[int, list[str]]:
    """How many checks both made, and where they disagree."""
    theirs = in_sql(made, path)
    path.unlink()
    ours: list[Own] = list(judge_opened(made.opened()).checks)
    keys = ("references", "key_dense")
    if any(one.name in keys and not one.passed for one in ours):
        theirs = tuple(one for one in theirs if not one.name.startswith(UNDEFINED))
    asked = {(one.name, one.column) for one in theirs}
    found = compare(verification(theirs), [one for one in ours if (one.name, one.column) in asked])
    return found.checks, found.different


@pytest.mark.slow
def test_random_tables_are_judged_alike(tmp_path: Path) -> None:
    checks = 0
    for seed in range(30):
        made = drawn(random.Random(seed)) if seed % 2 else secret(random.Random(seed))
        if not any(child.events for child in made.published().children.values()):
            made.events = 0
        made.rows_known = made.rows_known and len(made.tables) > 1
        made.sensitive = made.sensitive and bool(made.events or made.rows_known)
        number, different = differences(made, tmp_path / "release.duckdb")
        assert not different, seed
        checks += number
    assert checks > 150


@pytest.mark.slow
def test_faults_are_judged_alike(tmp_path: Path) -> None:
    for name, (change, _) in FAULTS.items():
        made = clinic()
        change(made)
        _, different = differences(made, tmp_path / "release.duckdb")
        assert not different, name


@pytest.mark.slow
def test_what_makes_an_event_is_compared_in_full(tmp_path: Path) -> None:
    """NULLs are equal, tables are not, and what differs in one column differs."""
    made = clinic()
    rows = [(1, 1, None, None, "flu"), (2, 2, None, None, "hiv"), (3, 3, None, "2020-01-01", "flu")]
    made.rows["visits"] = [*rows, (4, 4, None, "2020-01-01", "hiv")]
    made.rows["labs"] = []
    for events in (1, 2, 3):
        made.events = events
        theirs = {one.name: one for one in in_sql(made, tmp_path / f"{events}.duckdb")}
        assert theirs["known_events"].passed
