"""Several rows per person, in every algorithm: counts, rows that stay together, bad input."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import (
    AnonymizerError,
    GuaranteeError,
    InfeasibleError,
    SourceError,
)
from anonymizer.independent.judge import judge
from tests import danonyir_tables as tables
from tests import runs
from tests.danonyir_tables import COLUMNS, TYPES, ZIP_TREE
from tests.selection import some

TREES = {
    **COLUMNS,
    "age": {"role": "quasi", "hierarchy": {"builder": "conventional"}},
    "sex": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
    "zip": ZIP_TREE,
}
MODELS: list[dict[str, Any]] = [
    {"k_anonymity": 3},
    {"ir_k": 4},
    {"ir_kl": {"k": 3, "l": 3}},
    {"ir_alpha_beta": {"alpha": 0.4, "beta": 0.5}},
    {"eir_l": 3},
    {"eir_alpha_beta": {"alpha": 0.4, "beta": 0.5}},
    {"eir_l": 2, "eir_alpha_beta": {"alpha": 0.5, "beta": 0.6}},
]


def table(
    folder: Path, seed: int, count: int = 60, nulls: float = 0.1
) -> tuple[list[tables.Person], Path]:
    draw = random.Random(seed)
    people = tables.people(draw, count, nulls=nulls)
    rows = [row for person in people for row in person.rows()]
    draw.shuffle(rows)
    return people, runs.source(folder, TYPES, rows)


def classes_of(released: runs.Rows) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in released:
        found[row["class_id"]].append(row)
    return found


def check(released: runs.Rows, privacy: dict[str, Any], column: str = "ill") -> None:
    """The released rows by the naive oracle: a third opinion beside algorithm and verifier."""
    home: dict[int, set[int]] = defaultdict(set)
    for row in released:
        home[row["person_id"]].add(row["class_id"])
    assert all(len(classes) == 1 for classes in home.values())
    for rows in classes_of(released).values():
        held: dict[int, list[Any]] = defaultdict(list)
        for row in rows:
            held[row["person_id"]].append(row[column])
        persons = [tables.Person(who, None, None, "", tuple(ills)) for who, ills in held.items()]
        assert tables.judge(persons, privacy)(list(range(len(persons))))


@some(1, 3)
@pytest.mark.parametrize(
    ("name", "privacy"),
    [("mondrian", model) for model in MODELS] + [("geneir", model) for model in MODELS[1:]],
    ids=lambda given: given if isinstance(given, str) else "+".join(given),
)
def test_guarantees_hold_for_persons(tmp_path: Path, name: str, privacy: dict[str, Any]) -> None:
    people, database = table(tmp_path, 1 + MODELS.index(privacy))
    columns = TREES if name == "geneir" else COLUMNS
    policy = runs.policy(
        tmp_path,
        columns,
        k=None,
        person="who",
        privacy=privacy,
        suppression_limit=1,
        algorithm={"name": name},
    )
    release = runs.run(policy, database)
    released = runs.published(release)
    assert release.verification.passed
    check(released, privacy)
    assert len(classes_of(released)) > 1
    published = Counter(row["person_id"] for row in released)
    suppressed = release.measures["suppressed_persons"]
    assert len(published) + suppressed == len(people)
    if name == "mondrian":
        assert suppressed == 0
        assert Counter(published.values()) == Counter(len(person.ills) for person in people)


@pytest.mark.slow
def test_person_numbers_tell_nothing(tmp_path: Path) -> None:
    """Dense, drawn anew with every secret, and unrelated to the source's order."""
    people, database = table(tmp_path, 3)
    policy = runs.policy(tmp_path, COLUMNS, k=3, person="who")
    orders = []
    for seed in (1, 2):
        rows = runs.published(runs.run(policy, database, seed=seed))
        numbers = {row["person_id"] for row in rows}
        assert numbers == set(range(1, len(people) + 1))
        orders.append([row["person_id"] for row in rows])
    assert orders[0] != orders[1]
    assert orders[0] != sorted(orders[0])


