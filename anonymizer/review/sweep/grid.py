"""The grid of a sweep: options of a policy, and the policy with them set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

from anonymizer.errors import PolicyError, PolicyFormError, Problem
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.schema.model import Knows

MOST_POINTS = 100
OPTION = "--vary"
ALGORITHM = ("algorithm", "name")
SHORT = {
    "k": ("privacy", "k_anonymity"),
    "algorithm": ALGORITHM,
    **{f"knows.{name}": ("privacy", "knows", name) for name in Knows.model_fields},
}
RULES = {"l": "l_diversity", "t": "t_closeness"}
NAMES = "k, l, t, algorithm, or a path in the policy such as algorithm.split"


def combinations(vary: Sequence[str]) -> list[dict[str, str]]:
    """All combinations of `NAME=VALUE,VALUE`. Raises PolicyError for text that cannot be read."""
    names: list[tuple[str, list[str]]] = []
    problems: list[Problem] = []
    for text in vary:
        name, equals, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not equals or not listed:
            hint = "as k=2,5,10, or algorithm.split=loss,median"
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


def check(policy: AnyPolicy, grid: Sequence[Mapping[str, str]]) -> None:
    """Raises PolicyError for names and values that no policy can have, whatever the data.

    Values that only conflict with the rest of the policy are reported by their point.
    """
    options = dict.fromkeys(option for point in grid for option in point.items())
    # the names that exist depend on the algorithm only
    algorithms = [dict([option]) for option in options if _path(option[0]) == ALGORITHM]
    problems: dict[Problem, None] = {}
    for name, text in options:
        found = _form_problem(policy, {name: text})
        if found is not None and _path(name) != ALGORITHM:
            others = ({**algorithm, name: text} for algorithm in algorithms)
            if not all(_form_problem(policy, other) for other in others):
                continue
        if found is not None:
            problems[_as_varied(name, text, found)] = None
    PolicyError.refuse(problems)


def _form_problem(policy: AnyPolicy, options: Mapping[str, str]) -> Problem | None:
    try:
        varied(policy, options)
    except PolicyFormError as error:
        return error.problems[0]
    except PolicyError as error:
        first = error.problems[0]
        return first if first.path == OPTION else None
    return None


def _as_varied(name: str, text: str, found: Problem) -> Problem:
    """Convert a problem of the policy to one of the command line."""
    if found.path == OPTION:
        return Problem(OPTION, f"{name}: {found.message}", found.allowed, found.hint)
    if found.path == name:
        allowed = found.allowed if "." in name else NAMES
        return Problem(OPTION, f"{name} {found.message}", allowed, found.hint)
    return Problem(
        OPTION, f"{name}={text}: {found.path} {found.message}", found.allowed, found.hint
    )


def _path(name: str) -> tuple[str, ...]:
    return SHORT.get(name, tuple(name.split(".")))


def varied(policy: AnyPolicy, options: Mapping[str, str]) -> AnyPolicy:
    """The policy with some options set. Raises PolicyError if the result is invalid."""
    given: dict[str, Any] = deepcopy(policy.to_dict())
    # set the algorithm before its options, because it resets them to its defaults
    for name, text in sorted(options.items(), key=lambda option: _path(option[0]) != ALGORITHM):
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if name in RULES:
            _set_rule(given, RULES[name], value)
            continue
        path = _path(name)
        if path == ALGORITHM and value != policy.algorithm.name:
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
    tables = given["tables"].values() if "tables" in given else [given]
    columns = [
        column
        for table in tables
        for column in table["columns"].values()
        if isinstance(column.get("protect"), dict)
        and (column["protect"].get(rule) is not None or column["role"] == "sensitive")
    ]
    if not columns:
        raise PolicyError.at(OPTION, "varies a rule that no column has")
    for column in columns:
        column["protect"][rule] = value
