"""The SQL of representative policies as it was last approved; `--update-golden` writes it anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.algorithms.mondrian import partition
from anonymizer.compile.environment import folder
from anonymizer.plan import Compute, Guard, Loop, Note, Plan, Stage, Step
from tests.runs import policy, source

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "plans"
TYPES = {
    "visit": "INTEGER",
    "patient": "INTEGER",
    "age": "INTEGER",
    "born": "DATE",
    "zip": "VARCHAR",
    "sex": "VARCHAR",
    "hide": "BOOLEAN",
    "ill": "VARCHAR",
    "cost": "DECIMAL(8,2)",
    "ward": "VARCHAR",
}
# `patient` determines all that a person is known by
ROWS = [
    (i, i // 2, 20 + i // 2 % 9, f"2000-01-{1 + i // 2 % 7:02}", f"101{i // 2 % 8:02}",
     "mf"[i // 2 % 2], i % 4 == 0, ["flu", "cold", "acne", "gout"][i % 4], i % 5, "AB"[i % 2])
    for i in range(32)
]  # fmt: skip
TREE = {"builder": "prefix"}
DIVERSE = {"l_diversity": 2}


def columns(**changes: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "visit": "identifier",
        "patient": "drop",
        "age": "quasi",
        "born": "quasi",
        "zip": {"role": "quasi", "hierarchy": TREE},
        "sex": "quasi",
        "hide": "drop",
        "ill": "sensitive",
        "cost": "drop",
        "ward": "keep",
    }
    return plain | changes


def semi(**more: Any) -> dict[str, Any]:
    return {"role": "quasi", "sensitive_when": "hide", "protect": DIVERSE, **more}


MONDRIAN: dict[str, Any] = {"name": "mondrian"}
LGB: dict[str, Any] = {"name": "lgb"}
POLICIES: dict[str, dict[str, Any]] = {
    "mondrian_recursive": {
        "columns": columns(ill={"role": "sensitive", "protect": DIVERSE}),
        "algorithm": {**MONDRIAN, "loop": "recursive"},
        "key": "visit",
    },
    "mondrian_driven_median": {
        "columns": columns(
            ill={"role": "sensitive", "protect": {"t_closeness": 0.4}},
            cost={
                "role": "sensitive",
                "protect": {"t_closeness": {"t": 0.4, "distance": "ordered"}},
            },
        ),
        "algorithm": {**MONDRIAN, "loop": "driven", "split": "median"},
        "publish": {"cells": "typed"},
    },
    "mondrian_persons": {
        "columns": columns(age={"role": "quasi", "nulls": "suppress"}),
        "algorithm": MONDRIAN,
        "person": "patient",
        "key": "visit",
    },
    "mondrian_identity_reserved": {
        "columns": columns(visit="drop"),
        "algorithm": {**MONDRIAN, "loop": "driven"},
        "person": "patient",
        "k": None,
        "privacy": {"eir_l": 2},
    },
    "mondrian_population": {
        "columns": columns(),
        "algorithm": MONDRIAN,
        "k": None,
        "privacy": {
            "k_map": {"k": 3, "population": "people"},
            "delta_presence": {"min": 0.1, "max": 1, "population": "people"},
        },
    },
    "mondrian_many_rows": {"columns": columns(), "algorithm": MONDRIAN},
    "mondrian_refine": {"columns": columns(), "algorithm": {**MONDRIAN, "refine": 1}},
    "mondrian_relaxed": {
        "columns": columns(age={"role": "quasi", "nulls": "forbid"}),
        "algorithm": {**MONDRIAN, "split": "median", "strict": False},
    },
    "lgb_mdp": {
        "columns": columns(age=semi(), ill={"role": "sensitive", "protect": DIVERSE}),
        "algorithm": {**LGB, "generalization": "mdp"},
    },
    "lgb_ncp": {
        "columns": columns(
            zip=semi(hierarchy=TREE), ill={"role": "sensitive", "protect": {"t_closeness": 0.3}}
        ),
        "algorithm": {**LGB, "generalization": "ncp", "rebalance": True},
        "publish": {"cells": "typed"},
    },
    "lgb_persons": {
        "columns": columns(visit="drop", ill={"role": "sensitive", "protect": DIVERSE}),
        "algorithm": LGB,
        "person": "patient",
    },
    "lgb_tight": {
        "columns": columns(
            sex=semi(protect={"t_closeness": 0.6}), cost={"role": "sensitive", "protect": DIVERSE}
        ),
        "algorithm": {**LGB, "generalization": "loss", "ranges": "tight"},
    },
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    folder_ = tmp_path_factory.mktemp("golden")
    database = source(folder_, TYPES, ROWS)
    found = {}
    for name, given in POLICIES.items():
        with pytest.MonkeyPatch.context() as changed:
            if name == "mondrian_many_rows":
                changed.setattr(partition, "AT_ONCE", 8)
            found[name] = anonymizer.plan(policy(folder_, **given), database)
    return found


@pytest.mark.parametrize("name", POLICIES)
def test_a_plan_is_the_approved_one(
    plans: dict[str, Plan], name: str, request: pytest.FixtureRequest
) -> None:
    text = plans[name].sql()
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", POLICIES)
def test_a_plan_binds_the_secret_once_and_holds_no_path_and_no_row(
    plans: dict[str, Plan], name: str
) -> None:
    text = plans[name].sql()
    assert text.count("$secret") == 1
    assert "/tmp" not in text
    assert not [ill for ill in ("flu", "cold", "acne", "gout") if f"'{ill}'" in text]


def steps(stages: tuple[Stage, ...]) -> Iterator[Step]:
    for stage in stages:
        match stage:
            case Step():
                yield stage
            case Guard() | Note() | Compute():
                yield stage.query
            case Loop():
                yield from steps(stage.body)
                yield stage.until


def templates(*folders: str) -> set[str]:
    root = folder("templates")
    paths = (path for name in folders for path in (root / name).glob("*.sql.j2"))
    return {f"{path.parent.name}/{path.name}" for path in paths}


def test_every_template_of_mondrian_and_lgb_is_in_some_approved_plan(
    plans: dict[str, Plan],
) -> None:
    used = {step.template for plan in plans.values() for step in steps(plan.stages)}
    own = templates("mondrian", "lgb", "cells", "release")
    # (a variant for another engine is in that engine's plans)
    variants = {name for name in own if name.count(".") > 2}
    whole = {name for name in own - variants if not name.split("/")[1].startswith("_")}
    assert whole - used == set()


def test_every_template_is_named_by_the_code_or_by_a_template() -> None:
    """A template that nothing names is a leftover."""
    root = folder("templates")
    package = Path(anonymizer.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py")))
    # families are named by their stems: "halves", f"verify/{rule}.sql.j2" with rule = "alpha"
    named = set(re.findall(r'["/](\w+)(?:\.sql\.j2)?"', code))
    families = re.findall(r"/(\w+_)\{", code)
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.sql.j2")))
    left = []
    for path in sorted(root.rglob("*.sql.j2")):
        name = f"{path.parent.name}/{path.name}"
        # a variant of a template for another engine stands beside it, as in coded.postgres.sql.j2
        stem = path.name.removesuffix(".sql.j2").removesuffix(".postgres").removesuffix(".spark")
        family = any(stem.startswith(prefix) for prefix in families)
        if stem not in named and not family and f'"{name}"' not in text:
            left.append(name)
    assert left == []


def test_every_template_says_what_it_is_for() -> None:
    from anonymizer.compile import header

    for name in sorted(templates(*(p.name for p in folder("templates").iterdir() if p.is_dir()))):
        if not name.split("/")[1].startswith("_"):
            assert header(name).purpose, name