@pytest.mark.slow
def test_lgb_buckets_hold_nobody_twice(tmp_path: Path) -> None:
    for seed in range(4):
        people, database = table(tmp_path, seed, count=80, nulls=0.05)
        columns = {**COLUMNS, "ill": {"role": "sensitive", "protect": {"l_diversity": 2}}}
        policy = runs.policy(tmp_path, columns, k=3, person="who", algorithm={"name": "lgb"})
        release = runs.run(policy, database, seed=seed)
        assert release.verification.passed
        rows = runs.published(release)
        assert len({row["person_id"] for row in rows}) == len(people)
        for key in {row["ill_bucket"] for row in rows}:
            bucket = [row for row in rows if row["ill_bucket"] == key]
            assert len({row["person_id"] for row in bucket}) == len(bucket)
            ills = [row["ill"] for row in bucket if row["ill"] is not None]
            assert len(set(ills)) == len(ills) >= 2
        everybody = Counter(ill for person in people for ill in person.ills)
        assert Counter(row["ill"] for row in rows) == everybody


def test_lgb_refuses_a_person_with_too_many_cells(tmp_path: Path) -> None:
    rows = [(1, 30, "f", "150", f"ill {i}") for i in range(8)]
    rows += [(who, 30, "f", "150", f"ill {who % 6}") for who in range(2, 8)]
    database = runs.source(tmp_path, TYPES, rows)
    columns = {**COLUMNS, "ill": {"role": "sensitive", "protect": {"l_diversity": 2}}}
    policy = runs.policy(tmp_path, columns, k=2, person="who", algorithm={"name": "lgb"})
    with pytest.raises(InfeasibleError, match="1 person has more sensitive cells"):
        runs.run(policy, database)


WHOLE_RECORDS: list[dict[str, Any]] = [
    *MODELS[2:5],
    {"eir_alpha_beta": {"alpha": 0.4, "beta": 0.8}},
    {"eir_l": 2, "eir_alpha_beta": {"alpha": 0.5, "beta": 0.8}},
]


@some(2, 2)
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("privacy", WHOLE_RECORDS, ids="+".join)
def test_lgb_classes_hold_models_on_whole_records(
    tmp_path: Path, privacy: dict[str, Any], hidden: bool
) -> None:
    """Also where some cells are in buckets: each pattern of them has classes of its own."""
    people, database = table(tmp_path, 20, count=160, nulls=0)
    secret = {"role": "quasi", "sensitive_when": "who % 2 = 0", "protect": {"l_diversity": 2}}
    policy = runs.policy(
        tmp_path,
        {**COLUMNS, "sex": secret} if hidden else COLUMNS,
        k=2,
        person="who",
        privacy=privacy,
        algorithm={"name": "lgb", "generalization": "loss"},
    )
    release = runs.run(policy, database)
    released = runs.published(release)
    assert release.verification.passed
    check(released, privacy)
    assert len(classes_of(released)) > (2 if hidden else 1)
    assert len({row["person_id"] for row in released}) == len(people)
    for rows in classes_of(released).values():
        assert not hidden or len({row["sex_bucket"] is None for row in rows}) == 1


ALL = ["mondrian", "danonyir", "geneir"]


def policy_of(folder: Path, name: str, privacy: dict[str, Any], **rest: Any) -> Any:
    columns = TREES if name == "geneir" else COLUMNS
    return runs.policy(
        folder,
        columns,
        k=None,
        person="who",
        privacy=privacy,
        algorithm={"name": name},
        **rest,
    )


def fails(folder: Path, rows: list[tuple[Any, ...]], name: str, privacy: Any, **rest: Any) -> str:
    database = runs.source(folder, TYPES, rows)
    with pytest.raises(AnonymizerError) as caught:
        runs.run(policy_of(folder, name, privacy, **rest), database)
    assert isinstance(caught.value, SourceError | InfeasibleError)
    return str(caught.value)


