"""Every option beside every other: a policy drawn from all of them releases or says why not.

What an option means is tested elsewhere. Here it counts that no two of them meet in a statement
that the engine refuses: an error is always about the policy, the source or a guarantee.
"""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import AnonymizerError, Policy
from anonymizer.errors import (
    GuaranteeError,
    InfeasibleError,
    NothingToCheckError,
    PolicyError,
    SourceError,
)
from anonymizer.release.published import Release
from tests.runs import policy, published, run, source
from tests.selection import rounds

Options = dict[str, Any]

TYPES = {
    "visit": "INTEGER",
    "person": "VARCHAR",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "seen": "DATE",
    "weight": "DECIMAL(6,1)",
    "sex": "VARCHAR",
    "hide": "BOOLEAN",
    "disease": "VARCHAR",
    "cost": "INTEGER",
    "note": "VARCHAR",
}
ROWS = 120
QUASI = ("age", "zip", "seen", "weight", "sex")
RULES: list[Options] = [
    {"l_diversity": 2},
    {"l_diversity": 3},
    {"entropy_l": 1.5},
    {"recursive_cl": {"c": 2, "l": 2}},
    {"t_closeness": 0.5},
    {"t_closeness": {"t": 0.4, "distance": "ordered"}},
    {"alpha": 0.6},
    {"beta_likeness": 3},
    {"delta_disclosure": 3},
    {"l_diversity": 2, "alpha": 0.7},
    {"levels": {0: ["flu"], 1: ["hiv", "flux"]}, "default_level": 1},
]
MERGE = ("mondrian", "danonyir")
IDENTITY_RESERVED = ("danonyir", "geneir")
HIERARCHIES: dict[str, list[Options]] = {
    "age": [
        {"builder": "cardinality"},
        {"builder": "conventional"},
        {"builder": "divisor"},
        {"builder": "on_the_fly"},
        {"builder": "intervals", "cuts": [10, 20, 40]},
    ],
    "zip": [{"builder": "prefix"}, {"builder": "suffix"}, {"builder": "frequency"}],
    "seen": [{"builder": "date"}, {"builder": "cardinality"}],
    "weight": [{"builder": "cardinality"}, {"builder": "on_the_fly"}],
    "sex": [{"builder": "frequency"}, {"builder": "order", "values": ["M", "F"]}],
}
ALGORITHMS: list[Options] = [
    {"name": "mondrian"},
    {"name": "mondrian", "split": "median"},
    {"name": "mondrian", "split": "median", "strict": False},
    {"name": "mondrian", "refine": 2},
    {"name": "lgb"},
    {"name": "lgb", "generalization": "ncp"},
    {"name": "lgb", "generalization": "loss", "ranges": "tight"},
    {"name": "lgb", "generalization": "ncp", "small_patterns": "suppress", "rebalance": True},
    {"name": "full_domain"},
    {"name": "full_domain", "optimum": "c_dm"},
    {"name": "privacyfrost"},
    {"name": "privacyfrost", "score": "log", "partial_domain": False},
    {"name": "privacyfrost", "score": "eta", "presampling_k": 2, "p": 1},
    {"name": "msb"},
    {"name": "msb", "strategy": "mbf", "mode": "exact"},
    {"name": "msb", "security_level_first": True, "generalize": {"k": 3}},
    {"name": "danonyir"},
    {"name": "danonyir", "block_size": "all"},
    {"name": "geneir"},
]
REFUSALS = (PolicyError, SourceError, InfeasibleError, GuaranteeError, NothingToCheckError)
"""What may stand against a release; a statement that the engine refuses may not."""
IDENTITY: list[Options] = [
    {"ir_k": 2},
    {"ir_kl": {"k": 2, "l": 2}},
    {"ir_alpha_beta": {"alpha": 0.8, "beta": 0.8}},
    {"eir_l": 2},
    {"eir_alpha_beta": {"alpha": 0.8, "beta": 0.8}},
]


def table(random_: random.Random, repeated: bool, varying: bool) -> list[tuple[Any, ...]]:
    """Rows of persons; `repeated`: several a person, `varying`: with other quasi-identifiers."""
    rows: list[tuple[Any, ...]] = []
    tuples: dict[str, tuple[Any, ...]] = {}
    for number in range(ROWS):
        person = f"p{random_.randrange(ROWS // 3) if repeated else number}"
        drawn = (
            random_.choice([None, *range(20, 60)]),
            random_.choice(["1011", "1012", "1020", "20*", '3"0', None]),
            random_.choice([None, dt.date(2019, 12, 31), dt.date(2020, 1, 1), dt.date(2021, 7, 4)]),
            random_.choice([None, Decimal("50.5"), Decimal("61.0"), Decimal("-1.5")]),
            random_.choice(["F", "M", "M", None]),
            random_.random() < 0.2,
        )
        if not varying:
            drawn = tuples.setdefault(person, drawn)
        disease = random_.choice(["flu", "flu", "hiv", "gout", "covid", "ulcer", None])
        cost = random_.choice([10, 20, 30, 40, None])
        rows.append((number, person, *drawn, disease, cost, f"note {number % 12}"))
    return rows


