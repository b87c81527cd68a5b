"""Changes of a policy's text: comments stay, and nothing but what is offered can change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import PolicyError
from anonymizer.explore.edits import Edit, edits_of, with_edits
from tests.explore.conftest import HOSTILE, POLICY

BASE = Path()
K = ("privacy", "k_anonymity")


def changed(*edits: Edit, text: str = POLICY) -> str:
    return with_edits(text, edits, BASE, POLICY)[0]


def test_a_change_leaves_every_other_line_as_it_was() -> None:
    made = changed(Edit(("privacy", "k_anonymity"), 7))
    before, after = POLICY.splitlines(), made.splitlines()
    different = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert different == [
        ("privacy: {k_anonymity: 5}     # inside the house",
         "privacy: {k_anonymity: 7}     # inside the house"),
    ]  # fmt: skip


LAID_OUT = """\
version: 1   # mine
source:
    table:      visits
columns:
    age:        {role: quasi, kind: numeric}     # years
    sex:        {role: quasi,   kind: categorical}

    zip:
        role:      quasi
        hierarchy: {builder: suffix}   # why
    disease:    {role: sensitive, protect: {l_diversity: 2}}
privacy:        {k_anonymity: 5}
algorithm:
    {name: mondrian}
publish:        {database: r.duckdb}
"""


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (Edit(("columns", "sex", "role"), "drop"), {"sex"}),
        (Edit(("columns", "zip", "hierarchy"), None), {"hierarchy"}),
        (Edit(("columns", "zip", "weight"), 2), {"weight"}),
        (Edit(("suppression_limit",), 0.1), {"suppression_limit"}),
        (Edit(("columns", "disease", "protect", "l_diversity"), 3), {"disease"}),
    ],
)
@pytest.mark.parametrize("joined", [False, True])
def test_lines_laid_out_by_hand_stay(edit: Edit, lines: set[str], joined: bool) -> None:
    given = (
        LAID_OUT.replace("algorithm:\n    {name", "algorithm:      {name") if joined else LAID_OUT
    )
    made = with_edits(given, [edit], BASE, given)[0]
    differ = set(made.splitlines()) ^ set(given.splitlines())
    assert {line.split(":")[0].strip() for line in differ} == lines


def test_null_stays_null() -> None:
    """It says on purpose that there is no value; a name with nothing behind it is refused."""
    text = POLICY + "person: null\nkey: ~\n"
    made, _ = with_edits(text, [Edit(("privacy", "k_anonymity"), 7)], Path(), text)
    assert made == text.replace("k_anonymity: 5", "k_anonymity: 7")


def test_a_hostile_name_is_a_name() -> None:
    text, policy = with_edits(POLICY, [Edit(("columns", HOSTILE, "role"), "drop")], BASE, POLICY)
    assert policy.columns[HOSTILE].role == "drop"
    assert "# a number of ours" in text


def test_a_role_takes_along_what_has_no_meaning_under_another() -> None:
    made = changed(Edit(("columns", "disease", "role"), "quasi"))
    assert "disease: {role: quasi}" in made


def test_rules_come_and_go() -> None:
    at = ("columns", "disease", "protect")
    made = changed(Edit((*at, "t_closeness", "t"), 0.3))
    assert "{l_diversity: 2, t_closeness: {t: 0.3}}" in made
    made = changed(
        Edit((*at, "l_diversity"), None), Edit((*at, "t_closeness"), None), text=made
    )  # fmt: skip
    assert "disease: {role: sensitive}" in made


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["source", "table"], "other"),
        (["source"], {"file": "/etc/passwd"}),
        (["publish", "database"], "/tmp/elsewhere.duckdb"),
        (["ledger"], "/tmp/ledger.duckdb"),
        (["columns", "age", "key_file"], "/etc/passwd"),
        (["columns", "age", "vault"], "/tmp/vault.duckdb"),
        (["columns", "age", "sensitive_when"], "true"),
        (["columns", "age"], {"role": "token", "vault": "/tmp/v.duckdb"}),
        (["columns", "age", "sensitive_when"], "(select true from other)"),
        (["columns", "age", "sensitive_when"], '"quoted name"'),
        (["columns", "age", "sensitive_when"], ["flag"]),
        (["columns", "age", "population"], "/etc/passwd"),
        (["columns", "age", "per"], "name"),
        (["columns", "age", "role"], "tokens"),
        (["columns", "age", "role"], {"a": 1}),
        (["privacy", "k_map"], {"k": 2, "population": {"file": "/etc/passwd"}}),
        (["privacy"], {"k_map": {"k": 2, "population": {"file": "/etc/passwd"}}}),
        (["workload", "file"], "/etc/passwd"),
        (["version"], 2),
        ([], 1),
        ("privacy", 1),
        ([1], 1),
    ],
)
def test_what_reads_or_writes_is_not_changed_here(path: Any, value: Any) -> None:
    with pytest.raises(PolicyError):
        edits_of([{"path": path, "value": value}])


def test_a_mask_replaces_what_a_column_had() -> None:
    made = changed(
        *edits_of([
            {"path": ["columns", "disease", "role"], "value": "constant"},
            {"path": ["columns", "disease", "value"], "value": "removed"},
            {"path": ["columns", "name", "role"], "value": "token"},
        ])
    )  # fmt: skip
    assert "disease: {role: constant, value: removed}" in made
    assert "name: {role: token}" in made


@pytest.mark.parametrize("given", [None, [], {}, "x", [1], [{"value": 1}], [{"path": []}] * 2_000])
def test_what_is_no_list_of_changes_is_refused(given: object) -> None:
    with pytest.raises(PolicyError):
        edits_of(given)


@pytest.mark.parametrize(
    "hierarchy",
    [{"file": "/etc/passwd"}, {"builder": "taxonomy", "file": "../x.csv"}, {"table": "secrets"}],
)
def test_a_hierarchy_reaches_no_further_file_or_table(hierarchy: dict[str, str]) -> None:
    (edit,) = edits_of([{"path": ["columns", "age", "hierarchy"], "value": hierarchy}])
    with pytest.raises(PolicyError, match="does not have"):
        changed(edit)
    known = POLICY.replace("age: {role: quasi}", "age: {role: quasi, hierarchy: {file: own.csv}}")
    with pytest.raises(PolicyError, match="does not have"):
        with_edits(known, [edit], BASE, known)


def test_a_hierarchy_may_go_back_to_the_file_of_the_policy() -> None:
    known = POLICY.replace("age: {role: quasi}", "age: {role: quasi, hierarchy: {file: own.csv}}")
    own = {"builder": "taxonomy", "file": "own.csv"}
    gone, _ = with_edits(known, [Edit(("columns", "age", "hierarchy"), None)], BASE, known)
    assert "own.csv" not in gone
    back = Edit(("columns", "age", "hierarchy"), own)
    assert "own.csv" in with_edits(gone, [back], BASE, known)[0]


@pytest.mark.parametrize("path", [["privacy", "k_anonymity", "file"], ["columns", "age", "protect",
                                  "levels", "file"], ["algorithm", "name", "x"]])  # fmt: skip
def test_what_makes_no_policy_changes_nothing(path: list[str]) -> None:
    with pytest.raises(PolicyError):
        changed(*edits_of([{"path": path, "value": "/etc/passwd"}]))


def test_an_alias_carries_a_change_nowhere_else() -> None:
    shared = POLICY.replace("age: {role: quasi}", "age: &c {role: quasi}").replace(
        "kept: {role: keep}", "kept: *c"
    )
    with pytest.raises(PolicyError, match="alias"):
        with_edits(shared, [Edit(("columns", "age", "role"), "drop")], BASE, shared)
    assert with_edits(shared, [Edit(K, 6)], BASE, shared)[1].privacy.k_anonymity == 6