@some(1, 3)
@pytest.mark.parametrize("name", ALL)
def test_bad_input(tmp_path: Path, name: str) -> None:
    others = [(who, 30 + who, "m", "152", f"ill {who % 3}") for who in range(2, 7)]
    nobody = [*others, (None, 30, "f", "150", "a")]
    assert "person: is NULL in 1 row" in fails(tmp_path, nobody, name, {"ir_k": 2})
    few = fails(tmp_path, others, name, {"eir_l": 9})
    assert "asks for classes of 9 persons, but there are 5" in few
    crowd = [*others, *[(9, 30, "f", "150", f"x {i % 9}") for i in range(20)]]
    alpha = fails(tmp_path, crowd, name, {"eir_alpha_beta": {"alpha": 0.4, "beta": 0.9}})
    assert "1 person has more than a share 0.4 of all rows" in alpha
    same = [(who, 30 + who, "m", "152", "flu") for who in range(8)]
    assert "the table as one class fails" in fails(tmp_path, same, name, {"eir_l": 2})
    nulls = [(*row[:4], "flu" if row[0] % 3 == 0 else None) for row in same]
    told = fails(tmp_path, nulls, name, {"eir_l": 2})
    assert "(3 persons with a value, 1 different value, the most widespread with 3 persons)" in told
    differing = [*others, (2, 99, "m", "152", "x"), (3, 33, "f", "152", "x")]
    told = fails(tmp_path, differing, name, {"ir_k": 2})
    assert "2 persons have rows that differ in their quasi-identifiers" in told
    assert "flu" not in told


FREQUENT = [
    (who, 20 + who * 7 % 50, "fm"[who % 2], str(150 + who % 9), f"ill {who % 7}")
    if who % 20 >= 9
    else (who, 20 + who * 7 % 50, "fm"[who % 2], str(150 + who % 9), "flu")
    for who in range(100)
]
"""45 of 100 persons have one value: under a share of 0.4 at least 9 have to be left out."""


@pytest.mark.parametrize("model", ["ir_alpha_beta", "eir_alpha_beta"])
def test_a_value_that_is_too_frequent_is_left_out_as_often_as_needed(
    tmp_path: Path, model: str
) -> None:
    privacy = {model: {"alpha": 0.5, "beta": 0.4}}
    database = runs.source(tmp_path, TYPES, FREQUENT)
    allowing = policy_of(tmp_path, "danonyir", privacy, suppression_limit=0.3)
    release = runs.run(allowing, database)
    assert 9 <= release.measures["suppressed_persons"] <= 14
    check(runs.published(release), privacy)
    assert judge(tmp_path / "release.duckdb").passed


@pytest.mark.parametrize("name", ["danonyir", "geneir", "mondrian"])
def test_how_many_have_to_be_left_out_is_told(tmp_path: Path, name: str) -> None:
    privacy = {"eir_alpha_beta": {"alpha": 0.5, "beta": 0.4}}
    for limit in (0, 0.08):
        told = fails(tmp_path, FREQUENT, name, privacy, suppression_limit=limit)
        assert "only if 9 persons or more with the most widespread value are left out" in told
        assert ("danonyir" if name == "mondrian" else "raise suppression_limit") in told


@pytest.mark.parametrize("name", ["danonyir", "geneir"])
def test_persons_with_too_many_rows_are_left_out(tmp_path: Path, name: str) -> None:
    """They are in no class, and the others are published without them."""
    crowd = [*FREQUENT, *[(200, 30, "f", "150", f"x {i % 9}") for i in range(120)]]
    privacy = {"eir_alpha_beta": {"alpha": 0.3, "beta": 0.6}}
    allowing = policy_of(tmp_path, name, privacy, suppression_limit=0.1)
    release = runs.run(allowing, runs.source(tmp_path, TYPES, crowd))
    assert 1 <= release.measures["suppressed_persons"] <= 10
    check(runs.published(release), privacy)
    told = fails(tmp_path, crowd, name, privacy, suppression_limit=0)
    assert "1 person has more than a share 0.3 of all rows" in told


