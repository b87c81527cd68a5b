"""Random tables of persons with several rows, and the state of a run for comparisons."""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from anonymizer import Policy
from anonymizer.engines.duckdb.source import open_session
from anonymizer.engines.execute import Executor
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import Prepared, prepare
from tests import models, runs
from tests.oracle import danonyir as oracle

TYPES = {"who": "INTEGER", "age": "INTEGER", "sex": "VARCHAR", "zip": "VARCHAR", "ill": "VARCHAR"}
COLUMNS: dict[str, Any] = {
    "who": "drop",
    "age": "quasi",
    "sex": "quasi",
    "zip": "quasi",
    "ill": "sensitive",
}
ZIP_TREE: dict[str, Any] = {"role": "quasi", "hierarchy": {"builder": "prefix"}}


@dataclass(frozen=True)
class Person:
    who: int
    age: int | None
    sex: str | None
    zip: str
    ills: tuple[str | None, ...]
    """One per row."""

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for ill in self.ills:
            yield self.who, self.age, self.sex, self.zip, ill


def people(draw: random.Random, count: int, *, nulls: float = 0.1) -> list[Person]:
    """Persons with repeated values, NULLs, and ties."""

    def maybe(value: Any) -> Any:
        return None if draw.random() < nulls else value

    values = draw.randint(4, 9)
    return [
        Person(
            who,
            maybe(draw.randint(20, 20 + draw.choice([3, 30]))),
            maybe(draw.choice("fmx")),
            draw.choice("13") + draw.choice("579") + draw.choice("02"),
            tuple(
                maybe(f"ill {int(min(draw.expovariate(0.5), values))}")
                for _ in range(draw.choice([1, 1, 2, 2, 3]))
            ),
        )
        for who in range(count)
    ]


@contextmanager
def executed(
    policy: Policy, database: Path, seed: int
) -> Iterator[tuple[Prepared, Callable[[str], list[tuple[Any, ...]]]]]:
    """A run up to its classes, and a way to read its work tables."""
    with open_session(policy, database, limits=runs.THRIFTY) as session:
        session.engine.binds = {"secret": Seed.test(seed).secret}
        executor = Executor(session.engine)
        prepared = prepare(policy, session, executor)
        executor.run(prepared.compiled.stages)
        yield prepared, lambda query: session.engine.raw(query, "test")


def attributes(
    persons: list[Person], scale: int, *, tree: bool
) -> list[oracle.Ordered | oracle.Members | oracle.Nodes]:
    """The attributes of persons, in order, as the oracle takes them."""
    ages = [p.age for p in persons if p.age is not None]
    made: list[oracle.Ordered | oracle.Members | oracle.Nodes] = [
        oracle.Ordered(
            [None if p.age is None else oracle.place(p.age, ages, scale) for p in persons],
            len({p.age for p in persons}),
            scale,
        ),
        _members([p.sex for p in persons], scale),
    ]
    if not tree:
        return [*made, _members([p.zip for p in persons], scale)]
    paths = [(p.zip, p.zip[:2], p.zip[:1], "*") for p in persons]
    different = sorted(set(paths))

    def cost(node: Any, level: int) -> int:
        if level == len(paths[0]) - 1:
            return scale
        below: int = sum(path[level] == node for path in different)
        return round((below - 1) * scale / max(len(different) - 1, 1))

    return [*made, oracle.Nodes(paths, cost)]


def exact_scale(persons: list[Person]) -> int:
    """A multiple of the denominators of all losses of the persons."""
    ages = [p.age for p in persons if p.age is not None]
    sizes = [len({p.sex for p in persons}), len({p.zip for p in persons})]
    spans = (max(ages) - min(ages), len({p.age for p in persons}), *(size - 1 for size in sizes))
    return math.prod(max(number, 1) for number in spans)


def _members(values: list[str | None], scale: int) -> oracle.Members:
    numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return oracle.Members([numbers[value] for value in values], len(numbers), scale)


def clustering(
    persons: list[Person], holds: oracle.Holds, *, tree: bool, scale: int | None = None
) -> oracle.Clustering:
    """The oracle on persons in their order, with exact losses unless a scale is given."""
    scale = exact_scale(persons) if scale is None else scale
    made = attributes(persons, scale, tree=tree)
    found = oracle.Clustering(made, [len(p.ills) for p in persons], holds, scale)
    return found.keep_originals(copy.deepcopy(made))


def exact(bound: float) -> Fraction:
    """The bound as it was written."""
    return Fraction(str(bound))


def judge(persons: list[Person], privacy: dict[str, Any]) -> oracle.Holds:
    """Whether a group of persons, by position, holds the guarantees of a policy."""

    def holds(group: list[int]) -> bool:
        values = [ill for i in group for ill in persons[i].ills]
        who = [i for i in group for _ in persons[i].ills]
        classes, people = {0: values}, {0: who}
        for name, given in privacy.items():
            match name:
                case "ir_k" | "k_anonymity":
                    fine = len(group) >= given
                case "ir_kl":
                    k, l = models.ir_kl(classes, people).worst
                    fine = k >= given["k"] and l >= given["l"]
                case "ir_alpha_beta":
                    alpha, beta = models.ir_alpha_beta(classes, people).worst
                    fine = alpha <= exact(given["alpha"]) and beta <= exact(given["beta"])
                case "eir_l":
                    fine = models.eir_l(classes, people).worst >= given
                case "eir_alpha_beta":
                    alpha, beta = models.eir_alpha_beta(classes, people).worst
                    fine = alpha <= exact(given["alpha"]) and beta <= exact(given["beta"])
                case _:
                    raise ValueError(name)
            if not fine:
                return False
        return True

    return holds
