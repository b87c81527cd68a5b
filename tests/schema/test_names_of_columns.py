"""Published columns may have the names that statements of the verification use themselves."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer import Policy, SchemaPolicy
from anonymizer.errors import PolicyError
from anonymizer.release.published import Release
from tests.forging import seal_again
from tests.runs import THRIFTY
from tests.schema import hospital
from tests.selection import some

OF_STATEMENTS = ("person", "GRP", "own", "shown1")


def renamed(folder: Path, event: str, sensitive: str) -> SchemaPolicy:
    """The hospital, whose wards and diagnoses are called otherwise."""
    made = hospital.policy(folder).to_dict()
    visits = made["tables"]["visits"]
    visits["source"] = {
        "query": f'select visit_id, patient_id, day, ward as "{event}",'
        f' diagnosis as "{sensitive}", cost from visits'
    }
    columns = visits["columns"]
    columns[event] = columns.pop("ward")
    columns[sensitive] = columns.pop("diagnosis") | {"protect": {"l_diversity": 2}}
    made["privacy"]["knows"] = {"events": 1, "sensitive": True}
    return Policy.model_validate(made, context={"base": folder})  # type: ignore[return-value]


def released(folder: Path, event: str, sensitive: str) -> tuple[SchemaPolicy, Release]:
    folder.mkdir()
    of = renamed(folder, event, sensitive)
    source = hospital.write(folder / "source.duckdb")
    return of, anonymizer.run(of, source, seed=3, limits=THRIFTY)


@pytest.mark.slow
@some(2)
@pytest.mark.parametrize("name", OF_STATEMENTS)
@pytest.mark.parametrize("role", ["event", "sensitive"])
def test_the_figures_do_not_depend_on_a_name(name: str, role: str, tmp_path: Path) -> None:
    names = ("ward", name) if role == "sensitive" else (name, "diagnosis")
    found = []
    for place, (event, sensitive) in enumerate([("ward", "diagnosis"), names]):
        of, release = released(tmp_path / str(place), event, sensitive)
        base = tmp_path / str(place)
        again = anonymizer.verify(of, base / "release.duckdb").checks
        tried = anonymizer.attack(of, base / "source.duckdb", release=base / "release.duckdb")
        figures = [(one.name, one.achieved) for one in (*release.verification.checks, *again)]
        found.append((figures, tried.as_dict()["observers"]))
    assert found[0] == found[1]


FORGED = {
    "known_events": (("GRP", "diagnosis"), "update visits set grp = 'ward ' || visit_id"),
    "distinct_l": (("ward", "person"), "update visits set person = 'A0'"),
}
"""A class had one `grp`, so that all events seemed alike, and every person an own `person`."""


@some(1)
@pytest.mark.parametrize("check", FORGED)
def test_a_forged_column_of_such_a_name_is_seen(check: str, tmp_path: Path) -> None:
    names, statement = FORGED[check]
    of, _ = released(tmp_path / "release", *names)
    file = tmp_path / "release" / "release.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(statement)
    seal_again(file, "patients")
    assert check in [one.name for one in anonymizer.verify(of, file).failed]


@pytest.mark.parametrize("name", ["anonymizer:class", "Anonymizer:Person", "anonymizer:set"])
def test_names_beside_published_columns_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="a name of the tool's own") as raised:
        renamed(tmp_path, "ward", name)
    assert [one.path for one in raised.value.problems] == [f'tables.visits.columns."{name}"']
    single = {
        "version": 1,
        "source": {"table": "t"},
        "columns": {"age": {"role": "quasi"}, name: {"role": "keep"}},
        "privacy": {"k_anonymity": 2},
    }
    with pytest.raises(PolicyError, match="a name of the tool's own") as raised:
        Policy.model_validate(single)
    assert [one.path for one in raised.value.problems] == [f'columns."{name}"']
