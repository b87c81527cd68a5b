"""Defaults that depend on other parts of a policy: presets, release name, msb's levels.

They are applied to the mapping before validation. Malformed parts are left unchanged, so that
the models report them with their path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ValidationError

from anonymizer.policy.kinds import CLASSLESS, ENDINGS, kind_of_mapping, option
from anonymizer.policy.publish import Source
from anonymizer.policy.safe_harbor import PRESET

Preset = Literal["internal", "external", "safe_harbor"]
PresetOfTables = Literal["internal", "external"]
"""Presets for several tables."""
PRESETS: dict[str, tuple[int, int]] = {"internal": (5, 2), "external": (11, 3)}
"""k and l by preset; safe_harbor has neither."""
PRESET_SUPPRESSION = 0.05


def fill(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """The mapping with all missing defaults filled in."""
    filled = dict(given)
    _preset(filled)
    if "tables" not in filled:
        _release_name(filled)
        _security_levels(filled)
    return filled


def _preset(policy: dict[Any, Any]) -> None:
    preset = policy.get("preset")
    if preset == PRESET and "tables" not in policy:
        _safe_harbor(policy)
    if not isinstance(preset, str) or preset not in PRESETS:
        return
    k, l_diversity = PRESETS[preset]
    policy.setdefault("suppression_limit", PRESET_SUPPRESSION)
    privacy = policy.get("privacy", {})
    if isinstance(privacy, Mapping) and privacy.get("k_anonymity") is None:
        policy["privacy"] = {**privacy, "k_anonymity": k}
    publish = policy.get("publish", {})
    if isinstance(publish, Mapping) and "bounds" not in publish:
        policy["publish"] = {**publish, "bounds": "grid"}  # nobody's values in public
    rule = {"l_diversity": l_diversity}
    if isinstance(tables := policy.get("tables"), Mapping):
        policy["tables"] = {name: _protected(table, rule) for name, table in tables.items()}
    else:
        policy.update(_protected(policy, rule))


def _safe_harbor(policy: dict[Any, Any]) -> None:
    """Set the algorithm `none` if there are neither guarantees nor quasi-identifiers."""
    privacy, columns = policy.get("privacy"), policy.get("columns")
    listed = columns.values() if isinstance(columns, Mapping) else ()
    grouped = any(option(c, "role") == "quasi" or option(c, "protect") for c in listed)
    if not privacy and not grouped:
        policy.setdefault("algorithm", {"name": CLASSLESS})
    if isinstance(privacy, Mapping) and privacy.get("k_anonymity") is not None:
        policy.setdefault("suppression_limit", PRESET_SUPPRESSION)


def _protected(table: Any, rule: Mapping[str, int]) -> Any:
    """The table, with the rule for every sensitive column without one."""
    columns = table.get("columns") if isinstance(table, Mapping) else None
    if not isinstance(columns, Mapping):
        return table
    ruled = {
        name: {**column, "protect": rule}
        if isinstance(column, Mapping)
        and column.get("role") == "sensitive"
        and column.get("protect") is None
        else column
        for name, column in columns.items()
    }
    return {**table, "columns": ruled}


def _release_name(policy: dict[Any, Any]) -> None:
    publish = policy.get("publish", {})
    if not isinstance(publish, Mapping) or "name" in publish:
        return
    try:
        stem = Source.model_validate(policy.get("source")).stem
    except ValidationError:
        return
    if stem is not None:
        ending = "counts" if "aggregate" in policy else ENDINGS[kind_of_mapping(policy)]
        policy["publish"] = {**publish, "name": f"{stem}_{ending}"}


def _security_levels(policy: dict[Any, Any]) -> None:
    algorithm, columns = policy.get("algorithm"), policy.get("columns")
    if not isinstance(algorithm, Mapping) or not isinstance(columns, Mapping):
        return
    if algorithm.get("name") != "msb" or "security_level_first" in algorithm:
        return
    rules = [c.get("protect") for c in columns.values() if isinstance(c, Mapping)]
    leveled = any(isinstance(rule, Mapping) and rule.get("levels") is not None for rule in rules)
    policy["algorithm"] = {**algorithm, "security_level_first": leveled}
