"""The grid of a sweep: options of a policy, and the policy with them set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import Policy

MOST_POINTS = 100
OPTION = "--vary"
SHORT = {"k": ("privacy", "k_anonymity"), "algorithm": ("algorithm", "name")}
RULES = {"l": "l_diversity", "t": "t_closeness"}


def combinations(vary: Sequence[str]) -> list[dict[str, str]]:
    """Every combination of `NAME=VALUE,VALUE`. Raises PolicyError for what cannot be read."""
    names: list[tuple[str, list[str]]] = []
    problems: list[Problem] = []
    for text in vary:
        name, equals, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not equals or not listed:
            hint = "--vary k=2,5,10 --vary algorithm.split=loss,median"
            problems.append(Problem(OPTION, "is not NAME=VALUE,VALUE", hint=hint))
        names.append((name.strip(), listed))
    found = [
        dict(zip([name for name, _ in names], values, strict=True))
        for values in product(*(listed for _, listed in names))
    ]
    if not problems and len(found) > MOST_POINTS:
        problems.append(Problem(OPTION, f"makes {len(found)} runs", allowed=f"up to {MOST_POINTS}"))
    if problems or not names:
        raise PolicyError(problems or Problem(OPTION, "is missing", hint="--vary k=2,5,10"))
    return found


def varied(policy: Policy, options: Mapping[str, str]) -> Policy:
    """The policy with some options set. Raises PolicyError where it is none then."""
    given: dict[str, Any] = deepcopy(policy.to_dict())
    for name, text in options.items():
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if name in RULES:
            _set_rule(given, RULES[name], value)
            continue
        path = SHORT.get(name, tuple(name.split(".")))
        if path == ("algorithm", "name") and value != policy.algorithm.name:
            given["algorithm"] = {"name": value}
            continue
        place = given
        for part in path[:-1]:
            inner = place.get(part)
            place[part] = inner if isinstance(inner, dict) else {}
            place = place[part]
        place[path[-1]] = value
    return Policy.model_validate(given, context={"base": policy.base})


def _set_rule(given: dict[str, Any], rule: str, value: object) -> None:
    columns = [
        column
        for column in given["columns"].values()
        if isinstance(column.get("protect"), dict)
        and (column["protect"].get(rule) is not None or column["role"] == "sensitive")
    ]
    if not columns:
        raise PolicyError(Problem(OPTION, "varies a rule that no column has"))
    for column in columns:
        column["protect"][rule] = value
