"""Exact answers through a ratio: what the errors of a report tell of a single hidden value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer.measure.queries import STEPS, step
from anonymizer.review.report import rendered
from anonymizer.review.report.content import collect

HIERARCHY = {"builder": "intervals", "cuts": [25, 35, 45, 55, 65]}
QUERIES = [
    "select sum(age) from people",
    "select avg(age) from people",
    "select sex, sum(age) from people group by sex",
    "select sum(age) from people where sex = 'f'",
    "select sum(age) from people where age between 35 and 44",
    "select sum(age) from people where name = 'target'",
    "select name, sum(age) from people group by name",
    "select sum(age) filter (where name = 'target') from people",
    "select max(age) from people",
    "select count(*) from people where name = 'target'",
    "select count(*) from people where age = 41",
    "select count(*) from people where age = 41 and sex = 'f'",
]


def released(folder: Path, age: int) -> dict[str, Any]:
    """The report, as data, of a release of people of whom one is `age` years old."""
    folder.mkdir()
    source = folder / "source.duckdb"
    with duckdb.connect(str(source), config={"threads": 1}) as connection:
        # ten people of every age: fewer than k, so that intervals are published
        connection.execute(
            "create table people as select 'n' || i as name, 25 + i % 40 as age,"
            " ['f', 'm'][1 + i % 3 % 2] as sex from range(400) r(i)"
            f" union all select 'target', {age}, 'f'"
        )
    policy = anonymizer.Policy.model_validate(
        {
            "version": 1,
            "source": {"table": "people"},
            "columns": {
                "name": {"role": "identifier"},
                "age": {"role": "quasi", "hierarchy": HIERARCHY},
                "sex": {"role": "keep"},
            },
            "privacy": {"k_anonymity": 15},
            "algorithm": {"name": "full_domain"},
            "workload": {"sql": QUERIES},
            "publish": {"name": "released", "database": "release.duckdb"},
        },
        context={"base": folder},
    )  # fmt: skip
    anonymizer.run(policy, source, seed=1)
    report = collect(policy, source=source)
    data = json.loads(json.dumps(report.as_dict(), default=str))
    for form in ("html", "md"):
        text = rendered(report, form)
        for answer in data["workload"]:
            for name in ("mean_error", "median_error", "total_error"):
                assert answer[name] is None or answer[name] in ALLOWED
        assert "0.20454545" not in text
    return {"workload": data["workload"], "query_error": data["query_error"], "risk": data["risk"]}


ALLOWED = {step(error / 1000) for error in range(1001)}


@pytest.mark.slow
def test_the_report_leaves_every_age_of_the_published_interval(tmp_path: Path) -> None:
    """The attacker knows everybody else, the policy, the seed and the report, and runs the tool
    with every candidate: all that the published interval admits give the same report.
    """
    seen = {age: released(tmp_path / str(age), age) for age in range(35, 45, 3)}
    truth = seen[41]
    consistent = {age for age, found in seen.items() if found == truth}
    assert consistent == {35, 38, 41, 44}


@pytest.mark.slow
def test_a_count_query_does_not_answer_membership(tmp_path: Path) -> None:
    for answer in released(tmp_path / "a", 41)["workload"]:
        if "target" in answer["sql"] or "= 41" in answer["sql"]:
            assert answer["problem"] is not None
            assert answer["total_error"] is None


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (0.0, "< 1 %"), (0.00999, "< 1 %"), (0.01, "< 2 %"), (0.049, "< 5 %"), (0.05, "< 10 %"),
        (0.1, "< 20 %"), (0.2, "< 50 %"), (0.5, "50 % or more"), (17.0, "50 % or more"),
        (None, None),
    ],
)  # fmt: skip
def test_steps(error: float | None, shown: str | None) -> None:
    assert step(error) == shown
    assert len(STEPS) == 6
