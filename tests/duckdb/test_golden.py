"""The SQL of an algorithm as it was last approved. `tests/frozen` has what policies publish."""

from __future__ import annotations

from pathlib import Path

import pytest

import anonymizer
from tests.duckdb.golden_plans import plans
from tests.duckdb.golden_settings import ROWS, TYPES, WHOLE
from tests.duckdb.plan_steps import steps
from tests.runs import policy, source

GOLDEN = Path(__file__).resolve().parent.parent / "golden"


def test_what_is_compiled_is_what_was_approved(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    text = anonymizer.plan(policy(tmp_path, **WHOLE["mondrian"]), database).sql()
    path = GOLDEN / "mondrian.sql"
    if request.config.getoption("--update-golden"):
        path.write_bytes(text.encode())
    assert text.encode() == path.read_bytes()


@pytest.mark.parametrize(
    "every",
    [pytest.param(4, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.exhaustive)],
)
def test_plans_bind_the_secret_once_and_hold_no_path_and_no_value_of_a_row(
    tmp_path: Path, every: int
) -> None:
    for name, plan in plans(tmp_path, every):
        text = plan.sql()
        assert sum("secret" in step.binds for step in steps(plan.stages)) <= 1, name
        assert text.count("$secret") == 1, name
        assert "/tmp" not in text, name
        if "level" not in name:  # a policy may list values
            assert not [ill for ill in ("flu", "cold", "acne", "gout") if f"'{ill}'" in text], name
