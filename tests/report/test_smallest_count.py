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


def test_what_a_run_warns_of_its_report_warns_of(tmp_path: Path) -> None:
    """Sensitive values that nobody shares, counted in the release alone."""
    rows = [(20 + i % 9, 1_000 + i) for i in range(90)]
    source = runs.source(tmp_path, {"age": "INTEGER", "wage": "INTEGER"}, rows)
    wage = {"role": "sensitive", "protect": {"l_diversity": 2}}
    policy = runs.policy(tmp_path, {"age": "quasi", "wage": wage}, 5)
    (said,) = [one for one in runs.run(policy, source).warnings if "nearly unique" in one]
    assert said in collect(policy).warnings
    assert "90 of 90 values" in said
