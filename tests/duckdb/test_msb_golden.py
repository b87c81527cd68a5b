"""The SQL of msb as it was last approved; `--update-golden` writes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.algorithms.msb.compiling import compile_msb
from anonymizer.algorithms.roles import roles
from anonymizer.compile.environment import folder
from anonymizer.plan import Compute, Guard, Loop, Note, Plan, Step
from anonymizer.profile import TableProfile
from tests.duckdb.msb_policy import DISEASE, PHYSICIAN, policy

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "msb"
PLAIN = {"physician": {"l_diversity": 3}, "disease": {"l_diversity": 3}}
LEVELS = {"physician": PHYSICIAN, "disease": DISEASE}
POLICIES: dict[str, dict[str, Any]] = {
    "exact_mbf": {"protect": PLAIN, "mode": "exact", "strategy": "mbf"},
    "exact_mmdcf_levels": {"protect": LEVELS, "mode": "exact", "publish": {"cells": "typed"}},
    "batched_msdcf_levels": {"protect": LEVELS, "strategy": "msdcf"},
    "persons": {"protect": PLAIN, "person": "who"},
}


def plan(**options: Any) -> Plan:
    made = policy(None, **{key: value for key, value in options.items() if key != "person"})
    if "person" in options:
        made = made.model_copy(update={"person": options["person"]})
    names = {"age": "INTEGER", "sex": "VARCHAR", "physician": "VARCHAR", "disease": "VARCHAR"}
    profile = TableProfile(tuple(names.items()), rows=100, distinct=(10, 2), heights=(0, 0))
    return compile_msb(made, profile, roles(made, profile)).plan("msb")


@pytest.mark.parametrize("name", POLICIES)
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    text = plan(**POLICIES[name]).sql()
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_template_is_covered() -> None:
    used = set()
    for options in POLICIES.values():
        stages = list(plan(**options).stages)
        while stages:
            stage = stages.pop()
            match stage:
                case Step():
                    used.add(stage.template)
                case Guard() | Note() | Compute():
                    used.add(stage.query.template)
                case Loop():
                    stages += [*stage.body, stage.until]
    written = {path.name for path in (folder("templates") / "msb").iterdir()}
    assert {f"msb/{name}" for name in written if not name.startswith("_")} <= used


def test_values_of_the_policy_stay_literals() -> None:
    bad = "x'; drop table people; --"
    rule = {"levels": {0: [bad], 1: ['ä"b']}, "default_level": 1}
    text = plan(protect={"physician": rule, "disease": DISEASE}).sql()
    assert "try_cast('x''; drop table people; --' as VARCHAR)" in text
    assert "x'; drop" not in text


def test_number_of_statements_does_not_grow_with_rows() -> None:
    made = policy(None, protect=LEVELS)
    names = {"age": "INTEGER", "sex": "VARCHAR", "physician": "VARCHAR", "disease": "VARCHAR"}
    counts = set()
    for rows in (100, 10_000_000):
        profile = TableProfile(tuple(names.items()), rows=rows, distinct=(10, 2), heights=(0, 0))
        counts.add(len(compile_msb(made, profile, roles(made, profile)).stages))
    assert len(counts) == 1
