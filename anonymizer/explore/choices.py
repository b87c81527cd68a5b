"""What the desk offers: choices that no policy can have are greyed on the page, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

from anonymizer.algorithms.registry import BY_NAME
from anonymizer.errors import AnonymizerError
from anonymizer.explore.edits import MASK, ROLES, kept_under
from anonymizer.policy import Policy
from anonymizer.policy.columns import MASKS, NEEDED, OPTIONS, Method
from anonymizer.source.masking.masks import DATES, FITTING, WORDS, family_of

ALLOWED = {"format": ("hex", "uuid", "number", "like"), "method": get_args(Method)}
"""The values of options that have a list of them."""
K = {"k_anonymity": 5}
RULES: Mapping[str, Mapping[str, Any]] = {
    "l": {"l_diversity": 2},
    "t": {"t_closeness": {"t": 0.3}},
}
"""Rules that are tried where a column has none of the kind."""
Reasons = dict[str, str]
"""By choice, why it cannot be made; a choice that is not named can be."""


def masks() -> dict[str, Any]:
    """Every mask: its options, each with the values that are allowed (none: any), and the options
    of which one is needed.
    """
    return {
        mask: {
            "options": {name: ALLOWED.get(name) for name in OPTIONS[mask] if name in MASK},
            "either": NEEDED[mask][0] if mask in NEEDED else (),
        }
        for mask in MASKS
    }


def beginnings(sql_type: str) -> dict[str, dict[str, Any]]:
    """By mask, the options with which it begins on a column of a type."""
    family = family_of(sql_type)
    coded = {"at_least": 5}
    text = "removed" if family == "text" else 0
    return {
        "shift": {"within": "30 days"},
        "top_code": coded,
        "bottom_code": coded,
        "round": {"to": "month" if family in DATES else 5},
        "noise": {"share": 0.1},
        "constant": {"value": "2000-01-01" if family in DATES else text},
    }


def flags(types: Mapping[str, str]) -> list[str]:
    """The columns that can mark sensitive cells: booleans with a plain name."""
    return [name for name, kind in types.items() if kind == "BOOLEAN" and name.isidentifier()]


def refused_choices(
    policy: Policy, types: Mapping[str, str], check: Callable[[], None]
) -> dict[str, Any]:
    """The algorithms, roles and rules of every column that would make the policy invalid.

    `types`: the SQL types of all columns of the source. The same checks refuse a change that is
    made. `check` is called between two columns, and may raise to stop.
    """
    given = policy.to_dict()
    columns = given["columns"]
    roles = {}
    for name, kind in types.items():
        check()
        roles[name] = {
            **_reasons(policy, _with_roles(given, columns, name, kind)),
            **{
                mask: f"is for {WORDS.get(mask, 'numbers and dates')}"
                for mask, fitting in FITTING.items()
                if family_of(kind) not in fitting
            },
        }
    algorithms = ((one, {**given, "algorithm": {"name": one}}) for one in BY_NAME)
    now = policy.algorithm.name
    return {
        "algorithms": _reasons(policy, (one for one in algorithms if one[0] != now)),
        "roles": roles,
        "rules": {
            name: _reasons(policy, _with_rules(given, columns, name))
            for name in (*policy.sensitive, *policy.semi_sensitive)
        },
        "when": _reasons(policy, _with_flags(given, columns, policy.quasi, flags(types))),
        "k": _reasons(policy, iter([("k", {**given, "privacy": {**given["privacy"], **K}})])),
    }


def _with_roles(
    given: Mapping[str, Any], columns: Mapping[str, Any], name: str, kind: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    now, begin = columns.get(name, {}), beginnings(kind)
    for role in ROLES:
        if role != now.get("role"):
            column = {**kept_under(role, now), "role": role, **begin.get(role, {})}
            yield role, {**given, "columns": {**columns, name: column}}


def _with_flags(
    given: Mapping[str, Any], columns: Mapping[str, Any], names: Iterable[str], known: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in names:
        others = [flag for flag in known if flag != name]
        if others and not columns[name].get("sensitive_when"):
            column = {**columns[name], "sensitive_when": others[0], "protect": RULES["l"]}
            yield name, {**given, "columns": {**columns, name: column}}


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