def columns(random_: random.Random, algorithm: str) -> dict[str, Options]:
    made: dict[str, Options] = {
        "visit": {"role": random_.choice(["identifier", "drop"])},
        "person": {"role": random_.choice(["identifier", "drop"])},
        "hide": {"role": "drop"},
        "note": {"role": random_.choice(["keep", "drop"])},
    }
    tree_needed = algorithm in ("full_domain", "privacyfrost", "geneir")
    for name in QUASI:
        made[name] = {"role": "quasi" if random_.random() < 0.6 or name == "age" else "drop"}
        if made[name]["role"] != "quasi":
            continue
        if tree_needed or random_.random() < 0.4:
            made[name]["hierarchy"] = random_.choice(HIERARCHIES[name])
        if random_.random() < 0.2:
            made[name]["nulls"] = random_.choice(["own_class", "suppress"])
        if algorithm == "lgb" and random_.random() < 0.4:
            made[name] |= {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
    for name in ("disease", "cost"):
        made[name] = {"role": random_.choice(["sensitive", "sensitive", "keep", "drop"])}
        if made[name]["role"] == "sensitive" or algorithm in IDENTITY_RESERVED:
            made[name]["role"] = "sensitive"
            if random_.random() < 0.85 and algorithm not in IDENTITY_RESERVED:
                rules = RULES[:2] + RULES[-1:] if algorithm == "msb" else RULES[:-1]
                made[name]["protect"] = random_.choice(rules)
            made[name]["null_as_value"] = random_.random() < 0.3
    return made


def drawn_policy(random_: random.Random, folder: Path) -> tuple[Policy, Path]:
    """Raises PolicyError where the options contradict each other."""
    algorithm = dict(random_.choice(ALGORITHMS))
    reserved = algorithm["name"] in IDENTITY_RESERVED
    person = random_.random() < 0.5 or reserved
    repeated = person and random_.random() < 0.8
    varying = repeated and algorithm["name"] in MERGE and random_.random() < 0.5
    database = source(folder, TYPES, table(random_, repeated, varying))
    rest: Options = {"algorithm": algorithm, "suppression_limit": random_.choice([0.0, 0.1, 0.6])}
    described = columns(random_, algorithm["name"])
    if random_.random() < 0.5:
        rest["key"] = "visit"
    if person:
        rest["person"] = "person"
    if varying:
        rest["merge_person_rows"] = True
    k: int | None = random_.choice([2, 3, 5])
    if reserved or (person and algorithm["name"] == "mondrian" and random_.random() < 0.4):
        rest["privacy"] = random_.choice(IDENTITY)
        k = random_.choice([None, 2])
    elif algorithm["name"] == "msb":
        k = None
        if any("levels" in column.get("protect", {}) for column in described.values()):
            rest["privacy"] = {"level_l": {0: 1, 1: 2}}
    publish: Options = {"cells": random_.choice(["text", "typed"])}
    if random_.random() < 0.2:
        publish["rename"] = {"age": "Age of person"}
    return policy(folder, described, k, publish=publish, **rest), database


def outcome(seed: int, folder: Path) -> str:
    """What became of one drawn policy: `released`, or the kind of the refusal."""
    try:
        given, database = drawn_policy(random.Random(seed), folder)
        made = run(given, database)
    except REFUSALS as error:
        refused: AnonymizerError = error
    else:
        return released(given, made)
    assert all(problem.path for problem in refused.problems)
    assert not (folder / "release.duckdb").exists()
    return type(refused).__name__


def released(given: Policy, made: Release) -> str:
    assert made.verification.passed
    rows = published(made)
    assert len(rows) + made.measures["suppressed"] >= ROWS or given.person is not None
    assert anonymizer.verify(given).passed
    needed = given.privacy.k_anonymity
    if needed is not None and "class_id" in (rows[0] if rows else {}):
        unit = "person_id" if given.person is not None else None
        members = {(row["class_id"], row[unit] if unit else at) for at, row in enumerate(rows)}
        assert all(n >= needed for n in Counter(number for number, _ in members).values())
    return "released"


def check(seeds: range, tmp_path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    broken: dict[int, str] = {}
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        try:
            found[outcome(seed, folder)] += 1
        except (AnonymizerError, AssertionError, RuntimeError) as error:
            broken[seed] = f"{type(error).__name__}: {error}"
    assert not broken, "\n".join(f"seed {seed}: {what}" for seed, what in broken.items())
    return found


@pytest.mark.slow
@rounds(5, 20)
def test_drawn_policies_release_or_say_why_not(tmp_path: Path, rounds: int) -> None:
    found = check(range(rounds), tmp_path)
    assert found["released"] >= 0.4 * rounds


@pytest.mark.exhaustive
def test_hundreds_of_drawn_policies(tmp_path: Path) -> None:
    found = check(range(20, 1000), tmp_path)
    assert found["released"] >= 300
