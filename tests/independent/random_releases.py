"""Random small tables and random policies over them, for every algorithm that publishes rows."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from zlib import crc32

from anonymizer import Policy
from anonymizer.errors import (
    GuaranteeError,
    InfeasibleError,
    NothingToCheckError,
    PolicyError,
    SourceError,
)
from tests.properties.tables import TEXTS
from tests.runs import policy, source

REFUSALS = (PolicyError, SourceError, InfeasibleError, GuaranteeError, NothingToCheckError)
"""What may stand against a release."""
Options = dict[str, Any]
Draw = Callable[[random.Random], Any]

CODES = ["1011", "1012", "1020", "2010", "20*", '3"0']
DRAWS: dict[str, Draw] = {
    "INTEGER": lambda r: r.choice([-3, -1, 0, 1, 2, 5, 7, 8, 9, 10, 2**31 - 1]),
    "UTINYINT": lambda r: r.choice([0, 1, 2, 3, 250]),
    "BIGINT": lambda r: r.choice([2**63 - 1, -(2**63), 0, 1, 2, 10**15]),
    "DOUBLE": lambda r: r.choice([0.1, 0.30000000000000004, -1e300, 5e-324, 0.0, -0.0, 1.5, 1e17]),
    "FLOAT": lambda r: r.choice([0.5, 0.25, 1.5, -2.0]),
    "DECIMAL(9,2)": lambda r: Decimal(r.randrange(-300, 300)) / 100,
    "DATE": lambda r: dt.date(1999, 12, 28) + dt.timedelta(r.randrange(400)),
    "TIMESTAMP": lambda r: dt.datetime(2000, 1, 1) + dt.timedelta(seconds=r.randrange(200_000)),
    "TIMESTAMP WITH TIME ZONE": lambda r: dt.datetime(
        2000, 1, 1, r.randrange(24), tzinfo=dt.timezone(dt.timedelta(hours=r.choice([0, 2, -7])))
    ),
    "BOOLEAN": lambda r: r.random() < 0.5,
    "VARCHAR": lambda r: r.choice(CODES),
    "TEXT": lambda r: r.choice(TEXTS),
    "ENUM('low', 'mid', 'high')": lambda r: r.choice(["low", "mid", "high"]),
}
ORDERED = tuple(DRAWS)[:9]
HIERARCHIES: dict[str, list[Options]] = {
    "INTEGER": [
        {"builder": "cardinality"},
        {"builder": "on_the_fly"},
        {"builder": "intervals", "cuts": [0, 5, 9]},
    ],
    "UTINYINT": [{"builder": "conventional"}, {"builder": "divisor"}, {"builder": "cardinality"}],
    "DECIMAL(9,2)": [{"builder": "cardinality"}, {"builder": "on_the_fly"}],
    "DATE": [{"builder": "date"}, {"builder": "cardinality"}],
    "TIMESTAMP": [{"builder": "date"}],
    "VARCHAR": [{"builder": "prefix"}, {"builder": "suffix"}, {"builder": "frequency"}],
    "TEXT": [{"builder": "frequency"}, {"builder": "prefix"}],
    "ENUM('low', 'mid', 'high')": [
        {"builder": "frequency"},
        {"builder": "order", "values": ["low", "mid", "high"]},
    ],
}
RULES: list[Options] = [
    {"l_diversity": 2},
    {"l_diversity": 3},
    {"entropy_l": 1.5},
    {"entropy_l": 2},
    {"recursive_cl": {"c": 2, "l": 2}},
    {"recursive_cl": {"c": 1.5, "l": 2}},
    {"t_closeness": 0.5},
    {"alpha": 0.6},
    {"alpha": 0.75},
    {"l_diversity": 2, "alpha": 0.7},
]
ORDERED_RULES: list[Options] = [{"t_closeness": {"t": 0.4, "distance": "ordered"}}]
COMPARED_RULES: list[Options] = [
    {"beta_likeness": 1.5},
    {"beta_likeness": 3},
    {"delta_disclosure": 1.2},
    {"delta_disclosure": 3},
]
LEVELS: Options = {"levels": {0: ["flu"], 1: ["hiv", "flux"]}, "default_level": 1}
IDENTITY: list[Options] = [
    {"ir_k": 2},
    {"ir_kl": {"k": 2, "l": 2}},
    {"ir_alpha_beta": {"alpha": 0.8, "beta": 0.8}},
    {"eir_l": 2},
    {"eir_l": 3},
    {"eir_alpha_beta": {"alpha": 0.8, "beta": 0.8}},
]
ALGORITHMS: dict[str, list[Options]] = {
    "mondrian": [
        {},
        {"split": "median"},
        {"split": "median", "strict": False},
        {"refine": 2},
    ],
    "lgb": [
        {},
        {"generalization": "ncp"},
        {"generalization": "loss", "ranges": "tight"},
        {"small_patterns": "suppress"},
    ],
    "full_domain": [{}, {"optimum": "c_dm"}],
    "privacyfrost": [{}, {"score": "log", "partial_domain": False}],
    "msb": [
        {},
        {"strategy": "mbf", "mode": "exact"},
        {"allow_singletons": True},
        {"generalize": {"k": 2}},
    ],
    "danonyir": [{}, {"block_size": "all"}],
    "geneir": [{}],
}
WITH_TREES = ("full_domain", "privacyfrost", "geneir")


@dataclass
class Drawn:
    """A policy with its source."""

    policy: Policy
    database: Path
    population: Path | None = None


@dataclass
class _Table:
    random: random.Random
    algorithm: str
    types: dict[str, str]
    draws: dict[str, Draw]
    columns: dict[str, Options]

    def add(self, name: str, kind: str, described: Options, nulls: float = 0.0) -> None:
        self.types[name] = "VARCHAR" if kind == "TEXT" else kind
        drawn = DRAWS[kind]
        few = [drawn(self.random) for _ in range(self.random.choice([2, 4, 8, 30]))]
        self.draws[name] = lambda r: None if r.random() < nulls else r.choice(few)
        self.columns[name] = described


def draw(seed: int, folder: Path) -> Drawn:
    """A policy and its table. Raises PolicyError where the options contradict each other."""
    r = random.Random(seed)
    algorithm = r.choice([*ALGORITHMS, "mondrian", "lgb"])
    reserved = algorithm in ("danonyir", "geneir")
    person = reserved or r.random() < 0.4
    table = _Table(r, algorithm, {}, {}, {})
    _quasi(table)
    _sensitive(table)
    k: int | None = r.choice([2, 2, 3])
    rest: Options = {"algorithm": {"name": algorithm, **r.choice(ALGORITHMS[algorithm])}}
    if reserved or (person and algorithm == "mondrian" and r.random() < 0.4):
        rest["privacy"] = r.choice(IDENTITY)
        k = r.choice([None, 2])
    elif algorithm == "msb":
        k = None
        if any("levels" in one.get("protect", {}) for one in table.columns.values()):
            rest["privacy"] = {"level_l": {0: 1, 1: 2}}
    elif r.random() < 0.1:
        rest["privacy"] = {"alpha_k": {"alpha": 0.7, "k": 2}}
    if person:
        rest["person"] = "person"
    varying = person and algorithm in ("mondrian", "danonyir") and r.random() < 0.3
    if varying:
        rest["merge_person_rows"] = True
    rows = _rows(table, person, varying)
    table.types |= {"person": "VARCHAR", "hide": "BOOLEAN", "kept": "VARCHAR"}
    table.columns |= {
        "person": {"role": "drop"},
        "hide": {"role": "drop"},
        "kept": {"role": "keep", "acknowledge_unique": True},
    }
    population = None
    if algorithm == "mondrian" and not reserved and r.random() < 0.15:
        population = _population(table, rows, folder)
        if population is not None:
            model: Options = r.choice(
                [
                    {"k_map": {"k": r.choice([2, 4]), "population": population.name}},
                    {"delta_presence": {"min": 0, "max": 0.8, "population": population.name}},
                ]
            )
            rest["privacy"] = rest.get("privacy", {}) | model
    given = policy(
        folder,
        table.columns,
        k,
        publish={"cells": r.choice(["text", "text", "typed"])},
        suppression_limit=r.choice([0.3, 1.0]),
        **rest,
    )
    return Drawn(given, source(folder, table.types, rows), population)


def _quasi(table: _Table) -> None:
    r = table.random
    trees = table.algorithm in WITH_TREES
    for name in r.sample(["age", "a zip", 'q"t', "größe"], r.randint(1, 3)):
        kind = r.choice([one for one in DRAWS if one in HIERARCHIES or not trees])
        described: Options = {"role": "quasi"}
        if trees or (kind in HIERARCHIES and kind not in ORDERED and r.random() < 0.4):
            described["hierarchy"] = r.choice(HIERARCHIES[kind])
        elif kind in ("INTEGER", "UTINYINT") and r.random() < 0.2:
            described["kind"] = "categorical"
        if r.random() < 0.15:
            described["nulls"] = "suppress"
        if table.algorithm == "lgb" and r.random() < 0.4:
            ordered = kind in ORDERED and described.get("kind") is None
            described["sensitive_when"] = "hide"
            described["protect"] = r.choice(RULES + (ORDERED_RULES if ordered else []))
        table.add(name, kind, described, r.choice([0, 0, 0.2]))


def _sensitive(table: _Table) -> None:
    r = table.random
    for name in ("disease", "cost")[: r.choice([1, 1, 2])]:
        if name == "disease":
            kind = "VARCHAR"
        else:
            kind = r.choice(["INTEGER", "DATE", "DOUBLE", "BOOLEAN", "TEXT", "DECIMAL(9,2)"])
        described: Options = {"role": "sensitive", "acknowledge_unique": True}
        if r.random() < 0.2:
            described["null_as_value"] = True
        if table.algorithm not in ("danonyir", "geneir") and r.random() < 0.85:
            described["protect"] = _protect(table, name, kind, described)
        table.add(name, kind, described, r.choice([0, 0.1, 0.3, 0.6]))
        if name == "disease":
            table.draws[name] = _diseases(r.choice([0, 0.1, 0.3, 0.6]))


def _diseases(nulls: float) -> Draw:
    some = ["flu", "flu", "hiv", "gout", "covid", "ulcer"]
    return lambda r: None if r.random() < nulls else r.choice(some)


def _protect(table: _Table, name: str, kind: str, described: Options) -> Options:
    r = table.random
    if table.algorithm == "msb":
        return r.choice([{"l_diversity": 2}, {"l_diversity": 2}, LEVELS])
    rules = list(RULES)
    if kind in ORDERED:
        rules += ORDERED_RULES
    if table.algorithm != "lgb":
        rules += COMPARED_RULES
        if name == "disease" and table.algorithm in ("full_domain", "privacyfrost", "mondrian"):
            rules += [{"t_closeness": {"t": 0.5, "distance": "hierarchical"}}]
    chosen: Options = r.choice(rules)
    if isinstance(chosen.get("t_closeness"), dict) and chosen["t_closeness"]["distance"] == (
        "hierarchical"
    ):
        described["hierarchy"] = {"builder": "prefix"}
    return chosen


def _rows(table: _Table, person: bool, varying: bool) -> list[tuple[Any, ...]]:
    r = table.random
    size = r.choice([6, 10, 16, 30, 60])
    persons = max(2, size // 2) if person else size
    quasi = [name for name, one in table.columns.items() if one["role"] == "quasi"]
    sensitive = [name for name in table.columns if name not in quasi]
    tuples: dict[int, list[Any]] = {}
    values: dict[int, list[Any]] = {}
    # in some tables a value is missing for everybody alike: classes without any value
    missing = r.choice(quasi) if r.random() < 0.3 else None
    rows = []
    for number in range(size):
        who = r.randrange(persons) if person else number
        cells = [table.draws[name](r) for name in quasi]
        if not varying:
            cells = tuples.setdefault(who, cells)
        told = [table.draws[name](r) for name in sensitive]
        if table.algorithm == "msb" and person:
            told = values.setdefault(who, told)
        if missing is not None and crc32(repr(cells[quasi.index(missing)]).encode()) % 2:
            told = [None] * len(told)
        if number == 0 and "hierarchy" in table.columns["disease"]:
            told[0] = "flu"  # a hierarchy of no value at all is no hierarchy
        row = dict(zip([*quasi, *sensitive], [*cells, *told], strict=True))
        listed = [row[name] for name in table.columns]
        rows.append((*listed, f"p{who}", r.choice([True, False, False, None]), f"k{number % 5}"))
    return rows


def _population(table: _Table, rows: list[tuple[Any, ...]], folder: Path) -> Path | None:
    """The table itself twice over and some others, as a file; None with types that CSV spoils."""
    import duckdb

    from tests.runs import fill

    names = list(table.columns)[: len(table.columns)]
    quasi = [name for name in names if table.columns[name]["role"] == "quasi"]
    if any("hierarchy" in table.columns[name] for name in quasi):
        return None
    types = {name: table.types[name] for name in quasi}
    places = [names.index(name) for name in quasi]
    known = [tuple(row[i] for i in places) for row in rows]
    others = [tuple(table.draws[name](table.random) for name in quasi) for _ in range(10)]
    path = folder / "population.parquet"
    with duckdb.connect(config={"threads": 1}) as connection:
        fill(connection, types, known * table.random.choice([1, 2]) + others, "population")
        connection.execute(f"copy population to '{path}' (format parquet)")
    return path
