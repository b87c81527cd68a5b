"""Persons with equal quasi-identifiers and equal values: `danonyir` and `geneir` on many copies."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests import danonyir_tables as tables
from tests import runs
from tests.selection import some

MODELS: list[dict[str, Any]] = [
    {"eir_l": 3},
    {"eir_alpha_beta": {"alpha": 0.4, "beta": 0.7}},
    {"ir_kl": {"k": 4, "l": 3}},
    {"ir_alpha_beta": {"alpha": 0.4, "beta": 0.5}},
    {"ir_k": 5},
]


def copies(draw: random.Random, different: int, each: int) -> list[tuple[Any, ...]]:
    """The rows of `different` persons, each of them `each` times under other numbers."""
    people = tables.people(draw, different)
    rows = [
        (person.who * each + copy, *row[1:])
        for person in people
        for copy in range(each)
        for row in person.rows()
    ]
    draw.shuffle(rows)
    return rows


def policy(folder: Path, privacy: dict[str, Any], **algorithm: Any) -> Any:
    """Nobody is left out whom a class can take, as anybody under rules that survive additions."""
    return runs.policy(
        folder,
        tables.COLUMNS,
        k=None,
        person="who",
        privacy=privacy,
        suppression_limit=0.2 if "beta" in str(privacy) else 0,
        algorithm={"name": "danonyir", **algorithm},
    )


@some(1)
@pytest.mark.parametrize("privacy", MODELS, ids="+".join)
def test_copies_of_persons_are_released(tmp_path: Path, privacy: dict[str, Any]) -> None:
    """Parts of the partition that no cut divides, split into pieces of all their values."""
    rows = copies(random.Random(7), 20, 12)
    release = runs.run(
        policy(tmp_path, privacy, block_size=16), runs.source(tmp_path, tables.TYPES, rows)
    )
    assert release.verification.passed
    measures = release.measures
    assert measures["persons"] + measures["suppressed_persons"] == 240