WHOLE: dict[str, dict[str, Any]] = {
    "mondrian": {"k_anonymity": 2},
    "danonyir": {"ir_k": 2},
    "geneir": {"ir_k": 2},
    "full_domain": {"k_anonymity": 2},
    "privacyfrost": {"k_anonymity": 2},
    "lgb": {"k_anonymity": 2},
    "msb": {},
}


@some(2, 3)
@pytest.mark.parametrize(
    ("name", "merged", "column"),
    [
        ("mondrian", True, "age"),
        ("danonyir", True, "age"),
        ("mondrian", False, "ill"),
        *((name, False, "age") for name in WHOLE),
    ],
)
def test_nulls_leave_out_whole_persons(
    tmp_path: Path, name: str, merged: bool, column: str
) -> None:
    """One row of theirs with a NULL: all of their rows go, and the limit counts the persons."""
    rows = [
        (
            who,
            None if column == "age" and row == 1 and who % 6 == 0 else 20 + who % 4,
            "fm"[who % 2],
            "150",
            None if column == "ill" and row == 1 and who % 6 == 0 else f"ill {who % 5}",
        )
        for who in range(30)
        for row in range(2)
    ]
    database = runs.source(tmp_path, TYPES, rows)
    columns = dict(TREES if name in ("geneir", "full_domain", "privacyfrost") else COLUMNS)
    if name == "msb":
        columns["ill"] = {"role": "sensitive", "protect": {"l_diversity": 2}}
    given = columns[column]
    columns[column] = {
        **(given if isinstance(given, dict) else {"role": given}),
        "nulls": "suppress",
    }
    how: dict[str, Any] = {"privacy": WHOLE[name], "algorithm": {"name": name}, "person": "who"}
    if merged:
        how["merge_person_rows"] = True

    def run(limit: float) -> Any:
        policy = runs.policy(tmp_path, columns, k=None, suppression_limit=limit, **how)
        return runs.run(policy, database)

    release = run(1)
    published = Counter(row["person_id"] for row in runs.published(release))
    assert set(published.values()) == {2}
    assert release.measures["suppressed_persons"] == 30 - len(published) == 5
    with pytest.raises(GuaranteeError, match=r"suppression_limit: .*5 (of 30 )?persons"):
        run(0)


@some(1)
@pytest.mark.parametrize("algorithm", [{"name": "mondrian"}, {"name": "danonyir"},
                                       {"name": "lgb", "generalization": "mdp"}])  # fmt: skip
def test_eir_l_that_only_a_search_refutes_cannot_hold(
    tmp_path: Path, algorithm: dict[str, Any]
) -> None:
    """Two values meet everybody, although each person has one of their own: counts do not tell."""
    data = [(p, 20, v) for p in range(12) for v in ("a" if p < 6 else "b", f"own {p}")]
    database = runs.source(tmp_path, {"p": "INTEGER", "age": "INTEGER", "d": "VARCHAR"}, data)
    columns = {"p": "drop", "age": "quasi", "d": {"role": "sensitive", "acknowledge_unique": True}}
    for l, holds in ((2, True), (3, False)):
        given = runs.policy(
            tmp_path, columns, k=2, privacy={"eir_l": l}, person="p", algorithm=algorithm
        )
        if holds:
            assert runs.run(given, database).verification.passed
            continue
        with pytest.raises(InfeasibleError) as raised:
            runs.run(given, database)
        assert raised.value.exit_code == 2
        if algorithm["name"] != "danonyir":
            assert "columns.d: cannot hold eir_l in any class" in str(raised.value)
