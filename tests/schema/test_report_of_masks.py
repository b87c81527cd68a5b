"""The report and the attacks on several tables with masked columns, and what the pages must say."""

from __future__ import annotations

import pytest

from anonymizer import SchemaPolicy
from anonymizer.review.report import rendered
from anonymizer.review.report.content import collect
from tests.schema import hospital

pytestmark = pytest.mark.slow

MASKED = {
    "tables.patients.columns.name": {"role": "token"},
    "tables.patients.columns.birth_date": {"role": "quasi", "bottom_code": "1950-01-01"},
    "tables.visits.columns.cost": {"role": "noise", "share": 0.1},
    "tables.labs.columns.value": {"role": "round", "to": 5},
}


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> SchemaPolicy:
    folder = tmp_path_factory.mktemp("masked")
    policy = hospital.policy(folder, MASKED)
    hospital.run(policy, hospital.write(folder / "source.duckdb"))
    return policy


@pytest.mark.parametrize("source", [False, True])
@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_every_page_tells_masks_seed_and_attacks(
    policy: SchemaPolicy, form: str, source: bool
) -> None:
    path = policy.resolve("source.duckdb") if source else None
    page = rendered(collect(policy, source=path), form)
    for said in (
        "published masked: a token (hex) under a key that the run forgets",
        "published masked: rounded to multiples of 5",
        "read cut off below 1950-01-01",
        "made with a test seed: not for publication",
        "frequency: name has equal tokens",
        "averages: visits.cost has noise",
    ):
        assert said in page, said
