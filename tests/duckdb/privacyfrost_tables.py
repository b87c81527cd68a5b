"""Small tables with hierarchies for privacyfrost, as policies and as the oracle sees them."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb

from anonymizer.compile import ident
from anonymizer.policy import Policy
from anonymizer.process.secret import Seed
from anonymizer.run.prepare import prepare
from anonymizer.run.verbs import executing
from tests.oracle.privacyfrost import Column, Depths, PrivacyFrost, Rule

Tree = Mapping[Any, Sequence[str]]
"""Every value with its ancestors, the parent first and the root `*` last."""


@dataclass
class Case:
    """A table, its hierarchies, and what the policy asks."""

    rows: list[tuple[Any, ...]]
    """Quasi-identifiers, then the sensitive value."""
    trees: dict[str, Tree]
    k: int = 2
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Further options of the quasi columns by name."""
    protect: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] = field(default_factory=dict)
    policy_options: dict[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return list(self.trees)

    @property
    def kind(self) -> str:
        """The type of the sensitive value."""
        return "integer" if all(isinstance(row[-1], int | None) for row in self.rows) else "varchar"

    def source(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(config={"threads": 1})
        listed = ", ".join(f"{ident(name)} varchar" for name in self.names)
        connection.execute(f"create table people (id integer, {listed}, disease {self.kind})")
        marks = ", ".join("?" for _ in range(len(self.names) + 2))
        connection.executemany(
            f"insert into people values ({marks})",
            [[number, *row] for number, row in enumerate(self.rows)],
        )
        return connection

    def policy(self, folder: Path) -> Policy:
        columns: dict[str, Any] = {"id": {"role": "keep", "acknowledge_unique": True}}
        for number, (name, tree) in enumerate(self.trees.items()):
            path = folder / f"tree_{number}.csv"
            with path.open("w", newline="") as handle:
                csv.writer(handle, delimiter=";").writerows([v, *up] for v, up in tree.items())
            columns[name] = {"role": "quasi", "hierarchy": {"file": str(path)}}
            columns[name] |= self.columns.get(name, {})
        columns["disease"] = {"role": "sensitive", "acknowledge_unique": True}
        if self.protect:
            columns["disease"]["protect"] = self.protect
        return Policy.model_validate(
            {
                "version": 1,
                "source": {"table": "people"},
                "columns": columns,
                "privacy": {"k_anonymity": self.k},
                "algorithm": {"name": "privacyfrost", **self.algorithm},
                "publish": {"name": "safe"},
                **self.policy_options,
            }
        )

    def oracle(self, rule: Rule | None = None) -> PrivacyFrost:
        described = []
        for name, tree in self.trees.items():
            options = self.columns.get(name, {})
            described.append(
                Column(
                    {value: (*reversed(up), value) for value, up in tree.items()},
                    Fraction(str(options.get("priority", 1))),
                    options.get("minimum_level", 0),
                )
            )
        options = self.algorithm
        return PrivacyFrost(
            rows=[row[:-1] for row in self.rows],
            sensitive=[row[-1] for row in self.rows],
            columns=described,
            k=self.k,
            rule=rule or (lambda values, table: True),
            score=options.get("score", "basic"),
            d=Fraction(str(options.get("d", 2))),
            p=options.get("p", 0),
            tie_break=options.get("tie_break", "none") == "sum",
            resume=options.get("resume", True),
            limit=self.policy_options.get("suppression_limit", 0.0),
        )


@dataclass(frozen=True)
class Found:
    """What the statements found: tables in the order taken, the classes, the score."""

    search: list[dict[str, Any]]
    classes: dict[frozenset[int], Depths]
    """Numbers of rows, and the depths at which they are published."""
    score: Any

    @property
    def best(self) -> tuple[int, ...]:
        """The depths of the last table that was taken as the best."""
        taken = [t for t in self.search if t["taken"] and t["verdict"] == "holds"]
        return tuple(taken[-1]["levels"].values())

    @property
    def best_score(self) -> Any:
        taken = [t for t in self.search if t["taken"] and t["verdict"] == "holds"]
        return taken[-1]["score"]


def searched(case: Case, folder: Path) -> Found:
    """Run the stages of the algorithm, without publishing. Raises what a run would raise."""
    policy = case.policy(folder)
    heights = [len(next(iter(tree.values()))) for tree in case.trees.values()]
    with (
        case.source() as source,
        executing(policy, source, "duckdb", seed=Seed.test(1)) as (session, executor),
    ):
        compiled = prepare(policy, session, executor).compiled
        executor.run(compiled.stages)
        told = {
            found.name: found.tell(session.engine.execute(found.query.statement(), found.name))
            for found in compiled.findings
        }
        levels = ", ".join(f"l{i}" for i in range(1, len(heights) + 1))
        joined = " and ".join(f"u.c{i} = r.c{i}" for i in range(1, len(heights) + 1))
        rows = session.engine.raw(
            f"select list(s.k1), {levels} from coded r join snapshot s on s.rowid = r.row_ref"
            f" join units u on {joined} join members m using (unit)"
            f" join class_levels using (class_id) group by m.class_id, {levels}",
            "test",
        )
    classes = {
        frozenset(ids): tuple(h - level for h, level in zip(heights, row, strict=True))
        for ids, *row in rows
    }
    return Found(told["search"], classes, told["published_levels"]["score"])


def random_tree(draw: random.Random, values: Sequence[str]) -> dict[str, list[str]]:
    """A tree over values: one to three levels, nodes of unequal size."""
    height = draw.randint(1, 3)
    paths: dict[str, list[str]] = {value: [] for value in values}
    parts: list[list[str]] = [list(values)]
    levels: list[list[list[str]]] = []
    for _ in range(height - 1):
        divided = []
        for part in parts:
            cut = draw.randint(0, len(part))
            divided += [half for half in (part[:cut], part[cut:]) if half]
        parts = divided
        levels.append(parts)
    for number, level in reversed(list(enumerate(levels))):
        for at, part in enumerate(level):
            for value in part:
                paths[value].append(f"g{number}.{at}")
    return {value: [*up, "*"] for value, up in paths.items()}


def random_case(draw: random.Random, **options: Any) -> Case:
    """A random table of two or three columns with NULLs here and there."""
    trees: dict[str, Tree] = {}
    columns: dict[str, dict[str, Any]] = {}
    for number in range(draw.randint(2, 3)):
        name = f"q{number}"
        trees[name] = random_tree(draw, [f"v{i}" for i in range(draw.randint(2, 7))])
        columns[name] = {"priority": draw.choice([1, 1, 2, 5, 0.5])}
        height = len(next(iter(trees[name].values())))
        if draw.random() < 0.15:
            columns[name]["minimum_level"] = draw.randint(0, min(1, height))
    weights = {name: [draw.random() ** 2 + 0.02 for _ in tree] for name, tree in trees.items()}
    nulls = draw.choice([0, 0, 0.15])
    rows = []
    for _ in range(draw.randint(4, 40)):
        values: list[Any] = [
            None if draw.random() < nulls else draw.choices(list(tree), weights[name])[0]
            for name, tree in trees.items()
        ]
        values.append(None if draw.random() < nulls else draw.choice("abcde"))
        rows.append(tuple(values))
    algorithm = {
        "score": draw.choice(["basic", "eta", "log"]),
        "d": draw.choice([1, 2, 3.5]),
        "p": draw.choice([0, 0, 2]),
        "tie_break": draw.choice(["none", "sum"]),
    }
    k = draw.choice([2, 2, 3, 5])
    algorithm["resume"] = draw.random() < 0.5
    return Case(rows, trees, k, columns, algorithm={**algorithm, **options})
