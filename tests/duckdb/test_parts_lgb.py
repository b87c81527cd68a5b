"""LGB in parts: classes of one pattern and k rows in every part, buckets as in one piece."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from tests.duckdb.test_parts import TREE, TYPES, released, table
from tests.runs import policy, source
from tests.selection import some

FLAGGED = {**TYPES, "hide": "BOOLEAN", "secret": "BOOLEAN"}
RULES: tuple[dict[str, Any], ...] = (
    {"l_diversity": 3},
    {"entropy_l": 2},
    {"recursive_cl": {"c": 2, "l": 2}},
    {"alpha": 0.5},
    {"t_closeness": 0.5},
    {"t_closeness": {"t": 0.4, "distance": "ordered"}},
    {"beta_likeness": 2},
    {"delta_disclosure": 3},
)
OPTIONS: tuple[dict[str, Any], ...] = (
    {"generalization": "mdp"},
    {"generalization": "ncp"},
    {"generalization": "loss"},
    {"generalization": "ncp", "rebalance": True},
    {"generalization": "mdp", "ranges": "tight", "small_patterns": "suppress"},
)


def rows_of(seed: object, rows: int, *, skewed: bool = False) -> list[tuple[Any, ...]]:
    """Rows of which a third hides the age, and a tenth the town."""
    draw = random.Random(str(seed))
    made = table(draw, rows, skewed=skewed)
    return [(*row, draw.random() < 0.3, draw.random() < 0.1) for row in made]


def given(folder: Path, rule: dict[str, Any], size: Any = 60, **options: Any) -> anonymizer.Policy:
    more = options.pop("more", {})
    tree = folder / "tree.csv"
    tree.write_text("".join(f"{leaf};{';'.join(path)}\n" for leaf, path in TREE.items()))
    columns: dict[str, Any] = {
        "who": {"role": "keep", "acknowledge_unique": True},
        "age": {"role": "quasi", "sensitive_when": "hide", "protect": {"l_diversity": 2}},
        "town": {"role": "quasi", "sensitive_when": "secret", "protect": {"l_diversity": 2}},
        "kind": {"role": "quasi", "hierarchy": {"file": str(tree)}},
        "seen": "quasi",
        "ill": {"role": "sensitive", "protect": rule},
        "hide": "drop",
        "secret": "drop",
    } | more.pop("columns", {})
    return policy(
        folder,
        columns,
        4,
        algorithm={"name": "lgb", "part_size": size, **options},
        publish={"rename": {"class_id": "class"}},
        suppression_limit=1,
        **more,
    )


def buckets(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Every row's buckets, and what it publishes there."""
    names = [name for name in found[0] if name.endswith("_bucket")]
    shown = {name: name.removesuffix("_bucket") for name in names}
    return sorted(
        (row["who"], *(row[n] for n in names), *(row[shown[n]] for n in names if row[n]))
        for row in found
    )


@pytest.mark.slow
@some(1, 2)
@pytest.mark.parametrize("rule", RULES, ids="-".join)
def test_buckets_are_those_of_one_piece(tmp_path: Path, rule: dict[str, Any]) -> None:
    database = source(tmp_path, FLAGGED, rows_of(rule, 400))
    whole, none = released(given(tmp_path, rule, "all"), database)
    (tmp_path / "release.duckdb").unlink()
    found, parts = released(given(tmp_path, rule), database)
    assert none == 0
    assert parts > 2
    assert buckets(found) == buckets(whole)
    assert min(Counter(row["class"] for row in found).values()) >= 4
    assert {row["class"] for row in found} == set(range(1, len({r["class"] for r in found}) + 1))


@pytest.mark.slow
@some(1, 3)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("skewed", [True, False])
def test_classes_have_one_pattern(tmp_path: Path, options: dict[str, Any], skewed: bool) -> None:
    rows = rows_of(options, 400, skewed=skewed)
    policy = given(tmp_path, {"l_diversity": 2}, **options)
    found, parts = released(policy, source(tmp_path, FLAGGED, rows))
    assert parts > 2
    patterns: dict[int, set[Any]] = {}
    for row in found:
        hidden = (row["age_bucket"] is None, row["town_bucket"] is None)
        patterns.setdefault(row["class"], set()).add(hidden)
    assert {len(of_class) for of_class in patterns.values()} == {1}


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("privacy", [{"eir_l": 2}, {"ir_kl": {"k": 3, "l": 2}}], ids="-".join)
def test_every_pattern_of_a_part_holds_rules_on_persons(
    tmp_path: Path, privacy: dict[str, Any]
) -> None:
    draw = random.Random(8)
    rows = [
        (*person[:5], draw.randrange(5), person[6], False)
        for person in rows_of(8, 200)
        for _ in range(1 + draw.randrange(2))
    ]
    columns: dict[str, Any] = {"who": "drop", "town": "quasi", "ill": "sensitive"}
    columns["age"] = {"role": "quasi", "sensitive_when": "hide", "protect": {"l_diversity": 2}}
    more = {"person": "who", "columns": columns, "privacy": privacy}
    policy = given(tmp_path, {}, 40, generalization="loss", more=more)
    found, parts = released(policy, source(tmp_path, FLAGGED, rows))
    assert parts > 2
    assert len({row["person_id"] for row in found}) == 200
