"""The fewest units that anything in a report holds, where the policy names no k."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.review.report.content import collect, floor_of
from tests import runs
from tests.selection import some

COLUMNS: dict[str, Any] = {
    "town": "quasi",
    "disease": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("k", [None, 2, 7])
def test_what_few_have_is_not_shown(tmp_path: Path, k: int | None) -> None:
    """Four people live in a town of their own: fewer than five, and at least two."""
    floor = 5 if k is None else k
    data = [("north" if i % 2 else "south", ("flu", "cold", "hiv")[i % 3]) for i in range(60)]
    data += [("rareville", ("flu", "cold")[i % 2]) for i in range(4)]
    database = runs.source(tmp_path, {"town": "VARCHAR", "disease": "VARCHAR"}, data)
    given = runs.policy(
        tmp_path, COLUMNS, k=k, **({"algorithm": {"name": "msb"}} if k is None else {})
    )
    assert floor_of(given) == floor
    anonymizer.run(given, database, seed=1)
    report = collect(given, source=database)
    assert report.floor == floor
    assert report.as_dict()["shown_from"] == floor
    labels = {bar.label for found in report.distributions for bar in found.bars}
    assert ("rareville" in labels) == (floor <= 4)
    assert {"north", "south"} <= labels or floor > 30
