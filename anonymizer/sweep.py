"""A policy run over a grid of its options: risk against utility, and the Pareto front.

Every point of the grid is compiled, run, judged like any release, and thrown away; nothing is
published. What does not differ between points (the snapshot, hierarchies, codes, distinct tuples)
is made once: a statement whose text and inputs are those that its table holds already is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from anonymizer.algorithms.compiled import STAGED, staged_values
from anonymizer.compile import Table
from anonymizer.engines.duckdb import Limits
from anonymizer.errors import AnonymizerError, PolicyError, Problem
from anonymizer.execute import Executor
from anonymizer.pipeline import prepare
from anonymizer.plan import Compute, Row, Step
from anonymizer.policy import Policy
from anonymizer.release.judge import judge
from anonymizer.release.source_checks import (
    counterfeits,
    published_paths,
    release_measures,
    stage_link,
    suppression,
)
from anonymizer.seed import Seed
from anonymizer.session import Database, Session, open_session
from anonymizer.verify import requirements_of, with_paths

MOST_POINTS = 100
OPTION = "--vary"
SHORT = {"k": ("privacy", "k_anonymity"), "algorithm": ("algorithm", "name")}
RULES = {"l": "l_diversity", "t": "t_closeness"}


@dataclass(frozen=True, slots=True)
class Point:
    """One combination of options and what it gives."""

    options: dict[str, Any]
    holds: bool = False
    risk: float | None = None
    """Mean chance of picking the right row (person) in its class."""
    largest_risk: float | None = None
    loss: float | None = None
    """NCP per quasi-identifying cell, suppressed rows included: 0 exact, 1 nothing left."""
    suppressed: float | None = None
    """Share of rows (persons) left out."""
    classes: int | None = None
    seconds: float | None = None
    shared: int = 0
    """Statements that an earlier point had run already."""
    best: bool = False
    """On the Pareto front: no other point has less risk and less loss."""
    problem: str | None = None

    @property
    def name(self) -> str:
        return ", ".join(f"{k}={v}" for k, v in self.options.items())

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class SharedExecutor(Executor):
    """Leaves out a statement whose table holds its result already.

    A table's content is known by the text that made it and by the contents that text read.
    """

    held: dict[tuple[str, ...], object] = field(default_factory=dict)
    left_out: int = 0

    def _step(
        self, step: Step, stage: str, number: int, of: int, round_: int | None = None
    ) -> list[Row]:
        statement = step.statement()
        if statement.kind == "query":
            return Executor._step(self, step, stage, number, of, round_)
        inputs = tuple(sorted((table, self.held.get(table)) for table in statement.reads))
        key = hash((statement.text, repr(inputs)))
        (target,) = statement.writes
        if statement.kind == "create" and self.held.get(target) == key:
            self.left_out += 1
            return []
        before = self.held.pop(target, None)
        rows = Executor._step(self, step, stage, number, of, round_)
        self.held[target] = key if statement.kind == "create" else hash((before, key))
        return rows

    def _compute(self, compute: Compute, stage: str, number: int, of: int) -> None:
        Executor._compute(self, compute, stage, number, of)
        from anonymizer.compile import ident

        # what Python computed is known by nothing but itself
        self.held[(ident(compute.target).text,)] = object()


def sweep(
    policy: Policy,
    database: Database = None,
    *,
    vary: Sequence[str],
    seed: int = 0,
    limits: Limits | None = None,
) -> list[Point]:
    """Every combination of the options in `vary`, as in `k=2,5,10`, `algorithm.split=loss,median`.

    `k`, `l`, `t`, `algorithm` are short for the table's k, the rules of all sensitive columns that
    have one, and the algorithm's name; every other name is a path in the policy. Points that cannot
    work say why. Raises PolicyError for options that cannot be read.
    """
    grid = _grid(vary)
    points: list[Point] = []
    with open_session(policy, database, limits=limits) as session:
        session.engine.binds = {"secret": Seed.test(seed).secret}
        executor = SharedExecutor(session.engine)
        for options in grid:
            points.append(_point(policy, options, session, executor))
    return _marked(points)


def _grid(vary: Sequence[str]) -> list[dict[str, str]]:
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
    import json

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


def _point(
    policy: Policy, options: dict[str, str], session: Session, executor: SharedExecutor
) -> Point:
    began, left_out = time.process_time(), executor.left_out
    try:
        point = _run(varied(policy, options), options, session, executor)
    except AnonymizerError as error:
        return Point(dict(options), problem=str(error.problems[0]))
    return replace(
        point,
        seconds=round(time.process_time() - began, 3),
        shared=executor.left_out - left_out,
    )


def _run(
    policy: Policy, options: dict[str, str], session: Session, executor: SharedExecutor
) -> Point:
    engine = session.engine
    prepared = prepare(policy, session, executor)
    compiled = prepared.compiled
    executor.run(compiled.stages)
    tables: dict[str, Table] = {s.table: staged_values(i) for i, s in enumerate(compiled.separated)}
    executor.run(compiled.writes(STAGED, tables.__getitem__))
    layout = replace(
        compiled.layout,
        tables={column: tables[name].name for column, name in compiled.layout.tables.items()},
    )
    sensitive = {s.column: s for s in prepared.roles.sensitive}
    requirements = tuple(
        with_paths(item, published_paths(engine, sensitive[item.column]))
        if item.parameters.get("distance") == "hierarchical" and item.column in sensitive
        else item
        for item in requirements_of(policy)
    )
    found = suppression(policy, engine, STAGED, layout, counterfeits(engine, compiled))
    holds = judge(engine, STAGED, layout, requirements).passed
    stage_link(engine, compiled, prepared.roles)
    measures = release_measures(requirements, engine, prepared, STAGED, layout, found)
    units = measures["persons"] if policy.person is not None else measures["rows"]
    return Point(
        dict(options),
        holds=holds and found.share <= policy.suppression_limit,
        risk=measures["classes"] / units if units else None,
        largest_risk=1 / measures["class_min"] if measures["class_min"] else None,
        loss=measures["ncp"],
        suppressed=found.share,
        classes=measures["classes"],
    )


def _marked(points: list[Point]) -> list[Point]:
    """The points, those of the Pareto front marked."""

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


def groups(
    points: Sequence[Point],
) -> Iterator[tuple[str, list[tuple[float, float, str]]]]:
    """The points that hold, by all options but the first, for a picture."""
    named: dict[str, list[tuple[float, float, str]]] = {}
    for p in points:
        if p.holds and p.risk is not None and p.loss is not None:
            (first, value), *rest = p.options.items()
            name = ", ".join(f"{k}={v}" for k, v in rest) or first
            named.setdefault(name, []).append((p.risk, p.loss, f"{first}={value}"))
    yield from named.items()
