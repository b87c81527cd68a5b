"""Every template has a purpose and a use, and what a policy says never becomes SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anonymizer
from anonymizer.algorithms.msb.compiler import compile_msb
from anonymizer.compile.sql import Template, folder, templates
from anonymizer.guarantees.requirements import GUARANTEES
from anonymizer.hierarchy import stages
from anonymizer.source.profile import TableProfile
from anonymizer.source.roles import roles
from anonymizer.steps import Plan
from anonymizer.verification.counts_questions import AGAINST_SOURCE, ALONE, SOURCE_DOMINANCE
from tests.duckdb.hierarchy_build import OPTIONS
from tests.duckdb.msb_policy import DISEASE, PHYSICIAN, policy

NAMES = {"age": "INTEGER", "sex": "VARCHAR", "physician": "VARCHAR", "disease": "VARCHAR"}


def msb(rows: int, **options: Any) -> Plan:
    made = policy(None, **options)
    profile = TableProfile(tuple(NAMES.items()), rows=rows, distinct=(10, 2), heights=(0, 0))
    return compile_msb(made, profile, roles(made, profile)).plan("msb")


def test_every_template_is_named_by_the_code_or_by_a_template() -> None:
    """A template that nothing names is a leftover."""
    package = Path(anonymizer.__file__).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py")))
    # families are named by their stems: "halves", f"verify/{rule}" with rule = "alpha"
    named = set(re.findall(r'["/](\w+)"', code))
    families = re.findall(r"/(\w+_)\{", code)
    checks = {
        SOURCE_DOMINANCE,
        *AGAINST_SOURCE,
        *(name for some in ALONE.values() for name in some),
    }
    named |= {f"counts_{name}" for name in checks}
    asked = [ask.template for guarantee in GUARANTEES for ask in guarantee.asks]
    families += [template.partition("{")[0] for template in asked if "{" in template]
    texts = "\n".join(one.text for _, one in every())
    left = []
    for name, _ in every():
        # a variant of a template for another engine is named after it, as in coded.postgres
        stem = name.rpartition("/")[2].partition(".")[0]
        family = any(stem.startswith(prefix) for prefix in families)
        if stem not in named and not family and f'"{name}"' not in texts:
            left.append(name)
    assert left == []


def every() -> Iterator[tuple[str, Template]]:
    root = folder("templates")
    paths = {path.relative_to(root).with_suffix("") for path in root.rglob("*.sql")}
    for place in sorted({(path.parts[0]) for path in paths}):
        for name, template in templates(place).items():
            yield f"{place}/{name}", template


def test_every_template_says_what_it_is_for() -> None:
    for name, template in every():
        assert template.purpose or name.partition("/")[2].startswith("_"), name


def test_texts_in_a_hierarchy_stay_literals() -> None:
    spec = OPTIONS.validate_python({"builder": "order", "values": ["'; drop table x; --", 'ä"b']})
    plan = Plan("x", stages(1, "VARCHAR", "categorical", spec, column="x'\"", base=Path()))
    assert "drop table" not in plan.sql(), "listed values are data, not text of a statement"


def test_values_of_levels_stay_literals() -> None:
    bad = "x'; drop table people; --"
    rule = {"levels": {0: [bad], 1: ['ä"b']}, "default_level": 1}
    text = msb(100, protect={"physician": rule, "disease": DISEASE}).sql()
    assert "try_cast('x''; drop table people; --' as VARCHAR)" in text
    assert "x'; drop" not in text


def test_number_of_statements_does_not_grow_with_rows() -> None:
    protect = {"physician": PHYSICIAN, "disease": DISEASE}
    assert len({len(msb(rows, protect=protect).stages) for rows in (100, 10_000_000)}) == 1
