"""Choices that no policy can have are named with the reason, and every other one is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.errors import AnonymizerError
from anonymizer.explore.choices import beginnings, flags, refused_choices
from anonymizer.explore.edits import ROLES, Edit, with_edits
from anonymizer.policy import Policy
from anonymizer.policy.columns import MASKS
from tests.explore.conftest import HOSTILE, POLICY

TYPES = {
    "visit": "BIGINT", "name": "VARCHAR", "age": "DOUBLE", HOSTILE: "VARCHAR", "admitted": "DATE",
    "disease": "VARCHAR", "kept": "VARCHAR",
}  # fmt: skip
KEYED = POLICY + "key: visit\n"


def refused(text: str, types: dict[str, str]) -> dict[str, dict[str, dict[str, str]]]:
    return refused_choices(Policy.loads(text, Path()), types, lambda: None)


@pytest.mark.parametrize("name", TYPES)
def test_a_role_is_refused_where_the_change_would_be(name: str) -> None:
    reasons = refused(KEYED, TYPES)["roles"][name]
    unfit = {role for role, why in reasons.items() if why.startswith("is for ")}
    for role in set(ROLES) - unfit - {Policy.loads(KEYED, Path()).columns[name].role}:
        begin = beginnings(TYPES[name]).get(role, {})
        edits = [Edit(("columns", name, option), value) for option, value in begin.items()]
        edits = [Edit(("columns", name, "role"), role), *edits]
        if role in reasons:
            with pytest.raises(AnonymizerError) as caught:
                with_edits(KEYED, edits, Path(), KEYED)
            assert caught.value.problems[0].message in reasons[role]
        else:
            with_edits(KEYED, edits, Path(), KEYED)


def test_a_mask_is_refused_by_the_type_of_the_column() -> None:
    roles = refused(KEYED, TYPES)["roles"]
    assert {m for m in MASKS if m in roles["admitted"]} == {"noise", "redact", "zip3"}
    assert roles["name"]["noise"] == "is for numbers"
    assert roles["visit"]["quasi"].endswith("is the key and would be published by the role quasi")
    assert not {"drop", "token"} & roles["visit"].keys()


def test_algorithms_and_rules_say_what_they_lack() -> None:
    found = refused(POLICY, TYPES)
    assert "hierarchy is missing" in found["algorithms"]["full_domain"]
    assert "mondrian" not in found["algorithms"]
    assert found["rules"]["disease"] == {}
    assert found["k"] == {}


def test_only_a_flag_marks_sensitive_cells() -> None:
    types = TYPES | {"hidden": "BOOLEAN", "a b": "BOOLEAN"}
    assert flags(types) == ["hidden"]
    text = POLICY.replace("  kept:", "  hidden: {role: drop}\n  kept:")
    assert "not supported by mondrian" in refused(text, types)["when"]["age"]
    assert refused(text + "algorithm: {name: lgb}\n", types)["when"] == {}
    marked = with_edits(
        text + "algorithm: {name: lgb}\n",
        [Edit(("columns", "age", "sensitive_when"), "hidden"),
         Edit(("columns", "age", "protect"), {"l_diversity": 2})],
        Path(), text,
    )[1]  # fmt: skip
    assert marked.semi_sensitive == ("age",)
