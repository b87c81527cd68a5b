"""The SQL of every builder as it was last approved; `--update-golden` writes it anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anonymizer.compile import Table
from anonymizer.compile.environment import folder
from anonymizer.hierarchy import stages
from anonymizer.hierarchy.distortion import distortion
from anonymizer.hierarchy.exchange import export_table
from anonymizer.plan import Plan, Stage, Step
from tests.duckdb.hierarchy_build import OPTIONS

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "hierarchy"

SPECS: dict[str, tuple[dict[str, Any], str, str]] = {
    "conventional": ({"builder": "conventional", "min_width": 10}, "SMALLINT", "numeric"),
    "conventional_decimal": (
        {"builder": "conventional", "domain": [0, 9.9]},
        "DECIMAL(3,1)",
        "numeric",
    ),
    "conventional_timestamp": ({"builder": "conventional"}, "TIMESTAMP", "date"),
    "conventional_double": ({"builder": "conventional"}, "DOUBLE", "numeric"),
    "divisor_chain": ({"builder": "divisor", "min_width": 10}, "SMALLINT", "numeric"),
    "divisor_independent": ({"builder": "divisor", "mode": "independent"}, "DOUBLE", "numeric"),
    "divisor_given": ({"builder": "divisor", "divisors": [5, 10]}, "INTEGER", "numeric"),
    "cardinality": ({"builder": "cardinality", "min_width": 10}, "SMALLINT", "numeric"),
    "cardinality_double": ({"builder": "cardinality"}, "DOUBLE", "numeric"),
    "on_the_fly": ({"builder": "on_the_fly"}, "INTEGER", "numeric"),
    "intervals": (
        {"builder": "intervals", "cuts": [20, 40], "bottom": 18, "top": 80},
        "SMALLINT",
        "numeric",
    ),
    "date": ({"builder": "date"}, "DATE", "date"),
    "prefix": ({"builder": "prefix"}, "VARCHAR", "categorical"),
    "suffix": ({"builder": "suffix", "lengths": [4, 2]}, "VARCHAR", "categorical"),
    "frequency": ({"builder": "frequency"}, "VARCHAR", "categorical"),
    "order": ({"builder": "order", "values": ["low", "high"]}, "VARCHAR", "categorical"),
    "taxonomy": ({"table": "codes"}, "VARCHAR", "categorical"),
}


def compiled(name: str) -> tuple[Stage, ...]:
    if name == "distortion":
        return (
            distortion(1, "SMALLINT", "divisor"),
            distortion(1, "SMALLINT", "divisor", published=True),
            distortion(1, "SMALLINT", "conventional", published=True),
            distortion(1, "VARCHAR", "prefix"),
        )
    if name == "export":
        return (export_table(1, 2, Table("kept"), bounds=True),)
    spec, sql_type, kind = SPECS[name]
    options = OPTIONS.validate_python(spec)
    return stages(
        1, sql_type, kind, options, column="x", base=Path(), resolve=lambda name: Table(name, "s")
    )


@pytest.mark.parametrize("name", [*SPECS, "distortion", "export"])
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    text = Plan(name, compiled(name)).sql()
    path = GOLDEN / f"{name}.sql"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_template_is_covered() -> None:
    used = set()
    for name in [*SPECS, "distortion", "export"]:
        for stage in compiled(name):
            step = stage if isinstance(stage, Step) else getattr(stage, "query", None)
            assert isinstance(step, Step)
            used.add(step.template)
    written = {f"hierarchy/{path.name}" for path in (folder("templates") / "hierarchy").iterdir()}
    # read when a hierarchy is exported, shown, or asked for its shape
    asked = ("export_rows", "show_nodes", "shape")
    assert written - used == {f"hierarchy/{name}.sql.j2" for name in asked}


def test_texts_in_the_policy_stay_literals() -> None:
    spec = OPTIONS.validate_python({"builder": "order", "values": ["'; drop table x; --", 'ä"b']})
    plan = Plan("x", stages(1, "VARCHAR", "categorical", spec, column="x'\"", base=Path()))
    assert "drop table" not in plan.sql(), "listed values are data, not text of a statement"
