"""Neighbouring sources: small tables that differ in a cell or two, under policies of every kind.

What of them is published alike has to be told alike; `differences` says what is not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.contract.rounding import DIGITS, MANY, NODES, finest
from anonymizer.errors import AnonymizerError
from tests.runs import THRIFTY, fill
from tests.runs import policy as make_policy

TYPES = {
    "id": "INTEGER",
    "pid": "INTEGER",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "job": "VARCHAR",
    "born": "DATE",
    "weight": "DOUBLE",
    "hide": "BOOLEAN",
    "note": "VARCHAR",
    "disease": "VARCHAR",
}
NAMES = tuple(TYPES)
ZIPS = ("2110", "2111", "2120", "2131", "310", "3112")
JOBS = ("cook", "nurse", "clerk", "spy")
VALUES: Mapping[str, tuple[Any, ...]] = {
    "age": tuple(range(20, 60)),
    "zip": (*ZIPS, "21105", "9"),
    "job": JOBS,
    "born": tuple(f"19{year}-0{month}-15" for year in range(60, 65) for month in (1, 2, 3)),
    "weight": (48.5, 50.5, 61.0, 75.25),
    "note": ("a", "b", "something longer"),
    "disease": ("flu", "cold", "gout"),
}
TREES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "age": (
        {"builder": "conventional"},
        {"builder": "conventional", "domain": [0, 120]},
        {"builder": "divisor"},
        {"builder": "cardinality"},
        {"builder": "on_the_fly"},
        {"builder": "intervals", "cuts": [20, 30, 40, 50]},
        {"builder": "prefix"},
        {"builder": "frequency"},
    ),
    "zip": (
        {"builder": "prefix"},
        {"builder": "prefix", "lengths": [3, 1]},
        {"builder": "suffix", "lengths": [2, 1]},
        {"builder": "frequency"},
    ),
    "job": ({"builder": "order", "values": [*JOBS]}, {"builder": "frequency"}),
    "born": ({"builder": "date"},),
    "weight": ({"builder": "conventional"},),
}
LEVELS = ("full_domain", "privacyfrost", "geneir")
ALGORITHMS = ("mondrian", "lgb", "msb", "danonyir", *LEVELS, "full_domain", "privacyfrost", "none")
RULES: tuple[Mapping[str, Any], ...] = (
    {"l_diversity": 2},
    {"entropy_l": 1.2},
    {"t_closeness": 0.6},
    {"alpha": 0.9},
)
APART = ("run_id", "created", "versions", "policy_digest")
TIMES = ("seconds_anonymizing", "seconds_judging")
OF_A_SEARCH = ("ncp_bound", "ncp_weighted_bound", "ncp_sets", "lattice_loss", "lattice_bound")
"""Beginnings of the names of figures that are told in steps."""
LOSSES = ("ncp", "glm")
"""The same, where the nodes of a column hide how many values they stand for."""
HIDING = ("prefix", "suffix")
OF_A_POPULATION = tuple(f"verification.checks.{name}." for name in ("k_map", "delta_presence"))
Row = list[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A policy and a source; and whether its losses depend on what nodes hide."""

    policy: Policy
    rows: list[Row]
    population: list[Row]
    hiding: bool
    words: str

    def within_a_step(self, path: str, one: Any, other: Any, told: Mapping[str, Any]) -> bool:
        """Whether a figure of the manifest may differ as it does, by what the documentation says of
        its steps. `told`: the manifest.
        """
        measures, name = told["measures"], path.removeprefix("measures.")
        if not isinstance(one, int | float) or not isinstance(other, int | float):
            return False
        if path.startswith(OF_A_POPULATION):
            # (a member more or less can be several tenths of the few that match)
            return path.endswith((".min", ".max")) or abs(one - other) <= MANY
        if name == NODES:
            return max(one, other) <= 10 * min(one, other)
        if not name.startswith(OF_A_SEARCH) and not (self.hiding and name.startswith(LOSSES)):
            return False
        step = float(finest(measures["persons"] or measures["rows"]))
        step *= measures["qi_cells"] if name.endswith("_sum") else 1
        return bool(abs(one - other) <= step + 10**-DIGITS * max(one, other))


@dataclass(frozen=True, slots=True)
class Told:
    """What a run publishes: its rows, and all that comes with them."""

    rows: str
    figures: dict[str, Any]


def draw_case(number: int, folder: Path) -> Case:
    draw = random.Random(number)
    algorithm = ALGORITHMS[number % len(ALGORITHMS)]
    columns = _columns(draw, algorithm)
    given = _given(draw, algorithm, columns)
    unlisted = dict.fromkeys(TYPES.keys() - columns.keys(), "drop")
    if algorithm == "mondrian" and draw.random() < 0.4:
        population = {"table": "population"}
        given["privacy"] = (
            {"k_map": {"k": 2, "population": population}}
            if draw.random() < 0.5
            else {"delta_presence": {"min": 0, "max": 0.95, "population": population}}
        )
    policy = make_policy(folder, {**unlisted, **columns}, **given)
    rows = people(draw, draw.choice((16, 24, 40)))
    others = [[1000 + i, 1000 + i, *row[2:]] for i, row in enumerate(people(draw, 60))]
    builders = {column.get("hierarchy", {}).get("builder") for column in columns.values()}
    words = f"case {number}: {policy.model_dump(mode='json', exclude_defaults=True)}"
    return Case(policy, rows, others, bool(builders & {*HIDING}), words)


