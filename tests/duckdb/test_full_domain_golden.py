"""The SQL of full_domain as it was last approved; `--update-golden` writes it anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.compile.environment import folder
from anonymizer.plan import Guard, Loop, Note, Plan, Stage, Step
from tests.runs import policy, source

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "plans"
TYPES = {
    "patient": "INTEGER",
    "age": "INTEGER",
    "born": "DATE",
    "zip": "VARCHAR",
    "ward": "VARCHAR",
    "ill": "VARCHAR",
    "cost": "DECIMAL(8,2)",
}
# `patient` determines all that a person is known by; some wards are not known
ROWS = [
    (i // 2, 20 + i // 2 % 9, f"2000-01-{1 + i // 2 % 7:02}", f"101{i // 2 % 8:02}",
     ["A", "B", None][i // 2 % 3], ["flu", "cold", "acne", "gout"][i % 4], i % 5)
    for i in range(32)
]  # fmt: skip
QUASI: dict[str, dict[str, Any]] = {
    "age": {"builder": "divisor", "mode": "independent"},
    "born": {"builder": "date"},
    "zip": {"builder": "prefix"},
    "ward": {"builder": "frequency"},
}
PERSONS: dict[str, Any] = {"person": "patient"}
PLANS: dict[str, dict[str, Any]] = {
    "full_domain_ncp": {
        "protect": {"ill": {"l_diversity": 2}},
        "algorithm": {"optimum": "ncp"},
        "suppression_limit": 0.1,
    },
    "full_domain_c_dm_persons": {
        "protect": {},
        "algorithm": {"optimum": "c_dm"},
        "publish": {"cells": "typed"},
        **PERSONS,
    },
    "full_domain_t": {
        "protect": {
            "ill": {"t_closeness": 0.4},
            "cost": {"t_closeness": {"t": 0.4, "distance": "ordered"}},
        },
        "algorithm": {"optimum": "glm"},
        "suppression_limit": 0.2,
    },
}


def columns(protect: dict[str, Any]) -> dict[str, Any]:
    roles: dict[str, Any] = {"patient": "drop", "ill": "drop", "cost": "drop"}
    roles |= {name: {"role": "quasi", "hierarchy": tree} for name, tree in QUASI.items()}
    return roles | {
        name: {"role": "sensitive", "protect": asked} for name, asked in protect.items()
    }


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    place = tmp_path_factory.mktemp("full_domain")
    database = source(place, TYPES, ROWS)
    found = {}
    for name, given in PLANS.items():
        rest = dict(given)
        roles = columns(rest.pop("protect"))
        algorithm = {"name": "full_domain", **rest.pop("algorithm")}
        found[name] = anonymizer.plan(policy(place, roles, algorithm=algorithm, **rest), database)
    return found


def steps(stages: tuple[Stage, ...]) -> Iterator[Step]:
    for stage in stages:
        match stage:
            case Step():
                yield stage
            case Guard() | Note():
                yield stage.query
            case Loop():
                yield from steps(stage.body)
                yield stage.until


def own_steps(plan: Plan) -> list[Step]:
    """The steps of the lattice and of what every column is published as."""
    return [
        step
        for step in steps(plan.stages)
        if step.template.startswith("lattice/") or step.template == "prepare/domain.sql.j2"
    ]


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_the_approved_one(
    plans: dict[str, Plan], name: str, request: pytest.FixtureRequest
) -> None:
    text = "\n\n".join(
        f"-- {step.name}: {step.purpose}\n{step.statement().text};"
        for step in own_steps(plans[name])
    )
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


def test_every_template_is_in_some_approved_plan(plans: dict[str, Plan]) -> None:
    """But for the one that the command `lattice` reads all nodes with."""
    used = {step.template for plan in plans.values() for step in own_steps(plan)}
    root = folder("templates") / "lattice"
    present = {f"lattice/{path.name}" for path in root.glob("*.sql.j2") if path.name[0] != "_"}
    assert present - used == {"lattice/table.sql.j2"}
