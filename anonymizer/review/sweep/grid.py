"""The grid of a sweep: options of a policy, and the policy with them set."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from anonymizer.errors import AnonymizerError, PolicyError, PolicyFormError, Problem
from anonymizer.policy import AnyPolicy, Policy
from anonymizer.policy.schema.fields import Knows


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of options and its result."""

    options: dict[str, Any]
    holds: bool = False
    risk: float | None = None
    """Mean probability of picking the right row (person) in its class; with several tables, for an
    observer who also knows some rows (`parts`)."""
    largest_risk: float | None = None
    loss: float | None = None
    """NCP per quasi-identifying cell, including suppressed rows: 0 exact, 1 fully lost. With
    several tables, the NCP of an event cell is added."""
    suppressed: float | None = None
    """Share of suppressed rows (persons)."""
    classes: int | None = None
    seconds: float | None = None
    shared: int = 0
    """Statements that an earlier point had already run."""
    best: bool = False
    """On the Pareto front: no other point has less risk and less loss."""
    problem: str | None = None
    parts: dict[str, Any] | None = None
    """With several tables: what the observer `knows`; `loss_quasi` and `loss_events`, which add up
    to the loss; `rows_left_out`, the share of suppressed rows outside the persons' table."""

    @property
    def name(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self.options.items())

    def as_dict(self) -> dict[str, Any]:
        found = asdict(self)
        parts = found.pop("parts")
        return found | (parts or {})


def timed(options: Mapping[str, str], made: Callable[[], Point]) -> Point:
    """A point with its run time, or with the reason why it failed."""
    began = time.process_time()
    try:
        point = made()
    except AnonymizerError as error:
        return Point(dict(options), problem=str(error.problems[0]))
    return replace(point, seconds=round(time.process_time() - began, 3))


def marked(points: list[Point]) -> list[Point]:
    """Mark the points of the Pareto front."""

    def beaten(point: Point) -> bool:
        assert point.risk is not None
        assert point.loss is not None
        return any(
            other.risk <= point.risk
            and other.loss <= point.loss
            and (other.risk, other.loss) != (point.risk, point.loss)
            for other in points
            if other.holds and other.risk is not None and other.loss is not None
        )

    return [
        replace(p, best=p.holds and p.risk is not None and p.loss is not None and not beaten(p))
        for p in points
    ]


def groups(points: Sequence[Point]) -> Iterator[tuple[str, list[tuple[float, float, str]]]]:
    """The points that hold, grouped by all options but the first, for a picture."""
    named: dict[str, list[tuple[float, float, str]]] = {}
    for p in points:
        if p.holds and p.risk is not None and p.loss is not None:
            (first, value), *rest = p.options.items()
            name = ", ".join(f"{k}={v}" for k, v in rest) or first
            named.setdefault(name, []).append((p.risk, p.loss, f"{first}={value}"))
    yield from named.items()


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