def people(draw: random.Random, many: int) -> list[Row]:
    found = []
    for i in range(many):
        row: dict[str, Any] = {"id": i, "pid": i, "hide": draw.random() < 0.2}
        row |= {name: draw.choice(VALUES[name]) for name in VALUES}
        row["zip"] = draw.choice(ZIPS)
        found.append([row[name] for name in NAMES])
    return found


def _columns(draw: random.Random, algorithm: str) -> dict[str, dict[str, Any]]:
    levels = algorithm in LEVELS
    quasi = ["age", "zip", "job", *(name for name in ("born", "weight") if draw.random() < 0.4)]
    columns: dict[str, dict[str, Any]] = {}
    for name in quasi:
        columns[name] = {"role": "quasi"}
        if algorithm != "none" and (levels or draw.random() < 0.5):
            columns[name]["hierarchy"] = draw.choice(TREES[name])
    columns["disease"] = {"role": "sensitive"}
    if algorithm in ("lgb", "msb"):
        columns["disease"]["protect"] = {"l_diversity": 2}
    elif algorithm in ("mondrian", "full_domain", "privacyfrost") and draw.random() < 0.5:
        columns["disease"]["protect"] = draw.choice(RULES)
    if algorithm == "lgb" and draw.random() < 0.4:
        columns["job"] |= {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
    if algorithm in ("mondrian", "danonyir") and draw.random() < 0.3:
        columns["age"]["weight"] = 3
    if algorithm == "none":
        kept = {"role": "keep", "acknowledge_unique": True}
        columns = {"zip": {"role": "drop"}, "born": {"role": "drop"}, "job": kept, "weight": kept}
        columns["age"] = {"role": "round", "to": 10, "acknowledge_unique": True}
        columns["disease"] = {"role": "sensitive", "acknowledge_unique": True}
    return columns


def _given(draw: random.Random, algorithm: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {"name": algorithm}
    given: dict[str, Any] = {
        "key": "id",
        "k": draw.choice((2, 3, 4)),
        "algorithm": options,
        "suppression_limit": draw.choice((0, 0.1, 0.3)),
        "publish": {"database": None, "cells": draw.choice(("text", "typed"))},
    }
    if algorithm in ("danonyir", "geneir"):
        given |= {"k": None, "privacy": {"ir_k": 2}, "suppression_limit": 0.5}
    if algorithm in ("danonyir", "geneir") or (algorithm != "none" and draw.random() < 0.3):
        given["person"] = "pid"
    if algorithm in ("msb", "none"):
        given["k"] = None
    if algorithm == "none":
        del given["suppression_limit"]
        del given["publish"]["cells"]
    if algorithm == "msb" and draw.random() < 0.7:
        options["generalize"] = {"k": 2}
    if algorithm in ("full_domain", "privacyfrost") and draw.random() < 0.5:
        options["budget"] = draw.choice((3, 20, 60))
    if algorithm == "full_domain":
        options["optimum"] = draw.choice(("ncp", "glm", "c_dm", "distortion"))
    if algorithm == "privacyfrost":
        options["partial_domain"] = draw.random() < 0.5
        options["score"] = draw.choice(("basic", "eta", "log"))
    if algorithm == "mondrian":
        options["refine"] = draw.choice((0, 1, "full"))
    return given


def told_of(case: Case, rows: list[Row]) -> Told | None:
    """What a run over these rows publishes; None where it is refused."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        fill(connection, TYPES, rows)
        fill(connection, TYPES, [*rows, *case.population], "population")
        try:
            release = anonymizer.run(case.policy, connection, seed=7, limits=THRIFTY)
        except AnonymizerError:
            return None
        tables = connection.execute(
            "select view_name from duckdb_views() where not internal"
            " and view_name like 'people_%' order by 1"
        ).fetchall()
        published = [
            (name, sorted(connection.execute(f'from "{name}"').fetchall(), key=str))
            for (name,) in tables
        ]
    text = json.dumps(release.manifest.data, default=str).replace(release.run_id, "-")
    figures = {name: value for name, value in json.loads(text).items() if name not in APART}
    del figures["seal"]["digest"]
    for one in figures["seal"]["objects"]:
        one.pop("rows", None)  # digests in the order of the rows, which are compared sorted
    for name in TIMES:
        del figures["measures"][name]
    # (warnings count, for the owner of the source)
    figures["warned"] = len(release.warnings)
    return Told(str(published), figures)


def neighbours(case: Case, many: int) -> Iterator[list[Row]]:
    """Sources in which one cell has another value, or two have exchanged theirs."""
    draw = random.Random(f"neighbours of {case.words}")
    for _ in range(many):
        rows = [list(row) for row in case.rows]
        name = draw.choice(tuple(VALUES))
        column = NAMES.index(name)
        one, two = draw.choice(rows), draw.choice(rows)
        if draw.random() < 0.4:
            one[column], two[column] = two[column], one[column]
        else:
            one[column] = draw.choice(VALUES[name])
        if rows != case.rows:
            yield rows


def differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two manifests differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted({*one, *other}):
            yield from differences(one.get(name), other.get(name), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for i, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            place = mine.get("name", i) if isinstance(mine, dict) else i
            yield from differences(mine, theirs, f"{path}.{place}")
    elif one != other:
        yield path.removeprefix("."), one, other
