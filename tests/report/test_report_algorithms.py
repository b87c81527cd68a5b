"""A report can be written on a release of every algorithm, with its source and without."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import anonymizer
from anonymizer.review.report import rendered
from anonymizer.review.report.content import collect
from tests.duckdb.test_attack import POLICIES, SOURCE


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_every_algorithm_has_a_report(name: str, tmp_path: Path) -> None:
    source = tmp_path / "source.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(SOURCE)
    policy = POLICIES[name](tmp_path)
    anonymizer.run(policy, source, seed=1)
    for given in (source, None):
        found = collect(policy, source=given)
        assert found.verification.passed
        assert {d.column for d in found.distributions} >= {"age", "town", "sex"}
        for distribution in found.distributions:
            shares = [bar.after or 0 for bar in distribution.bars]
            # what fewer than k have is left out, and shares of small tables are rounded to percent
            assert 0.8 < sum(shares) < 1.2
        for form in ("html", "md", "json"):
            assert len(rendered(found, form)) > 1000
    assert found.before is None
