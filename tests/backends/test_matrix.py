"""Every algorithm on every engine that has it: twelve policies give the rows of DuckDB."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.algorithms.descriptor import PART_SIZE
from anonymizer.algorithms.registry import BY_NAME
from anonymizer.errors import PolicyError
from tests.backends.tables import (
    embedded,
    load,
    load_into_spark,
    on_duckdb,
    on_postgres,
    policy,
    query,
    rows_of,
    same_release,
)
from tests.selection import some

TABLE = "visits"
TYPES = {
    "age": "INTEGER",
    "code": "VARCHAR",
    "value": "INTEGER",
    "born": "DATE",
    "wage": "DECIMAL(9, 2)",
    "ill": "VARCHAR",
    "ward": "VARCHAR",
    "home": "VARCHAR",
    "person": "BIGINT",
}
BUILDERS = {"age": "cardinality", "code": "frequency", "value": "cardinality"}
BUILDERS |= {"born": "date", "wage": "cardinality"}
TWO, FEW = {"l_diversity": 2}, {"l_diversity": 3}
LEVELS = {"levels": {2: ["HIV", "gout"], 0: ["flu"]}, "default_level": 1}
LEVEL_L = {"level_l": {0: 1, 1: 2, 2: 3}}
VARIANTS: dict[str, dict[str, Any]] = {
    "size": {"quasi": "age code"},
    "300 categories": {"quasi": "code age", "ill": TWO},
    "1,000 values": {"quasi": "value", "ill": TWO},
    "days": {"quasi": "born code", "ill": TWO},
    "decimals": {"quasi": "wage age", "ill": TWO},
    "five columns": {"quasi": "age code value born wage", "ill": TWO},
    "NULLs left out": {"quasi": "age born", "nulls": "suppress", "suppression_limit": 0.4},
    "typed": {"quasi": "age born wage code", "ill": TWO, "publish": {"cells": "typed"}},
    "two rules": {"quasi": "age value", "ill": FEW, "ward": {"l_diversity": 2}},
    "rows left out": {"quasi": "age wage", "ill": FEW, "suppression_limit": 0.2},
    "closeness": {"quasi": "age code", "ill": {"t_closeness": 0.5}, "suppression_limit": 0.3},
    "entropy": {"quasi": "age born", "ill": {"entropy_l": 2}, "suppression_limit": 0.3},
    "a kept column": {"quasi": "age", "ill": TWO, "kept": True},
    "levels": {"quasi": "age", "ill": LEVELS, "privacy": LEVEL_L, "options": {"strategy": "mbf"}},
    "levels first": {
        "quasi": "code",
        "ill": LEVELS,
        "ward": {"levels": {2: ["A"]}, "default_level": 0},
        "privacy": LEVEL_L,
        "suppression_limit": 0.5,
        "options": {"strategy": "msdcf", "mode": "exact", "security_level_first": True},
    },
    "groups in classes": {"quasi": "age born", "ill": FEW, "options": {"generalize": {"k": 5}}},
    "groups of persons": {"quasi": "age", "home": TWO, "person": "person", "privacy": {}},
    **{
        f"persons, {name}": {
            "quasi": quasi,
            "ill": {},
            "person": "person",
            "privacy": privacy,
            "suppression_limit": 1,
        }
        for name, quasi, privacy in (
            ("size", "age code", {"ir_k": 3}),
            ("values", "value age", {"ir_kl": {"k": 3, "l": 2}}),
            ("days", "born", {"eir_l": 2}),
            ("decimals", "wage code", {"eir_l": 3}),
            ("shares", "age", {"ir_alpha_beta": {"alpha": 0.6, "beta": 0.7}}),
            ("further shares", "age wage", {"eir_alpha_beta": {"alpha": 0.6, "beta": 0.7}}),
            ("five columns", "age code value born wage", {"ir_k": 2}),
        )
    },
    **{
        f"persons, {name}": {
            "quasi": quasi,
            "ill": {},
            "person": "person",
            "privacy": {"eir_l": 2},
            "suppression_limit": 1,
            **rest,
        }
        for name, quasi, rest in (
            ("typed", "age born wage code", {"publish": {"cells": "typed"}}),
            ("two columns", "age code", {"ward": {}}),
            ("nobody left out", "age", {"suppression_limit": 0}),
            ("categories", "code", {}),
            ("codes and days", "code born", {}),
        )
    },
}
"""What policies ask for; an algorithm gets the first twelve of those that it has."""
POLICIES = 12
PARTS = ", parts of "
WITHOUT_CLASSES = {"none"}
"""Changes no quasi-identifier, so that there is nothing to compare."""


def visits() -> list[tuple[Any, ...]]:
    """Rows of persons, who are the same in everything but their illness and ward."""
    draw = random.Random(11)
    made = []
    for person in range(1000):
        born = dt.date(1930, 1, 1) + dt.timedelta(days=draw.randrange(30_000))
        same = (
            None if draw.random() < 0.05 else draw.randrange(90),
            f"c{draw.randrange(300):03}",
            person,
            None if draw.random() < 0.05 else born,
            Decimal(draw.randrange(100_000)).scaleb(-2),
        )
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            ill = draw.choice((None, "flu", "cold", "gout", "asthma", "émigré", "HIV"))
            made.append((*same, ill, draw.choice("ABCD"), "NSWE"[person % 4], person))
    return made


ROWS = visits()


def asked(algorithm: str, variant: str, **rest: Any) -> Policy:
    """Raises PolicyError where the algorithm does not have what the variant asks for."""
    algorithm, _, parts = algorithm.partition(PARTS)
    given = dict(VARIANTS[variant])
    over_levels = getattr(BY_NAME[algorithm].options, "over_levels", False)
    columns: dict[str, Any] = {}
    for name in given.pop("quasi").split():
        columns[name] = {"role": "quasi"}
        if over_levels:
            columns[name]["hierarchy"] = {"builder": BUILDERS[name]}
        if "nulls" in given:
            columns[name]["nulls"] = given["nulls"]
    given.pop("nulls", None)
    for name in ("ill", "ward", "home"):
        if name in given:
            protect = given.pop(name)
            columns[name] = {"role": "sensitive", **({"protect": protect} if protect else {})}
    if given.pop("kept", False):
        columns["ward"] = {"role": "keep"}
    if "person" in given:
        columns["person"] = "identifier"
    options: dict[str, Any] = {"name": algorithm, **given.pop("options", {})}
    if algorithm == "msb":
        given.setdefault("privacy", {})
    if algorithm == "danonyir":
        options["block_size"] = 64
    if parts:
        options["part_size"] = int(parts)
    publish = {"name": "released", **given.pop("publish", {})}
    return policy(columns, TYPES, TABLE, algorithm=options, publish=publish, **given, **rest)


def of(algorithm: str) -> Iterator[str]:
    """The variants that an algorithm has."""
    for variant in VARIANTS:
        try:
            asked(algorithm, variant)
        except PolicyError:
            continue
        yield variant


def cells(engine: str) -> list[tuple[str, str]]:
    """The policies of every algorithm that an engine has, one policy after the other."""
    names = [n for n, made in BY_NAME.items() if engine not in made.lacking]
    names = [name for name in names if name not in WITHOUT_CLASSES]
    names += [f"{name}{PARTS}300" for name in names if PART_SIZE in BY_NAME[name].limits]
    return [(name, variant) for name in names for variant in islice(of(name), POLICIES)]


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_no_cell_of_the_table_is_empty(engine: str) -> None:
    had = [name for name, _ in cells(engine)]
    algorithms = {name.partition(PARTS)[0] for name in had}
    here = {name for name, made in BY_NAME.items() if engine not in made.lacking}
    assert algorithms | WITHOUT_CLASSES == here
    assert {had.count(name) for name in had} == {POLICIES}


@some(6, 54)
@pytest.mark.postgres
@pytest.mark.parametrize(("algorithm", "variant"), cells("postgres"))
def test_postgres(postgres: str, algorithm: str, variant: str) -> None:
    given = asked(algorithm, variant)
    load(postgres, TYPES, ROWS, TABLE)
    with embedded(TYPES, ROWS, TABLE) as connection:
        here = on_duckdb(given, connection)
        same_release(on_postgres(given, postgres), postgres, here)
        for name in here.manifest.layout.tables.values():
            rows = query(postgres, f"select * from main.{name}")
            assert rows == connection.execute(f"from main.{name}").fetchall(), name


@some(6, 6)
@pytest.mark.spark
@pytest.mark.parametrize(("algorithm", "variant"), cells("spark"))
def test_spark(spark: Any, tmp_path: Path, algorithm: str, variant: str) -> None:
    load_into_spark(spark, tmp_path, TYPES, ROWS, TABLE)
    release = anonymizer.run(asked(algorithm, variant, engine="spark"), spark, seed=7)
    with embedded(TYPES, ROWS, TABLE) as connection:
        made = on_duckdb(asked(algorithm, variant), connection)
        here = {release.view: rows_of(made)}
        for name in made.manifest.layout.tables.values():
            here[name] = connection.execute(f"from {name}").fetchall()
    for view, rows in here.items():
        found = [list(row) for row in spark.table(view).collect()]
        assert sorted(map(str, found)) == sorted(str(list(row)) for row in rows), view
