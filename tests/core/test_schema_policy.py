"""Policies of several tables: the example, defaults, what follows from links, digest, schema."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

import anonymizer
from anonymizer.errors import PolicyError
from anonymizer.policy import Policy, SchemaPolicy, load_policy
from anonymizer.policy.checks.schema import clashes, column_names
from tests.core.several_tables import SEVERAL
from tests.core.test_policy_broken import BASES, TABLES, cases, edited, problems_of

SMALL = """
version: 1
source: {table: visits}
columns: {age: {role: quasi}}
privacy: {k_anonymity: 2}
"""


def several(changes: dict[str, Any] | None = None, *drop: str) -> SchemaPolicy:
    return SchemaPolicy.model_validate(edited(TABLES, changes or {}, list(drop)))


def test_example() -> None:
    policy: object = Policy.loads(SEVERAL, base="/policies")
    assert isinstance(policy, SchemaPolicy)
    assert policy.person == "patients"
    assert policy.persons.key == "patient_id"
    assert policy.persons.quasi == ("birth_date", "sex", "zip")
    assert policy.children == ("visits", "labs")
    assert policy.way("labs") == (("visit_id", "visits"), ("patient_id", "patients"))
    assert policy.way("patients") == ()
    assert policy.events == (("visits", "day"), ("visits", "ward"), ("labs", "test"))
    assert policy.sensitive == (("patients", "died"), ("visits", "diagnosis"))
    assert policy.tables["visits"].keys == ("visit_id", "patient_id")
    assert policy.tables["visits"].protected == ("diagnosis",)
    assert policy.tables["visits"].columns["diagnosis"].protect.eir_l == 3  # type: ignore[union-attr]
    assert policy.tables["labs"].key is None
    assert policy.tables["labs"].kept == ("value",)
    assert policy.privacy.knows.events == 1
    assert policy.privacy.guarantees == ("k_anonymity",)
    assert policy.publish.schema_ == "published"
    assert policy.base == Path("/policies")
    assert policy.resolve("tests.csv") == Path("/policies/tests.csv")


def test_defaults() -> None:
    policy = several({}, "privacy.knows", "publish.schema", "suppression_limit")
    assert policy.privacy.knows.events == 0
    assert policy.privacy.knows.rows is policy.privacy.knows.sensitive is False
    assert not policy.privacy.knows.anything
    assert policy.engine == "duckdb"
    assert policy.algorithm.name == "mondrian"
    assert policy.weight.events == 1
    assert policy.suppression_limit == 0
    assert policy.publish.cells == "text"
    assert policy.publish.schema_ == "main"
    assert policy.tables["labs"].orphans == "error"
    assert policy.ledger is policy.preset is None


def test_children_stand_behind_their_parents() -> None:
    tables = {name: TABLES["tables"][name] for name in ("labs", "visits", "patients")}
    assert several({"tables": tables}).children == ("visits", "labs")


def test_names_of_views() -> None:
    policy = several({"publish.prefix": "a_", "publish.names": {"visits": "encounters"}})
    views = [policy.view(table) for table in policy.tables]
    assert views == ["a_patients", "a_encounters", "a_labs"]


@pytest.mark.parametrize(
    "read",
    [
        Policy.load,
        SchemaPolicy.load,
        load_policy,
        lambda path: Policy.loads(path.read_text()),
        lambda path: Policy.model_validate(copy.deepcopy(TABLES)),
        lambda path: Policy.model_validate_json(json.dumps(TABLES)),
        lambda path: Policy(**TABLES),
        lambda path: anonymizer.SchemaPolicy.model_validate(TABLES),
    ],
)
def test_every_way_of_reading_gives_one_policy(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "policy.yml"
    path.write_text(SEVERAL)
    policy = read(path)
    assert isinstance(policy, SchemaPolicy)
    assert policy.to_dict() == several().to_dict()


def test_a_single_table_stays_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "policy.yml"
    path.write_text(SMALL)
    assert type(load_policy(path)) is type(Policy.loads(SMALL)) is Policy
    with pytest.raises(PolicyError, match="tables: is missing"):
        SchemaPolicy.loads(SMALL)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"privacy.knows": {"events": 3, "rows": True}},
        {"privacy.eir_l": 3, "privacy.ir_alpha_beta": {"alpha": 0.5, "beta": 0.5}},
        {"publish.cells": "typed", "publish.names": {"labs": "Tests"}, "weight": {"events": 0.5}},
        {"tables.visits.orphans": "drop", "algorithm": {"name": "mondrian", "split": "median"}},
        {"tables.visits.source": {"file": "v.parquet"}, "preset": "external"},
    ],
)
def test_round_trip(changes: dict[str, Any]) -> None:
    policy = several(changes)
    again = SchemaPolicy.model_validate(policy.to_dict())
    assert again == policy
    assert again.digest() == policy.digest()
    assert again.to_dict() == policy.to_dict()
    assert hash(again) == hash(policy)
    assert id(Policy.model_validate(policy)) == id(policy)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy
    assert json.loads(json.dumps(policy.to_dict())) == policy.to_dict()


def test_digest() -> None:
    whole = several().digest()
    assert whole == "5a802026494af6878d35c549195969d046d67a2251b9022b8cb883e6bed4ae22"
    assert Policy.loads(SEVERAL, base="/elsewhere").digest() == whole
    assert several({"weight": {"events": 1}, "engine": "duckdb"}).digest() == whole
    place = "tables.labs.columns.test.hierarchy.file"
    assert several({place: "/here/tests.csv"}).digest() == whole
    assert several({place: "other.csv"}).digest() != whole
    swapped = {name: TABLES["tables"][name] for name in ("patients", "labs", "visits")}
    assert several({"tables": swapped}).digest() != whole
    columns = TABLES["tables"]["visits"]["columns"]
    turned = dict(reversed(columns.items()))
    assert several({"tables.visits.columns": turned}).digest() != whole
    for changes in (
        {"privacy.knows.events": 2},
        {"tables.visits.orphans": "drop"},
        {"publish.prefix": "a_"},
        {"tables.visits.columns.diagnosis.protect.eir_l": 4},
    ):
        assert several(changes).digest() != whole
    files = [several({"tables.labs.source": {"file": f"{at}/l.csv"}}) for at in ("/a", "/b")]
    assert files[0].digest() == files[1].digest()


@pytest.mark.parametrize(("preset", "k", "least"), [("internal", 5, 2), ("external", 11, 3)])
def test_presets(preset: str, k: int, least: int) -> None:
    bare = ("privacy.k_anonymity", "suppression_limit", "tables.visits.columns.diagnosis.protect")
    policy = several({"preset": preset}, *bare)
    assert policy.privacy.k_anonymity == k
    assert policy.privacy.knows.events == 1
    assert policy.suppression_limit == 0.05
    filled, stated = policy.tables["visits"].columns["diagnosis"], policy.persons.columns["died"]
    assert filled.protect is not None
    assert filled.protect.l_diversity == least
    assert stated.protect is not None
    assert stated.protect.l_diversity == 2
    text = json.dumps(edited(TABLES, {}, list(bare)))
    assert Policy.loads(text, preset=preset).to_dict() == policy.to_dict()


def test_all_at_once() -> None:
    changes = {
        "engine": "oracle",
        "republish": {"m": 7731},
        "tables.patients.columns.sex.role": "quazi",
        "tables.visits.links": {"patient_id": "nowhere"},
        "tables.visits.columns.day.sensitive_when": "x7731",
        "tables.labs.key": "nothing",
        "tables.labs.orphans": "maybe",
        "tables.wards": {"source": {"table": "w"}, "columns": {"ward": {"protect": {"alpha": 1}}}},
        "privacy.knows.events": 4,
        "publish.names": {"nobody": "x"},
    }
    paths = [problem.path for problem in problems_of(edited(TABLES, changes, []))]
    assert sorted(paths) == [
        "engine",
        "privacy.knows.events",
        "publish.names.nobody",
        "republish.m",
        "tables.labs.orphans",
        "tables.patients.columns.sex.role",
        "tables.visits.columns.day.sensitive_when",
        "tables.visits.links.patient_id",
        "tables.wards.columns.ward.role",
        "tables.wards.links",
    ]


def test_contradictions_are_found_beside_each_other() -> None:
    changes = {
        "person": "nobody",
        "tables.visits.columns.patient_id.role": "event",
        "tables.labs.key": "nothing",
        "privacy.k_map": {"k": 2, "population": "p"},
    }
    paths = [problem.path for problem in problems_of(edited(TABLES, changes, []))]
    assert sorted(paths) == [
        "person",
        "privacy.k_map",
        "tables.labs.key",
        "tables.visits.columns.patient_id.role",
    ]


def places(given: dict[str, Any], at: str = "") -> Iterator[str]:
    """Every place in a policy, as a dotted path."""
    for key, value in given.items():
        yield f"{at}{key}"
        if isinstance(value, dict):
            yield from places(value, f"{at}{key}.")


PLACES = sorted(
    {*places(TABLES), *places(several().to_dict()), "privacy.eir_l", "publish.names.labs"}
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 5), st.floats(), st.text(max_size=3),
    st.sampled_from(["patients", "visits", "labs", "visit_id", "key", "event", "quasi"]),
)  # fmt: skip
MAPPINGS = st.dictionaries(SCALARS, SCALARS, max_size=2)
VALUES = st.one_of(
    SCALARS, MAPPINGS, st.lists(SCALARS, max_size=2), st.dictionaries(SCALARS, MAPPINGS, max_size=2)
)
GONE = object()


@hypothesis.settings(max_examples=150, deadline=None, database=None)
@hypothesis.given(
    st.dictionaries(st.sampled_from(PLACES), st.one_of(VALUES, st.just(GONE)), max_size=5)
)
def test_reading_is_total(changes: dict[str, Any]) -> None:
    """Whatever stands where: a policy that reads as itself, or problems. No other exception."""
    given = copy.deepcopy(TABLES)
    for path, value in changes.items():
        *above, last = path.split(".")
        here: Any = given
        for step in above:
            here = here.get(step) if isinstance(here, dict) else None
        if isinstance(here, dict):
            here[last] = value
            if value is GONE:
                del here[last]
    try:
        policy = Policy.model_validate(given)
    except PolicyError:
        return
    assert Policy.model_validate(policy.to_dict()) == policy
    if isinstance(policy, SchemaPolicy):
        assert {policy.person, *policy.children} == set(policy.tables)


def test_typed_names_follow_the_kinds_of_the_source() -> None:
    changes = {"publish.cells": "typed", "tables.visits.columns.day_lo": {"role": "keep"}}
    policy = several({**changes, "tables.visits.columns.day.hierarchy": {"file": "d.csv"}})
    kinds = {"visits": {"day": "date", "ward": "categorical"}}
    (problem,) = clashes(policy, kinds)
    assert problem.path == "tables.visits.columns.day_lo"
    assert [one.name for one in column_names(several(), "visits")] == [
        "visit_id", "patient_id", "day", "ward", "diagnosis",
    ]  # fmt: skip
    assert [one.name for one in column_names(policy, "visits", kinds["visits"])] == [
        "visit_id", "patient_id", "day_lo", "day_hi", "day_nullable", "ward", "ward_nullable",
        "diagnosis", "day_lo",
    ]  # fmt: skip
    assert next(column_names(policy, "patients")).name == "class_id"


def test_verbs_of_one_table() -> None:
    of_one = Policy.loads(SMALL)
    assert of_one.one_table("plan --lattice") is of_one
    with pytest.raises(PolicyError) as raised:
        several().one_table("plan --lattice")
    assert raised.value.exit_code == 2
    (problem,) = raised.value.problems
    assert problem.path == "tables"
    assert problem.message == "are several, and `plan --lattice` works on policies of one table"


jsonschema: Any = pytest.importorskip("jsonschema")
EITHER = jsonschema.Draft202012Validator(Policy.json_schema())
TABLES_ONLY = jsonschema.Draft202012Validator(SchemaPolicy.json_schema())


def as_json(given: Any) -> Any:
    return json.loads(json.dumps(given))


def test_json_schema_accepts_what_is_read() -> None:
    jsonschema.Draft202012Validator.check_schema(SchemaPolicy.json_schema())
    for given in (TABLES, several().to_dict(), several({"preset": "internal"}).to_dict()):
        EITHER.validate(as_json(given))
        TABLES_ONLY.validate(as_json(given))
    of_one = Policy.loads(SMALL).to_dict()
    EITHER.validate(as_json(of_one))
    assert not TABLES_ONLY.is_valid(as_json(of_one))


OF_FORM = (
    "events 4", "events text", "knows as a number", "person missing", "links list", "tables list",
    "tables null", "table as text", "table without columns", "table of two sources",
    "option of a table", "orphans kept", "role of a table's column", "role of a single table",
    "lifted to something", "eir_l of one", "eir_l of a single table", "levels of a table",
    "condition in a table", "priority in a table", "k_map of tables", "level_l of tables",
    "source beside tables", "key beside tables", "columns beside tables",
    "republish beside tables", "workload beside tables", "merging beside tables",
    "tables beside a single one", "tables mistyped", "publish name", "publish rename",
    "publish in place", "publish grant", "weight zero", "weight of a single table",
    "engine of tables", "algorithm of tables", "algorithm without name of tables",
    "option of msb in tables",
)  # fmt: skip


CASES = {one.id: one.values[0] for one in cases()}


@pytest.mark.parametrize("name", OF_FORM)
def test_json_schema_refuses_what_is_no_form(name: str) -> None:
    case = CASES[name]
    given = edited(BASES[case.get("base", "plain")], case.get("set", {}), case.get("drop", []))
    assert not EITHER.is_valid(as_json(given))


@pytest.mark.parametrize(
    "place", ["", "tables.visits.", "tables.visits.columns.day.", "privacy.", "privacy.knows.",
              "publish.", "weight.", "tables.visits.columns.diagnosis.protect."],
)  # fmt: skip
def test_unknown_keys_are_refused_everywhere(place: str) -> None:
    given = edited(TABLES, {f"{place}zzzzzz": 1}, [])
    assert not EITHER.is_valid(as_json(given))
    (problem,) = problems_of(given)
    assert problem.path == f"{place}zzzzzz"
    assert problem.message == "is not an option"
    refused = {"workload", "rename", "level_l", "k_map", "sensitive_when", "levels", "source,"}
    listed = f"{problem.allowed},".split(", ")
    assert not refused.intersection(listed) - ({"source,"} if place == "tables.visits." else set())
