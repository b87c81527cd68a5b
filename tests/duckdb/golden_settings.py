"""One small table, and the settings whose compiled plans are kept whole: one per algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Setting = dict[str, Any]
TYPES = {
    "visit": "INTEGER",
    "patient": "INTEGER",
    "age": "INTEGER",
    "born": "DATE",
    "zip": "VARCHAR",
    "sex": "VARCHAR",
    "ward": "VARCHAR",
    "hide": "BOOLEAN",
    "ill": "VARCHAR",
    "cost": "DECIMAL(8,2)",
}
ILLS = ["flu", "cold", "acne", "gout"]
# `patient` determines all that a person is known by; some wards and dates of birth are not known
ROWS = [
    (i, i // 2, 20 + i // 2 % 9, [None, "2000-01-01", "2000-03-07"][i // 2 % 3],
     f"101{i // 2 % 8:02}", "mf"[i // 2 % 2], ["A", "B", None][i // 2 % 3],
     i % 4 == 0, ILLS[i % 4], i % 5)
    for i in range(32)
]  # fmt: skip
DIVERSE = {"l_diversity": 2}
CLOSE = {"t_closeness": 0.4}
CLOSE_IN_ORDER = {"t_closeness": {"t": 0.4, "distance": "ordered"}}
PREFIX = {"builder": "prefix"}
CLOSE_IN_TREE = {"t_closeness": {"t": 0.4, "distance": "hierarchical"}}
LIMITS = {"alpha": 0.5, "beta": 0.7}


def sensitive(rule: Mapping[str, Any] | None = None, **more: Any) -> Setting:
    return {"role": "sensitive", **({"protect": dict(rule)} if rule else {}), **more}


def tree(builder: str = "prefix", **more: Any) -> Setting:
    return {"role": "quasi", "hierarchy": {"builder": builder, **more}}


def hidden(rule: Mapping[str, Any] = DIVERSE, **more: Any) -> Setting:
    """A quasi-identifier that is sensitive in some rows."""
    return {"role": "quasi", "sensitive_when": "hide", "protect": dict(rule), **more}


def asked(algorithm: str | Setting, columns: Setting, **rest: Any) -> Setting:
    """What `policy` takes; columns that are not named are dropped."""
    named = {"name": algorithm} if isinstance(algorithm, str) else algorithm
    return {
        "columns": {name: columns.get(name, "drop") for name in TYPES},
        "algorithm": named,
        **({"k": None} if "privacy" in rest else {}),
        **rest,
    }


TWO: Setting = {"age": "quasi", "zip": "quasi"}
UNIQUE: Setting = {"role": "keep", "acknowledge_unique": True}
UNKNOWN_OUT: Setting = {"role": "quasi", "nulls": "suppress"}
TREES: Setting = {"age": tree("conventional"), "zip": tree()}
ONE_TREE: Setting = {"zip": tree()}
KEPT: Setting = {"visit": "identifier", "age": "quasi"}

WHOLE: dict[str, Setting] = {
    "mondrian": asked("mondrian", TWO),
    "lgb": asked("lgb", {"age": "quasi", "ill": sensitive(DIVERSE)}),
    "full_domain": asked("full_domain", ONE_TREE),
    "privacyfrost": asked("privacyfrost", ONE_TREE),
    "msb": asked(
        "msb", {"age": "quasi", "ill": sensitive(DIVERSE), "sex": sensitive(DIVERSE)}, privacy={}
    ),
    "danonyir": asked(
        "danonyir", {"age": "quasi", "ill": "sensitive"}, person="patient", privacy={"ir_k": 2}
    ),
    "geneir": asked(
        "geneir", {**ONE_TREE, "ill": "sensitive"}, person="patient", privacy={"ir_k": 2}
    ),
    "none": asked("none", {"ward": "keep", "ill": "sensitive"}, person="patient", privacy={}),
}
"""One per algorithm."""
