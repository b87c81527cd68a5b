"""The SQL of privacyfrost as it was last approved; `--update-golden` writes it anew."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.algorithms.privacyfrost import partial
from anonymizer.compile.environment import folder
from anonymizer.plan import Guard, Loop, Plan, Step
from tests.duckdb.privacyfrost_tables import Case, random_tree

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "plans"
PLANS: dict[str, dict[str, Any]] = {
    "privacyfrost_recursive": {"presampling_k": 2, "tie_break": "sum"},
    "privacyfrost_driven": {"score": "log"},
    "privacyfrost_full_domain": {"score": "eta", "d": 3.5, "partial_domain": False},
}
PROTECT = {"privacyfrost_driven": {"t_closeness": {"t": 0.5, "distance": "ordered"}}}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    draw = random.Random(5)
    trees = {name: random_tree(draw, ["a", "b", "c", "d"]) for name in ("place", "job")}
    rows = [(*draw.choices("abcd", k=2), draw.choice(["Flu", "HIV"])) for _ in range(40)]
    found = {}
    with pytest.MonkeyPatch.context() as changed:
        for name, options in PLANS.items():
            case = Case(rows, dict(trees), columns={"job": {"priority": 2.5}}, algorithm=options)
            case.protect = PROTECT.get(name, {"l_diversity": 2})
            if name in PROTECT:  # an order: numbers
                case.rows = [(*row[:-1], 1 + (row[-1] == "HIV")) for row in rows]
            changed.setattr(partial, "RECURSIVE_UP_TO", 0 if "driven" in name else 1000)
            with case.source() as source:
                given = case.policy(tmp_path_factory.mktemp(name))
                found[name] = anonymizer.plan(given, source)
    return found


def own_steps(plan: Plan) -> list[Step]:
    """The steps whose templates are privacyfrost's."""
    steps: list[Step] = []
    for stage in plan.stages:
        match stage:
            case Step():
                steps.append(stage)
            case Guard():
                steps.append(stage.query)
            case Loop():
                steps += [step for step in (*stage.body, stage.until) if isinstance(step, Step)]
    return [step for step in steps if step.template.startswith("privacyfrost/")]


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_the_approved_one(
    plans: dict[str, Plan], name: str, request: pytest.FixtureRequest
) -> None:
    steps = own_steps(plans[name])
    text = "\n\n".join(f"-- {step.name}\n{step.statement().text};" for step in steps) + "\n"
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_template_is_in_some_approved_plan(plans: dict[str, Plan]) -> None:
    """But for those that read what the manifest keeps."""
    used = {step.template for plan in plans.values() for step in own_steps(plan)}
    present = {
        f"privacyfrost/{path.name}"
        for path in (folder("templates") / "privacyfrost").glob("*.sql.j2")
        if not path.name.startswith("_")
    }
    assert present - used == {"privacyfrost/tables.sql.j2", "privacyfrost/final.sql.j2"}
