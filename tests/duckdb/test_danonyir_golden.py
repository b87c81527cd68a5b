"""The SQL of the person algorithms as it was last approved; `--update-golden` writes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.plan import Plan
from tests import danonyir_tables as tables
from tests import runs
from tests.duckdb.test_golden_plans import GOLDEN, steps, templates
from tests.duckdb.test_persons_algorithms import TREES

LIMITS = {"alpha": 0.5, "beta": 0.7}
ROWS = [
    (i // 2, 20 + i // 2 % 9, "fm"[i // 2 % 2], f"1{i // 2 % 4}0", f"ill {i % 5}")
    for i in range(48)
]
POLICIES: dict[str, dict[str, Any]] = {
    "danonyir_eir_l": {
        "columns": {**tables.COLUMNS, "zip": tables.ZIP_TREE},
        "privacy": {"eir_l": 3},
        "algorithm": {"name": "danonyir"},
    },
    "danonyir_alpha_beta": {
        "columns": tables.COLUMNS,
        "privacy": {"eir_alpha_beta": LIMITS, "eir_l": 2},
        "algorithm": {"name": "danonyir", "block_size": "all"},
        "merge_person_rows": True,
    },
    "geneir": {
        "columns": TREES,
        "privacy": {"ir_alpha_beta": LIMITS, "eir_l": 2},
        "algorithm": {"name": "geneir"},
    },
    "geneir_eir_l": {
        "columns": TREES,
        "privacy": {"eir_l": 3},
        "algorithm": {"name": "geneir"},
    },
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    folder = tmp_path_factory.mktemp("golden")
    database = runs.source(folder, tables.TYPES, ROWS)
    return {
        name: anonymizer.plan(runs.policy(folder, k=None, person="who", **given), database)
        for name, given in POLICIES.items()
    }


@pytest.mark.parametrize("name", POLICIES)
def test_a_plan_is_the_approved_one(
    plans: dict[str, Plan], name: str, request: pytest.FixtureRequest
) -> None:
    text = plans[name].sql()
    path = Path(GOLDEN) / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert text.count("$secret") == 1
    assert "'ill " not in text


def test_every_template_of_the_person_algorithms_is_in_some_approved_plan(
    plans: dict[str, Plan],
) -> None:
    used = {step.template for plan in plans.values() for step in steps(plan.stages)}
    own = templates("danonyir", "geneir", "persons")
    whole = {name for name in own if not name.split("/")[1].startswith("_")}
    assert whole - used == set()
