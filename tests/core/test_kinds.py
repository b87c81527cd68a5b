"""The kind of a release: stated, or what follows from the policy; never called what it is not."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any, cast

import pytest

from anonymizer.errors import PolicyError
from anonymizer.policy import Policy, SchemaPolicy
from anonymizer.policy.kinds import (
    CLASSLESS,
    Stating,
    agrees,
    kind_of,
    kind_of_mapping,
    reasons_for_pseudonymised,
)
from tests.core.several_tables import SEVERAL

QUASI: dict[str, Any] = {
    "version": 1,
    "source": {"table": "main.visits"},
    "columns": {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}},
    "privacy": {"k_anonymity": 5},
}
NONE: dict[str, Any] = {
    "version": 1,
    "source": {"table": "main.visits"},
    "columns": {"age": {"role": "keep"}, "ill": {"role": "sensitive"}, "id": {"role": "drop"}},
    "algorithm": {"name": "none"},
}


def problems(given: dict[str, Any], **more: Any) -> dict[str, str]:
    with pytest.raises(PolicyError) as raised:
        Policy.model_validate({**copy.deepcopy(given), **more})
    return {problem.path: str(problem) for problem in raised.value.problems}


def test_the_kind_follows_from_the_policy() -> None:
    one, other = Policy.model_validate(QUASI), Policy.model_validate(NONE)
    assert (one.kind, one.release_kind) == (None, "anonymised")
    assert (other.kind, other.release_kind) == (None, "pseudonymised")
    stated = Policy.model_validate({**QUASI, "kind": "pseudonymised"})
    assert stated.release_kind == "pseudonymised"


def test_the_view_is_called_by_the_kind() -> None:
    names = {
        "visits_anonymous": QUASI,
        "visits_pseudonymised": NONE,
    }
    for name, given in names.items():
        assert Policy.model_validate(given).publish.name == name
    stated = Policy.model_validate({**QUASI, "kind": "pseudonymised"})
    assert stated.publish.name == "visits_pseudonymised"
    own = Policy.model_validate({**NONE, "publish": {"name": "mine"}})
    assert own.publish.name == "mine"


def test_a_kind_that_is_not_stated_leaves_the_digest() -> None:
    assert "kind" not in Policy.model_validate(QUASI).to_dict()
    digests = {
        Policy.model_validate({**QUASI, "publish": {"name": "v"}, **more}).digest()
        for more in ({}, {"kind": "anonymised"}, {"kind": "pseudonymised"})
    }
    assert len(digests) == 3


def test_none_is_never_called_anonymised() -> None:
    found = problems(NONE, kind="anonymised")
    assert list(found) == ["kind"]
    assert "algorithm: none protects no quasi-identifier" in found["kind"]
    assert "kind: pseudonymised, or another algorithm" in found["kind"]


def test_a_kind_that_there_is_not_is_refused() -> None:
    found = problems(QUASI, kind="public")
    assert "is not a kind of release (allowed: anonymised, pseudonymised)" in found["kind"]


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("columns.age.role", {"columns": {"age": {"role": "quasi"}, "ill": {"role": "keep"}}}),
        ("columns", {"columns": {"age": {"role": "drop"}, "ill": {"role": "identifier"}}}),
        ("privacy.k_anonymity", {"privacy": {"k_anonymity": 5}}),
        ("privacy.level_l", {"privacy": {"level_l": {0: 1, 1: 2}}}),
        (
            "columns.ill.protect",
            {"columns": {"ill": {"role": "sensitive", "protect": {"l_diversity": 2}}}},
        ),
        ("preset", {"preset": "internal"}),
        ("ledger", {"ledger": "private.duckdb"}),
        ("merge_person_rows", {"person": "id", "merge_person_rows": True}),
        ("republish", {"republish": {"append_only": True}, "key": "id", "ledger": "p.duckdb"}),
    ],
)
def test_none_refuses_what_it_cannot_keep(path: str, more: dict[str, Any]) -> None:
    found = problems(NONE, **more)
    assert path in found
    assert "hint:" in found[path] or "allowed:" in found[path]


@pytest.mark.parametrize("name", ["mondrian", "lgb", "full_domain", "privacyfrost", "msb"])
def test_every_other_algorithm_needs_a_guarantee(name: str) -> None:
    found = problems(NONE, algorithm={"name": name})
    assert "names no guarantee" in found["privacy"]


def test_several_tables_have_a_kind() -> None:
    assert SchemaPolicy.loads(SEVERAL).release_kind == "anonymised"
    stated = SchemaPolicy.loads(f"{SEVERAL}\nkind: pseudonymised\n")
    assert stated.release_kind == stated.lead.release_kind == "pseudonymised"


def told(kind: str | None, algorithm: str = "mondrian", **of: Any) -> Stating:
    """A policy with tokens, which no column can be while masks are not there."""
    return cast(
        "Stating", SimpleNamespace(kind=kind, algorithm=SimpleNamespace(name=algorithm), **of)
    )


TOKENS = {
    "mail": SimpleNamespace(role="token", key_file="key.pem", vault=None),
    "drawn": SimpleNamespace(role="token", key_file=None, vault=None),
    "kept": SimpleNamespace(role="keep", key_file="key.pem", vault=None),
}


def test_a_lasting_token_is_a_reason() -> None:
    said = "columns.mail: is a token that stays the same from release to release"
    assert list(reasons_for_pseudonymised(told(None, columns=TOKENS))) == [said]
    assert kind_of(told(None, columns=TOKENS)) == "pseudonymised"
    (problem,) = agrees(told("anonymised", columns=TOKENS))
    assert problem.path == "kind"
    assert said in problem.message
    assert problem.hint == "kind: pseudonymised, or no key_file and no vault"
    assert not list(agrees(told("pseudonymised", columns=TOKENS)))
    tables = {"visits": SimpleNamespace(columns=TOKENS)}
    assert list(reasons_for_pseudonymised(told(None, tables=tables))) == [f"tables.visits.{said}"]


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("anonymised", {}),
        ("anonymised", {"algorithm": [], "columns": "none", "kind": 3}),
        ("anonymised", {"columns": {"a": None, "b": {"role": "token"}}}),
        ("anonymised", {"kind": "anonymised", "algorithm": {"name": CLASSLESS}}),
        ("pseudonymised", {"algorithm": {"name": CLASSLESS}}),
        ("pseudonymised", {"columns": {3: {"role": "token", "key_file": "k"}}}),
        ("pseudonymised", {"kind": "pseudonymised"}),
    ],
)
def test_the_kind_of_what_is_not_checked_yet(kind: str, given: dict[Any, Any]) -> None:
    assert kind_of_mapping(given) == kind
