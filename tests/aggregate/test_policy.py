"""Policies of counts: their grammar, their errors, which are raised together, and their digest."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from anonymizer.errors import PolicyError
from anonymizer.policy import AggregatePolicy, Policy

GOOD = """
version: 1
source: {table: main.admissions}
person: patient_id
aggregate:
  by:
    region: {hierarchy: regions.csv}
    age: {bands: [0, 18, 65]}
    sex:
  measures:
    patients: {count: persons}
protect: {minimum: 10}
publish: {database: release.duckdb}
"""


def good() -> AggregatePolicy:
    made: Any = Policy.loads(GOOD)
    assert isinstance(made, AggregatePolicy)
    return made


def broken(changes: dict[str, Any]) -> dict[str, str]:
    """The messages of a policy with these changes, by path."""
    given = copy.deepcopy(good().to_dict())
    for path, value in changes.items():
        *above, last = path.split(".")
        within = given
        for step in above:
            within = within.setdefault(step, {})
        within[last] = value
    with pytest.raises(PolicyError) as raised:
        Policy.model_validate(given)
    assert raised.value.exit_code == 2
    return {problem.path: problem.message for problem in raised.value.problems}


def test_defaults() -> None:
    made = good()
    assert made.method == "rest"
    assert made.rest.limit == 0.05
    assert made.publish.name == "admissions_counts"
    assert made.release_kind == "anonymised"
    assert len(made.groupings((2, 1, 1))) == 3 * 2 * 2
    assert made.groupings((2, 1, 1))[0] == (0, 0, 0)


def test_round_trip() -> None:
    made = good()
    again: Any = Policy.loads(json.dumps(made.to_dict()))
    assert again == made
    assert Policy.model_validate(made.to_dict()).digest() == made.digest()
    short = Policy.loads(
        GOOD.replace("{hierarchy: regions.csv}", "{hierarchy: {file: regions.csv}}")
    )
    assert short.digest() == made.digest()


def test_the_order_of_columns_is_digested() -> None:
    """It breaks ties."""
    other = GOOD.replace("    sex:\n", "").replace("  by:\n", "  by:\n    sex:\n")
    assert Policy.loads(other).digest() != good().digest()


def test_a_list_of_columns() -> None:
    made: Any = Policy.model_validate(
        {
            **good().to_dict(),
            "aggregate": {"by": ["region", "sex"], "measures": {"patients": {"count": "persons"}}},
        }
    )
    assert list(made.by) == ["region", "sex"]


def test_the_schema_has_three_kinds() -> None:
    schema = Policy.json_schema()
    assert schema["if"] == {"required": ["tables"]}
    assert schema["else"]["if"] == {"required": ["aggregate"]}
    assert schema["else"]["then"] == {"$ref": "#/$defs/AggregatePolicy"}
    assert schema["else"]["else"] == {"$ref": "#/$defs/Policy"}


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "protect.minimum": ({"protect.minimum": 2}, "is below 3"),
    "aggregate.by.age.bands": (
        {"aggregate.by.age.bands": [[0, 18], [0, 19]]},
        "do not nest: 1 and 2",
    ),
    "aggregate.measures.sex": ({"aggregate.measures.sex": {"count": "persons"}}, "is the name of"),
    "aggregate.measures.s.sum": (
        {"aggregate.measures.s": {"sum": "age"}, "protect.dominance": {"p": 10}},
        "is a column of aggregate.by",
    ),
    "aggregate.measures.s": ({"aggregate.measures.s": {"sum": "cost"}}, "is a sum over persons"),
    "aggregate.measures.m": (
        {"aggregate.measures.m": {"median": "cost"}},
        "shows the values of single",
    ),
    "aggregate.measures.d.count": (
        {"aggregate.measures.d": {"count": "distinct cost"}},
        "of distinct values",
    ),
    "aggregate.measures.r.ratio": (
        {"aggregate.measures.r": {"ratio": ["cost", "patients"]}},
        "is of a measure that is not released",
    ),
    "aggregate.measures": (
        {"aggregate.measures": {"v": {"count": "rows"}}},
        "has no count of persons",
    ),
    "aggregate.margins.0": ({"aggregate.margins": [["regio"]]}, "names a column that is not"),
    "aggregate.zeros": ({"aggregate.zeros": "list"}, "would show which groups are left out"),
    "aggregate.by.sex.multiple": (
        {"aggregate.by.sex.multiple": True},
        "is not available with rest",
    ),
    "aggregate.by.patient_id": ({"aggregate.by.patient_id": {}}, "is the person"),
    "protect.insiders": ({"protect.insiders": True}, "is about sums"),
    "method": ({"method": "hide"}, "is not an allowed value"),
    "columns": ({"columns": {}}, "is for tables of rows"),
    "ledger": (
        {"ledger": "l.duckdb", "method": "round"},
        "does not compare releases of the method",
    ),
    "aggregate.measures.cost": (
        {
            "aggregate.measures.cost": {"sum": "cost"},
            "protect.dominance": {"p": 10},
            "ledger": "l.duckdb",
        },
        "is not compared by a ledger",
    ),
    "publish.rename": ({"publish.rename": {"a": "b"}}, "is for tables of rows"),
}


@pytest.mark.parametrize("path", CASES)
def test_errors(path: str) -> None:
    changes, says = CASES[path]
    found = broken(changes)
    assert path in found
    assert says in found[path]


def test_errors_are_raised_together() -> None:
    found = broken(
        {
            "protect.minimum": 2,
            "aggregate.zeros": "list",
            "aggregate.measures.r": {"ratio": ["a", "b"]},
            "ledger": "l.duckdb",
        }
    )
    assert {*found} == {
        "protect.minimum",
        "aggregate.zeros",
        "aggregate.measures.r",
        "aggregate.measures.r.ratio",
    }


def test_a_small_minimum_is_acknowledged() -> None:
    given = {**good().to_dict(), "protect": {"minimum": 2, "acknowledge": "small_minimum"}}
    made: Any = Policy.model_validate(given)
    assert made.minimum == 2


def test_seven_columns() -> None:
    found = broken({"aggregate.by": {f"c{i}": {} for i in range(7)}})
    assert "aggregate.by" in found


@pytest.mark.parametrize("verb", ["attack", "assess"])
def test_verbs_of_rows_refuse(verb: str) -> None:
    import anonymizer

    with pytest.raises(PolicyError, match="makes a table of counts"):
        getattr(anonymizer, verb)(good())
