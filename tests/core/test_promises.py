"""What a policy promises is read from its fields; a check that is missing is found by name."""

from __future__ import annotations

from typing import Any

import pytest

from anonymizer.contract.checks import Check, NotChecked, verification
from anonymizer.errors import GuaranteeError
from anonymizer.guarantees import requirements
from anonymizer.guarantees.requirements import (
    BY_SOURCE,
    missing_checks,
    promises_of,
    requirements_of,
)
from anonymizer.policy import Policy
from anonymizer.policy.columns import MASKS
from anonymizer.release.judge import refuse_unanswered
from anonymizer.verification.source_comparison import AGAINST


def policy(protect: dict[str, Any] | None, **more: Any) -> Policy:
    columns: dict[str, Any] = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}
    if protect is not None:
        columns["ill"]["protect"] = protect
    return Policy.model_validate(
        {"version": 1, "source": {"table": "main.t"}, "columns": columns} | more
    )


EVERYTHING = policy(
    {
        "l_diversity": 3,
        "entropy_l": 2.5,
        "recursive_cl": {"c": 4, "l": 3},
        "t_closeness": 0.2,
        "alpha": 0.5,
        "beta_likeness": 2,
        "delta_disclosure": 1.5,
    },
    person="who",
    columns={
        "who": {"role": "drop"},
        "age": {"role": "quasi"},
        "ill": {"role": "sensitive", "protect": {"alpha": 0.5, "l_diversity": 3}},
        "job": {"role": "sensitive"},
    },
    privacy={
        "k_anonymity": 5,
        "alpha_k": {"alpha": 0.4, "k": 7},
        "ir_k": 3,
        "ir_kl": {"k": 2, "l": 4},
        "ir_alpha_beta": {"alpha": 0.3, "beta": 0.6},
        "eir_l": 3,
        "eir_alpha_beta": {"alpha": 0.2, "beta": 0.7},
        "k_map": {"k": 9, "population": "main.people"},
        "delta_presence": {"min": 0.1, "max": 0.5, "population": "main.people"},
    },
)
LEVELS = policy(
    {"levels": {0: ["flu"], 1: ["hiv"]}, "default_level": 1},
    algorithm={"name": "msb", "generalize": {"k": 3}},
    privacy={"level_l": {0: 1, 1: 2}},
)
BUCKETS = policy({"l_diversity": 2}, algorithm={"name": "lgb"}, privacy={"k_anonymity": 3})
SHARES = policy(
    {"alpha": 0.5},
    algorithm={"name": "lgb"},
    privacy={"k_anonymity": 3, "alpha_k": {"alpha": 0.4, "k": 3}},
)
SIGNATURES = policy(
    None,
    privacy={"k_anonymity": 3},
    republish={"m": 2},
    ledger="ledger.duckdb",
    person="who",
    columns={
        "who": {"role": "drop"},
        "age": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    },
)
POLICIES = [EVERYTHING, LEVELS, BUCKETS, SHARES, SIGNATURES]


def check(name: str, column: str | None) -> Check:
    return Check(name, column, 1, 1, True, "")


@pytest.mark.parametrize("given", POLICIES)
def test_requirements_and_promises_are_the_same(given: Policy) -> None:
    required = {(item.name, item.column) for item in requirements_of(given)}
    assert {one for promise in promises_of(given) for one in promise.checks} == required


@pytest.mark.parametrize("given", POLICIES)
def test_each_check_that_is_missing_is_found(given: Policy) -> None:
    required = {(item.name, item.column) for item in requirements_of(given)}
    refuse_unanswered(given, verification(tuple(check(*one) for one in required)))
    for missing in required:
        left = verification(tuple(check(*one) for one in required - {missing}))
        assert any(missing[0] in names for _, names in missing_checks(given, left))
        with pytest.raises(GuaranteeError, match=missing[0]):
            refuse_unanswered(given, left)


@pytest.mark.parametrize("path", ["privacy.k_anonymity", "columns.ill.protect.l_diversity"])
def test_a_field_that_no_guarantee_handles_is_never_met(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = policy({"l_diversity": 2}, privacy={"k_anonymity": 3})
    others = [one for one in requirements.GUARANTEES if not path.endswith(one.field)]
    monkeypatch.setattr(requirements, "GUARANTEES", others)
    made = [check(one.name, column) for one in others for column in (None, "ill")]
    assert [at for at, _ in missing_checks(given, verification(tuple(made)))] == [path]


def test_a_group_alone_decides_no_rule_about_the_whole_table() -> None:
    relative = {"t_closeness": 0.2, "beta_likeness": 2, "delta_disclosure": 1.5}
    given = policy({"l_diversity": 3, "alpha": 0.5, **relative})
    judged, beyond = requirements.rules_of_any("ill", given.columns["ill"])
    assert {rule.name for rule in judged} == {"distinct_l", "alpha"}
    assert {*beyond} == {*relative}


def test_what_could_not_be_judged_is_listed_and_thereby_answered() -> None:
    given = policy(None, privacy={"k_map": {"k": 3, "population": "main.people"}})
    assert list(missing_checks(given, verification((check("class_cells", None),))))
    left = (NotChecked("k_map", "needs the population"),)
    assert not list(missing_checks(given, verification((check("class_cells", None),), left)))


def test_the_same_guarantee_elsewhere_answers_nothing() -> None:
    given = policy({"alpha": 0.5}, privacy={"k_anonymity": 3, "alpha_k": {"alpha": 0.4, "k": 3}})
    found = verification((check("alpha", "ill"), check("k_anonymity", None)))
    assert list(missing_checks(given, found)) == [("privacy.alpha_k", "alpha_k")]


def test_every_mask_that_keeps_something_has_checks_against_the_source() -> None:
    assert BY_SOURCE.keys() == AGAINST.keys() == set(MASKS) - {"null", "constant"}
