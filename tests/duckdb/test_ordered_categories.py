"""Ordered distance between categories with a hierarchy: search and verifier rank them alike."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

from tests.oracle.models import t_closeness
from tests.runs import policy, published, run, source

GRADES = ("low", "fair", "middle", "good", "high")
"""In the order of the hierarchy's leaves, which is not that of the texts."""


@pytest.mark.parametrize("seed", range(4))
def test_categories_with_a_hierarchy_are_ranked_by_their_texts(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    rows = [
        (draw.randrange(30), draw.choice("abcd"), draw.choices(GRADES, (5, 1, 3, 1, 4))[0])
        for _ in range(200)
    ]
    tree = tmp_path / "grades.csv"
    tree.write_text(
        "".join(f"{g};{'upper' if i > 2 else 'lower'};*\n" for i, g in enumerate(GRADES))
    )
    grade = {
        "role": "sensitive",
        "hierarchy": {"file": tree.name},
        "protect": {"t_closeness": {"t": 0.15, "distance": "ordered"}},
    }
    types = {"age": "INTEGER", "town": "VARCHAR", "grade": "VARCHAR"}
    told = policy(tmp_path, {"age": "quasi", "town": "quasi", "grade": grade})
    release = run(told, source(tmp_path, types, rows))
    classes = defaultdict(list)
    for row in published(release):
        classes[row["class_id"]].append(row["grade"])
    assert len(classes) > 1
    assert t_closeness(classes, "ordered", order=sorted(GRADES)).worst <= Fraction(15, 100)
