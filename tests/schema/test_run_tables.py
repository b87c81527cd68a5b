"""Releases of several tables: run, verified by recipients, and judged again in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.errors import GuaranteeError, NothingToCheckError
from tests.schema import hospital, judged
from tests.selection import few, some

LABS = "tables.labs.columns"
VISITS = "tables.visits.columns"
UNPROTECTED = {f"{VISITS}.diagnosis": {"role": "drop"}}
NO_EVENTS = {f"{VISITS}.day": {"role": "drop"}, f"{VISITS}.ward": {"role": "drop"}}

KINDS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    # two event columns in visits, one in labs, which hang on visits
    "as given": ({}, ()),
    "typed cells": ({"publish.cells": "typed"}, ()),
    "two known rows": ({"privacy.knows.events": 2, **UNPROTECTED}, ()),
    "linked to a table without events": (NO_EVENTS, ()),
    "numbers of rows alone": (
        {**NO_EVENTS, "privacy.knows": {"rows": True}, f"{LABS}.test": {"role": "drop"}},
        (),
    ),
    "no keys, other names": (
        {
            f"{VISITS}.visit_id": {"role": "drop"},
            "tables.labs.source": {
                "query": "select patient_id, test, value from labs join visits using (visit_id)"
            },
            "tables.labs.links": {"patient_id": "patients"},
            f"{LABS}.patient_id": {"role": "key"},
            "publish.schema": "published",
            "publish.prefix": "a-",
            "publish.names": {"visits": 'encoun"ters'},
        },
        ("tables.visits.key", f"{LABS}.visit_id"),
    ),
    "numbers of rows": ({"privacy.knows": {"events": 1, "rows": True}}, ()),
    "nothing known": ({"privacy.knows": {"events": 0}}, ()),
    "the last table alone has events": (
        {**NO_EVENTS, f"{LABS}.value": {"role": "event"}, "privacy.knows.events": 2},
        (),
    ),
    "one table": ({}, ("tables.visits", "tables.labs", "privacy.knows")),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hospital.write(tmp_path_factory.mktemp("source") / "source.duckdb")


@some(0, 6)
@pytest.mark.parametrize("kind", few(KINDS, 6))
def test_run(kind: str, source: Path, tmp_path: Path) -> None:
    changes, drop = KINDS[kind]
    policy = hospital.policy(tmp_path, changes, *drop)
    release = hospital.run(policy, source)
    file = tmp_path / "release.duckdb"
    found = judged.holds(policy, file)
    assert len(found.rows["patients"]) == hospital.PERSONS
    recipient, owner = anonymizer.verify(None, file), anonymizer.verify(policy)
    assert recipient.passed
    assert recipient.origin == "unknown"
    assert owner.passed
    assert owner.origin == "policy"
    again = judged.names(owner.checks)
    assert again == judged.names(recipient.checks)
    # besides what needs the source, a recipient judges all that the run judged
    run = {one for one in judged.names(release.verification.checks) if "source" not in one[0]}
    assert run == again
    assert anonymizer.verify(policy, plain=True).checks == owner.checks
    stated = release.manifest.data["measures"]["tables"]
    assert {name: len(found.rows[name]) for name in policy.children} == {
        name: one["rows"] for name, one in stated.items()
    }
    whole = hospital.tables()
    for name, one in stated.items():
        assert one["rows"] + one["suppressed"] == len(whole[name])


@pytest.fixture(scope="module")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a release of the policy as it is given."""
    folder = tmp_path_factory.mktemp("release")
    hospital.run(hospital.policy(folder), source)
    return folder


OTHERS: dict[str, tuple[dict[str, Any], tuple[str, ...], str]] = {
    "lower k": ({"privacy.k_anonymity": 2}, (), "policy: is not the one"),
    "no rule": (
        {f"{VISITS}.diagnosis": {"role": "sensitive"}},
        (),
        "policy: is not the one",
    ),
    "another kind": ({f"{VISITS}.ward.kind": "categorical"}, (), "policy: is not the one"),
    "an event that is dropped": ({f"{VISITS}.ward.role": "drop"}, (), f"{VISITS}.ward: has"),
    "a kept column that is not": ({f"{LABS}.value.role": "drop"}, (), f"{LABS}.value: has"),
    "a dropped column that is kept": ({f"{VISITS}.cost.role": "keep"}, (), f"{VISITS}.cost: has"),
    "a table more": (
        {
            "tables.drugs": {
                "source": {"table": "drugs"},
                "links": {"patient_id": "patients"},
                "columns": {"patient_id": {"role": "key"}, "drug": {"role": "event"}},
            }
        },
        (),
        "tables.drugs: is not in the release",
    ),
    "another name": (
        {"publish.names": {"visits": "encounters"}},
        (),
        "tables.visits: is published under another name",
    ),
    "other cells": ({"publish.cells": "typed"}, (), "publish.cells: is typed in the policy"),
}  # fmt: skip


@some(1, 4)
@pytest.mark.parametrize("name", OTHERS)
def test_verify_with_another_policy(made: Path, name: str) -> None:
    changes, drop, says = OTHERS[name]
    with pytest.raises((GuaranteeError, NothingToCheckError)) as told:
        anonymizer.verify(hospital.policy(made, changes, *drop))
    assert says in str(told.value)


STRONGER: dict[str, tuple[dict[str, Any], set[tuple[str, str | None]]]] = {
    "k": (
        {"privacy.k_anonymity": 20},
        {("k_anonymity", None), ("k_anonymity_tuples", None), ("known_events", None)},
    ),
    "events": ({"privacy.knows.events": 2}, {("known_events", None)}),
    "rows": ({"privacy.knows.rows": True}, {("known_rows", None)}),
    "l": (
        {f"{VISITS}.diagnosis.protect.l_diversity": 11},
        {("distinct_l", "visits.diagnosis")},
    ),
    "eir_l": (
        {f"{VISITS}.diagnosis.protect.eir_l": 11},
        {("eir_l", "visits.diagnosis")},
    ),
    "ir_k": ({"privacy.ir_k": 20}, {("ir_k", None), ("ir_k_tuples", None)}),
}


@some(2)
@pytest.mark.parametrize("name", STRONGER)
def test_verify_with_a_stronger_policy(made: Path, name: str) -> None:
    """It is judged as asked, and does not pass."""
    changes, failing = STRONGER[name]
    found = anonymizer.verify(hospital.policy(made, changes))
    assert not found.passed
    assert {(check.name, check.column) for check in found.failed} == failing


@pytest.mark.slow
def test_events_of_which_nothing_is_to_be_known_are_told(source: Path, tmp_path: Path) -> None:
    """By default no row is known, and then the event columns are published as they are."""
    asked = hospital.policy(tmp_path, {"privacy.knows": {}})
    (told,) = [one for one in hospital.run(asked, source).warnings if "knows.events" in one]
    assert "visits.day" in told
    assert "are published as they are" in told
    anonymizer.report(asked, tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text()
    assert "published as it is: nobody is to know a row" in text
    assert "raised, class by class" not in text
    known = hospital.policy(tmp_path)
    assert not any("knows.events" in one for one in hospital.run(known, source).warnings)
