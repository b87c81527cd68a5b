"""Ordered distance is for values that have an order: a hierarchy gives categories none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import AnonymizerError
from tests.runs import policy, published, run, source

GRADES = ("low", "fair", "middle", "good", "high")
"""In the order of the hierarchy's leaves, which is not that of the texts."""
TYPES = {"age": "INTEGER", "grade": "VARCHAR"}


def graded(folder: Path, distance: str, **more: Any) -> Any:
    tree = folder / "grades.csv"
    tree.write_text(
        "".join(f"{g};{'upper' if i > 2 else 'lower'};*\n" for i, g in enumerate(GRADES))
    )
    rule = {"t_closeness": {"t": 0.5, "distance": distance}}
    grade = {"role": "sensitive", "hierarchy": {"file": tree.name}, "protect": rule, **more}
    return policy(folder, {"age": "quasi", "grade": grade})


@pytest.mark.parametrize("kind", [{}, {"kind": "categorical"}], ids=["found", "given"])
def test_categories_with_a_hierarchy_are_refused(tmp_path: Path, kind: dict[str, str]) -> None:
    people = source(tmp_path, TYPES, [(i % 7, GRADES[i % 5]) for i in range(70)])
    with pytest.raises(AnonymizerError) as raised:
        run(graded(tmp_path, "ordered", **kind), people)
    (problem,) = raised.value.problems
    assert problem.path == "columns.grade.protect.t_closeness.distance"
    assert "hierarchical" in (problem.hint or "")
    assert not (tmp_path / "release.duckdb").exists()


def test_the_way_out_works(tmp_path: Path) -> None:
    people = source(tmp_path, TYPES, [(i % 7, GRADES[i % 5]) for i in range(70)])
    assert len(published(run(graded(tmp_path, "hierarchical"), people))) == 70
