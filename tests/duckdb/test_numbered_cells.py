"""Large tables are written with less memory, cells as numbers: the release is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from anonymizer import Policy
from anonymizer.release.published import Release
from anonymizer.run import release_rows
from tests.runs import fetch, policy, published, run, source
from tests.selection import some

TYPES = {
    "id": "INTEGER",
    "person": "INTEGER",
    "age": "INTEGER",
    "city": "VARCHAR",
    "sex": "VARCHAR",
    "hide": "BOOLEAN",
    "illness": "VARCHAR",
}
ROWS = [
    (
        i,
        i // 2,
        20 + (i // 2 * 7) % 30,
        [None, "Rome, old", 'the "North"', "", "Oslo"][i // 2 % 5],
        "mf"[i // 2 % 2],
        i % 4 == 0,
        ["flu", "cold", "acne", "none"][i % 4],
    )
    for i in range(60)
]
CITY: dict[str, Any] = {"role": "quasi"}
NODES: dict[str, Any] = {"role": "quasi", "hierarchy": {"builder": "frequency"}}
COLUMNS: dict[str, Any] = {
    "id": {"role": "keep", "acknowledge_unique": True},
    "person": "drop",
    "age": {"role": "quasi", "hierarchy": {"builder": "conventional"}},
    "city": CITY,
    "sex": "quasi",
    "hide": "drop",
    "illness": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


def buckets(folder: Path) -> Policy:
    city = CITY | {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
    return policy(folder, COLUMNS | {"city": city, "age": "quasi"}, algorithm={"name": "lgb"})


def levels(folder: Path) -> Policy:
    columns = COLUMNS | {"city": NODES, "sex": NODES, "illness": "sensitive"}
    return policy(folder, columns, suppression_limit=0.3, algorithm={"name": "full_domain"})


def persons(folder: Path) -> Policy:
    return policy(folder, COLUMNS, person="person", algorithm={"name": "mondrian"})


def typed(folder: Path) -> Policy:
    return policy(folder, COLUMNS, publish={"cells": "typed"})


def sets(folder: Path) -> Policy:
    return policy(folder, COLUMNS)


def into(
    given: Policy, folder: Path, monkeypatch: pytest.MonkeyPatch, least: int, numbered: bool
) -> Release:
    monkeypatch.setattr(release_rows, "LARGE_FROM", least)
    folder.mkdir()
    steps: list[str] = []
    made = run(given, source(folder, TYPES, ROWS), listener=lambda e: steps.append(e.step.name))
    assert ("numbers for cells" in steps) == numbered
    return made


@some(1, 3)
@pytest.mark.parametrize("policy_of", [sets, levels, buckets, persons, typed])
def test_the_release_is_the_same_with_its_texts_and_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy_of: Any
) -> None:
    plain, numbered = tmp_path / "plain", tmp_path / "numbered"
    releases = [
        into(policy_of(plain), plain, monkeypatch, 10**9, False),
        into(policy_of(numbered), numbered, monkeypatch, 0, policy_of is not typed),
    ]
    first, second = (published(release) for release in releases)
    assert first == second
    assert len(first) >= 40
    described = []
    for release in releases:
        with duckdb.connect(str(release.database), read_only=True) as connection:
            described.append(connection.execute(f"describe {release.view}").fetchall())
            # a type would carry texts of classes whose rows are not there
            assert not fetch(connection, "from duckdb_types() where not internal")
            types = fetch(connection, "select data_type from duckdb_columns() where not internal")
            assert not [column for column in types if "ENUM" in column["data_type"]]
    assert described[0] == described[1]
