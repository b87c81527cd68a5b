"""A policy that was edited after the run: that it asks for other columns is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.errors import GuaranteeError, PolicyError
from anonymizer.publish.export import export
from anonymizer.review.attack import attack
from anonymizer.review.report.content import collect
from tests.runs import policy, run, source
from tests.selection import some

TYPES = {
    "id": "INTEGER",
    "age": "INTEGER",
    "town": "VARCHAR",
    "disease": "VARCHAR",
    "cost": "INTEGER",
}
PEOPLE = [
    (i, 20 + i * 7 % 13, "abcd"[i % 4], ("Flu", "HIV", "Cold")[i % 3], i % 5) for i in range(60)
]
COLUMNS: dict[str, Any] = {
    "id": "identifier",
    "age": "quasi",
    "town": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
    "cost": "drop",
}


def test_columns_that_came_after_the_run_are_refused(tmp_path: Path) -> None:
    """What nobody judged is neither verified nor exported."""
    database = source(tmp_path, TYPES, PEOPLE)
    given = policy(tmp_path, COLUMNS, k=3)
    run(given, database)
    released = tmp_path / "release.duckdb"
    with duckdb.connect(str(released)) as connection:
        ((rows,),) = connection.execute(
            "select object_name from _anonymizer.objects where kind = 'rows'"
        ).fetchall()
        connection.execute(f"alter table {rows} add column ssn varchar")
        connection.execute(f"update {rows} set ssn = 'S' || rowid")
    hidden = "has a column ssn that its manifest does not tell of"
    with pytest.raises(GuaranteeError, match=hidden):
        anonymizer.verify(given)
    with duckdb.connect(str(released)) as connection:
        connection.execute(f"create or replace view people_anonymous as from {rows}")
    for judged in (given, None):
        with pytest.raises(GuaranteeError, match=f"people_anonymous {hidden}"):
            anonymizer.verify(judged, released)
    with pytest.raises(GuaranteeError, match=hidden):
        export(given, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()
    with pytest.raises(GuaranteeError, match=hidden):
        attack(given, database)
    with duckdb.connect(str(released)) as connection:
        connection.execute(f"create or replace view people_anonymous as select age from {rows}")
    with pytest.raises(GuaranteeError, match="lacks the column town that its manifest tells of"):
        anonymizer.verify(given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("agreement")
    run(policy(place, COLUMNS, k=3), source(place, TYPES, PEOPLE))
    return place


def edited(folder: Path, **change: Any) -> Policy:
    columns = {**COLUMNS, **change.pop("columns", {})}
    columns = {name: column for name, column in columns.items() if column is not None}
    return policy(folder, columns, **{"k": 3, **change})


OTHER: dict[str, tuple[dict[str, Any], str, str]] = {
    "published, now an identifier": (
        {"columns": {"age": "identifier"}},
        "columns.age",
        "is identifier in the policy, and the release publishes it as quasi",
    ),
    "left out, now quasi": (
        {"columns": {"cost": "quasi"}},
        "columns.cost",
        "is quasi in the policy, and the release does not publish it",
    ),
    "sensitive, now quasi": (
        {"columns": {"disease": "quasi"}},
        "columns.disease",
        "is quasi in the policy, and the release publishes it as sensitive",
    ),
    "numbers, now categories": (
        {"columns": {"age": {"role": "quasi", "kind": "categorical"}}},
        "columns.age.kind",
        "is categorical in the policy, and the release publishes it as numeric",
    ),
    "nodes, now sets": (
        {"columns": {"town": "quasi"}},
        "columns.town.hierarchy",
        "is missing in the policy, and the release publishes nodes of one",
    ),
    "rows, now persons": (
        {"person": "id"},
        "person",
        "the number of the person is published as person_id by the policy",
    ),
    "values, now buckets": (
        {"algorithm": {"name": "lgb"}},
        "columns.disease",
        "the bucket of disease is published as disease_bucket by the policy",
    ),
    "text, now typed": (
        {"publish": {"cells": "typed"}},
        "publish.cells",
        "is typed in the policy, and the release has text cells",
    ),
}


@some(4)
@pytest.mark.parametrize("name", OTHER)
def test_a_release_of_other_columns_does_not_meet_the_policy(folder: Path, name: str) -> None:
    change, path, said = OTHER[name]
    other = edited(folder, **dict(change))
    with pytest.raises(GuaranteeError) as unmet:
        anonymizer.verify(other)
    assert unmet.value.exit_code == 1
    assert any(p.path == path and said in p.message for p in unmet.value.problems)
    assert all(p.hint and "run again" in p.hint for p in unmet.value.problems)
    database = folder / "source.duckdb"
    for attempt in (
        lambda: collect(other),
        lambda: collect(other, source=database),
        lambda: attack(other, database),
        lambda: export(other, folder / "out.csv"),
    ):
        with pytest.raises(PolicyError, match=r"in the policy|the policy does not|by the policy"):
            attempt()
    assert not (folder / "out.csv").exists()


SAME: dict[str, dict[str, Any]] = {
    "as it was": {},
    "a smaller k": {"k": 2},
    "another algorithm of the same columns": {"algorithm": {"name": "mondrian", "split": "median"}},
    "no word on a column that was dropped": {"columns": {"cost": None}},
    "dropped instead of an identifier": {"columns": {"id": "drop"}},
}


@some(2)
@pytest.mark.parametrize("name", SAME)
def test_another_policy_of_the_same_columns_is_not_the_one_of_the_release(
    folder: Path, name: str
) -> None:
    other = edited(folder, **dict(SAME[name]))
    if name == "as it was":
        assert anonymizer.verify(other).passed
        assert collect(other).verification.passed
        return
    for look in (anonymizer.verify, collect):
        with pytest.raises(GuaranteeError, match="policy: is not the one") as told:
            look(other)
        judged = "the guarantees that it asks for hold in the release" in str(told.value)
        assert judged == (look is anonymizer.verify)


def test_a_raised_k_is_judged(folder: Path) -> None:
    failed = anonymizer.verify(edited(folder, k=40)).failed
    assert {check.name for check in failed} >= {"k_anonymity"}


def test_an_earlier_release_of_other_columns_is_refused(folder: Path, tmp_path: Path) -> None:
    database = folder / "source.duckdb"
    run(policy(tmp_path, {**COLUMNS, "cost": "quasi"}, k=3), database)
    with pytest.raises(PolicyError, match="publishes cost as quasi, and the policy does not"):
        attack(edited(folder), database, earlier=tmp_path / "release.duckdb")
