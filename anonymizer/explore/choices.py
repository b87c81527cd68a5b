"""What the desk offers: choices that no policy can have are greyed on the page, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.errors import AnonymizerError
from anonymizer.explore.edits import ROLES, kept_under
from anonymizer.policy import Policy

K = {"k_anonymity": 5}
RULES: Mapping[str, Mapping[str, Any]] = {
    "l": {"l_diversity": 2},
    "t": {"t_closeness": {"t": 0.3}},
}
"""Rules that are tried where a column has none of the kind."""
Reasons = dict[str, str]
"""By choice, why it cannot be made; a choice that is not named can be."""


def refused_choices(policy: Policy, names: list[str], check: Callable[[], None]) -> dict[str, Any]:
    """The algorithms, roles and rules of every column that would make the policy invalid.

    `names`: all columns of the source. The same checks refuse a change that is made. `check` is
    called between two columns, and may raise to stop.
    """
    given = policy.to_dict()
    columns = given["columns"]
    roles = {}
    for name in names:
        check()
        roles[name] = _reasons(policy, _with_roles(given, columns, name))
    algorithms = ((one, {**given, "algorithm": {"name": one}}) for one in BY_NAME)
    now = policy.algorithm.name
    return {
        "algorithms": _reasons(policy, (one for one in algorithms if one[0] != now)),
        "roles": roles,
        "rules": {
            name: _reasons(policy, _with_rules(given, columns, name))
            for name in (*policy.sensitive, *policy.semi_sensitive)
        },
        "k": _reasons(policy, iter([("k", {**given, "privacy": {**given["privacy"], **K}})])),
    }


def _with_roles(
    given: Mapping[str, Any], columns: Mapping[str, Any], name: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    now = columns.get(name, {})
    for role in ROLES:
        if role != now.get("role"):
            column = {**kept_under(role, now), "role": role}
            yield role, {**given, "columns": {**columns, name: column}}


def _with_rules(
    given: Mapping[str, Any], columns: Mapping[str, Any], name: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    now = columns[name].get("protect") or {}
    for rule, wanted in RULES.items():
        if not any(now.get(option) for option in wanted):
            column = {**columns[name], "protect": {**now, **wanted}}
            yield rule, {**given, "columns": {**columns, name: column}}


def _reasons(policy: Policy, tried: Iterator[tuple[str, dict[str, Any]]]) -> Reasons:
    found = {}
    for choice, given in tried:
        try:
            Policy.model_validate(given, context={"base": policy.base})
        except AnonymizerError as error:
            first = error.problems[0]
            found[choice] = f"{first.path} {first.message}"
    return found
