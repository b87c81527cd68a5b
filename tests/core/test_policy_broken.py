"""Broken policies: each ends in one `PolicyError` that names the place, says how to go on, and
repeats no value."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy
from tests.core.several_tables import SEVERAL

CASES = Path(__file__).parent / "broken_policies"
MARKER = "7731"

PLAIN: dict[str, Any] = {
    "version": 1,
    "source": {"table": "main.visits"},
    "columns": {
        "patient_id": {"role": "drop"},
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"builder": "cardinality"}},
        "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"builder": "prefix"}},
        "since": {"role": "quasi", "kind": "date", "hierarchy": {"builder": "date"}},
        "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
        "weight": {"role": "keep"},
    },
    "privacy": {"k_anonymity": 5},
    "algorithm": {"name": "mondrian"},
    "publish": {"name": "visits_anonymous", "database": "release.duckdb"},
}


def edited(base: dict[str, Any], changes: dict[str, Any], dropped: list[str]) -> dict[str, Any]:
    policy = copy.deepcopy(base)
    for path, value in changes.items():
        within, last = parent(policy, path)
        within[last] = copy.deepcopy(value)
    for path in dropped:
        within, last = parent(policy, path)
        del within[last]
    return policy


def parent(policy: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    *above, last = path.split(".")
    for step in above:
        policy = policy.setdefault(step, {})
    return policy, last


LGB = edited(
    PLAIN,
    {
        "algorithm": {"name": "lgb"},
        "columns.hide_zip": {"role": "drop"},
        "columns.zip.sensitive_when": "hide_zip",
        "columns.zip.protect": {"l_diversity": 3},
    },
    [],
)
ANATOMY = edited(
    PLAIN,
    {
        "algorithm": {"name": "msb"},
        "columns.job": {"role": "sensitive", "protect": {"l_diversity": 3}},
    },
    ["privacy", "columns.zip", "columns.since"],
)
MSB = edited(
    ANATOMY,
    {
        "privacy": {"level_l": {0: 1, 1: 2, 2: 3}},
        "columns.disease.protect": {"levels": {2: ["HIV"], 0: ["Flu"]}, "default_level": 1},
        "columns.job.protect": {"levels": {1: ["Sales"]}, "default_level": 0},
    },
    [],
)
FROST = edited(PLAIN, {"algorithm": {"name": "privacyfrost"}, "columns.age.priority": 10}, [])
TABLES = YAML(typ="safe", pure=True).load(SEVERAL)
BASES = {
    "plain": PLAIN,
    "lgb": LGB,
    "msb": MSB,
    "anatomy": ANATOMY,
    "frost": FROST,
    "tables": TABLES,
}


@cache
def cases() -> list[Any]:
    reader = YAML(typ="safe", pure=True)
    listed = [case for file in sorted(CASES.glob("*.yml")) for case in reader.load(file)]
    return [pytest.param(case, id=case["id"]) for case in listed]


def problems_of(given: Any) -> tuple[Problem, ...]:
    with pytest.raises(PolicyError) as raised:
        Policy.model_validate(given)
    assert raised.value.exit_code == 2
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None, "the context could carry the input"
    return raised.value.problems


@pytest.mark.parametrize("base", BASES)
def test_bases_are_good(base: str) -> None:
    assert Policy.model_validate(BASES[base]).version == 1


def test_corpus_is_large() -> None:
    ids = [case.id for case in cases()]
    assert len(ids) >= 200
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("case", cases())
def test_broken_policy(case: dict[str, Any]) -> None:
    known = {"id", "base", "set", "drop", "at", "says", "allowed", "hint"}
    assert set(case) <= known
    given = edited(BASES[case.get("base", "plain")], case.get("set", {}), case.get("drop", []))
    before = copy.deepcopy(given)
    problems = problems_of(given)
    assert str(given) == str(before), "validation changed its input"
    expected = case["at"] if isinstance(case["at"], list) else [case["at"]]
    assert sorted(problem.path for problem in problems) == sorted(expected)
    text = "\n".join(map(str, problems))
    assert MARKER not in text, "a value of the input is echoed"
    assert case.get("says", "") in text
    assert case.get("allowed", "") in " ".join(problem.allowed or "" for problem in problems)
    assert case.get("hint", "") in " ".join(problem.hint or "" for problem in problems)


def test_all_at_once() -> None:
    given = edited(
        PLAIN,
        {
            "engine": "oracle",
            "columns.age.role": "quazi",
            "columns.weight.protect": {"l_diversity": 2},
            "columns.class_id": {"role": "keep", "null_as_value": True},
            "algorithm.rebalance": True,
            "key": "nowhere",
            "republish": {"m": 3},
            "suppression_limit": 2,
        },
        [],
    )
    assert {problem.path for problem in problems_of(given)} == {
        "engine",
        "columns.age.role",
        "columns.weight.protect",
        "columns.class_id.null_as_value",
        "algorithm.rebalance",
        "republish",
        "suppression_limit",
    }, "what needs no broken part is still checked"


def test_one_mistake_is_told_once() -> None:
    given = edited(PLAIN, {"privacy.k_anonymity": "5"}, ["columns.disease.protect"])
    assert [problem.path for problem in problems_of(given)] == ["privacy.k_anonymity"]
    given = edited(LGB, {"columns.hide_zip.role": "dropp"}, [])
    assert [problem.path for problem in problems_of(given)] == ["columns.hide_zip.role"]


@pytest.mark.parametrize("given", [None, [], [1], "text", 7731, True, 1.5, object()])
def test_not_a_mapping(given: Any) -> None:
    (problem,) = problems_of(given)
    assert problem.path == "policy"
    assert problem.hint


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (1, "columns.1"),
        (True, "columns.true"),
        (None, "columns.null"),
        (1.5, 'columns."1.5"'),
        (("a", "b"), "columns.\"('a', 'b')\""),
        ("", 'columns.""'),
        ("  ", 'columns."  "'),
        ("a\0b", 'columns."a\\u0000b"'),
    ],
)
def test_column_names_that_are_none(name: Any, shown: str) -> None:
    given = copy.deepcopy(PLAIN)
    given["columns"][name] = {"role": "drop"}
    (problem,) = problems_of(given)
    assert problem.path == shown


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.b", 'columns."a.b".role'),
        ("Größe", "columns.Größe.role"),
        ("two words", 'columns."two words".role'),
        ('say "x"', 'columns."say \\"x\\"".role'),
        ("\x1b[31m", 'columns."\\u001b[31m".role'),
        ("[key]", 'columns."[key]".role'),
        ("x" * 500, f'columns."{"x" * 80}…".role'),
    ],
)
def test_odd_names_in_paths(name: str, shown: str) -> None:
    given = copy.deepcopy(PLAIN)
    given["columns"][name] = {"role": "quazi"}
    (problem,) = problems_of(given)
    assert problem.path == shown


@pytest.mark.parametrize(
    ("value", "said"), [(-0.5, "must be at least 0"), (200, "must be at most 1")]
)
def test_bounds_are_written_as_numbers_are_in_a_policy(value: float, said: str) -> None:
    with pytest.raises(PolicyError) as raised:
        Policy.model_validate({**PLAIN, "suppression_limit": value})
    assert str(raised.value) == f"suppression_limit: {said}"
