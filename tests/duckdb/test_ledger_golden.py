"""The SQL of the ledger and of releases that continue earlier ones, as it was last approved.

`--update-golden` writes it anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.compile import Statement, render
from anonymizer.compile.environment import folder
from anonymizer.errors import GuaranteeError
from anonymizer.ledger import compare, keeper
from anonymizer.plan import Plan
from tests.duckdb.test_golden_plans import DIVERSE, ROWS, TYPES, columns, semi, steps
from tests.runs import policy, run, source

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "ledger"
PLANS: dict[str, dict[str, Any]] = {
    "m_invariant": {
        "columns": columns(ill={"role": "sensitive", "protect": {"l_diversity": 3}}, ward="drop"),
        "key": "visit",
        "privacy": {},
        "k": None,
        "republish": {"m": 3},
    },
    "append_only": {"columns": columns(), "key": "visit", "republish": {"append_only": True}},
}
RUNS: dict[str, dict[str, Any]] = {
    "classes": {
        "columns": columns(
            ill={"role": "sensitive", "protect": DIVERSE},
            cost={"role": "keep", "acknowledge_unique": True},
        ),
        "key": "visit",
    },
    "buckets_of_persons": {
        "columns": columns(
            visit="drop",
            sex=semi(sensitive_when="age < 25"),
            ill={"role": "sensitive", "protect": DIVERSE},
        ),
        "algorithm": {"name": "lgb"},
        "person": "patient",
    },
}


def approved(name: str, text: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    place = tmp_path_factory.mktemp("golden")
    database = source(place, TYPES, ROWS)
    return {
        name: anonymizer.plan(policy(place, ledger="private.duckdb", **given), database)
        for name, given in PLANS.items()
    }


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_that_continues_releases_is_the_approved_one(
    plans: dict[str, Plan], name: str, request: pytest.FixtureRequest
) -> None:
    approved(name, plans[name].sql(), request)


@pytest.mark.parametrize("name", RUNS)
def test_what_the_ledger_asks_of_a_second_release_is_the_approved_text(
    tmp_path: Path,
    name: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    database = source(tmp_path, TYPES, ROWS)
    given = policy(tmp_path, ledger="private.duckdb", **RUNS[name])
    run(given, database, seed=None)
    texts: list[str] = []

    def recorded(rendering: Callable[..., Statement]) -> Callable[..., Statement]:
        def wrapped(template: str, parameters: Any, *rest: Any) -> Statement:
            made = rendering(template, parameters, *rest)
            texts.append(f"-- {template}\n{made.text};\n")
            return made

        return wrapped

    for module in (keeper, compare):
        monkeypatch.setattr(module, "render", recorded(render))
    with suppress(GuaranteeError):  # a refusal comes after all of it was asked
        run(given, database, seed=None)
    approved(name, "\n".join(texts), request)


def test_every_template_of_ledger_and_republish_is_approved(plans: dict[str, Plan]) -> None:
    used = {step.template for plan in plans.values() for step in steps(plan.stages)}
    for name in RUNS:
        text = (GOLDEN / f"{name}.sql").read_text(encoding="utf-8")
        used |= set(re.findall(r"^-- (\S+\.sql\.j2)$", text, re.MULTILINE))
    whole = {
        f"{path.parent.name}/{path.name}"
        for name in ("ledger", "republish")
        for path in (folder("templates") / name).glob("*.sql.j2")
        if not path.name.startswith("_")
    }
    assert whole - used == set()
