"""Pairs of sources that differ only in what is not to be published, and what is made of each."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

import anonymizer
from anonymizer import Policy
from anonymizer.errors import AnonymizerError
from anonymizer.release.integrity import manifest_digest
from anonymizer.review.report import rendered
from anonymizer.review.report.content import collect
from tests.runs import THRIFTY, fill
from tests.runs import policy as make_policy

TYPES = {
    "id": "INTEGER",
    "pid": "INTEGER",
    "name": "VARCHAR",
    "note": "VARCHAR",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "job": "VARCHAR",
    "born": "DATE",
    "weight": "DOUBLE",
    "hide": "BOOLEAN",
    "disease": "VARCHAR",
}
ZIPS = ("2110", "2111", "2120", "2131", "310", "a,b")
JOBS = ("cook", "nurse", "clerk", "NULL", "x or NULL")
DISEASES = ("flu", "cold", "HIV", "gout")
SECRET_ZIPS = ("RARE_CLINIC", "999999999", "0")
SECRET_JOBS = ("astronaut", "spy")
TOP = 60
LEVELS = ("full_domain", "privacyfrost", "geneir")
ALGORITHMS = ("mondrian", "lgb", "msb", "danonyir", *LEVELS)
AGES: tuple[Mapping[str, Any], ...] = (
    {"builder": "conventional"},
    {"builder": "conventional", "domain": [0, 120]},
    {"builder": "divisor"},
    {"builder": "cardinality"},
    {"builder": "on_the_fly"},
    {"builder": "intervals", "cuts": [0, 30, 40], "top": TOP},
    {"builder": "intervals", "cuts": [25, 40, 60], "bottom": 25, "top": TOP},
    {"builder": "prefix"},
    {"builder": "frequency"},
)
WEIGHTS: tuple[Mapping[str, Any], ...] = (
    {"builder": "conventional"},
    {"builder": "cardinality"},
    {"builder": "intervals", "cuts": [50.5, 70.5], "bottom": 50.5, "top": 80.5},
    {"builder": "on_the_fly"},
)
SECONDS = re.compile(r"(seconds_\w+(?:\"|&#34;)): [\d.]+")
"""Times, in any form of a report."""
KEPT_APART = frozenset({"run_id", "created", "versions"})


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tables and the policy for both."""

    policy: Policy
    first: list[tuple[Any, ...]]
    second: list[tuple[Any, ...]]
    words: str
    """What the policy is, for a message."""


def draw_pair(number: int, folder: Path, *, keyed: bool = True) -> Pair:
    """Pair `number`: a policy, rows that are the same in both, and rows that are not published."""
    draw = random.Random(number)
    algorithm = ALGORITHMS[number % len(ALGORITHMS)]
    persons = draw.random() < 0.5 or algorithm in ("danonyir", "geneir")
    columns, coded = _columns(draw, algorithm)
    given = _policy(draw, algorithm, columns, persons=persons, keyed=keyed)
    policy = make_policy(folder, given.pop("columns"), **given)
    common = _common(draw, persons=persons, alike=algorithm == "msb")
    lost = _lost(draw, columns, len(common))
    first = [_other(random.Random(f"{number} a {i}"), row, coded) for i, row in enumerate(common)]
    second = [_other(random.Random(f"{number} b {i}"), row, coded) for i, row in enumerate(common)]
    for i, (row, null) in enumerate(lost):
        first.append(_hidden(random.Random(f"{number} a lost {i}"), row, null))
        second.append(_hidden(random.Random(f"{number} b lost {i}"), row, null))
    words = f"pair {number}: {policy.model_dump(mode='json', exclude_defaults=True)}"
    return Pair(policy, first, second, words)


def _columns(draw: random.Random, algorithm: str) -> tuple[dict[str, Any], frozenset[str]]:
    """The columns of the policy, and those of them that are top- or bottom-coded."""
    levels = algorithm in LEVELS
    zip_tree: list[Mapping[str, Any] | None] = [
        {"builder": "prefix"},
        {"builder": "suffix", "lengths": [2, 1]},
        {"builder": "frequency"},
    ]
    job_tree: list[Mapping[str, Any] | None] = [
        {"builder": "order", "values": [*JOBS, *SECRET_JOBS]},
        {"builder": "taxonomy", "file": "jobs.csv"},
        {"builder": "frequency"},
    ]
    if not levels:
        zip_tree.append(None)
        job_tree.append(None)
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "hierarchy": draw.choice(AGES) if levels else None},
        "zip": {"role": "quasi", "hierarchy": draw.choice(zip_tree)},
        "job": {"role": "quasi", "hierarchy": draw.choice(job_tree)},
        "born": {
            "role": draw.choice(("quasi", "drop")),
            "hierarchy": {"builder": "date"} if levels else None,
        },
        "weight": {
            "role": draw.choice(("quasi", "drop", "keep")),
            "hierarchy": draw.choice(WEIGHTS) if levels else None,
        },
        "disease": {"role": "sensitive"},
    }
    for column in columns.values():
        if column["role"] != "quasi" or column.get("hierarchy") is None:
            column.pop("hierarchy", None)
    if columns["weight"]["role"] == "keep":
        columns["weight"]["acknowledge_unique"] = True
    published = [name for name, column in columns.items() if column["role"] != "drop"]
    for name in draw.sample(published, draw.randint(1, 2)):
        columns[name]["nulls"] = "suppress"
    if algorithm == "privacyfrost":
        for name in ("zip", "born"):
            if columns[name]["role"] == "quasi":
                columns[name]["presampling_level"] = 1
    if algorithm == "lgb" and draw.random() < 0.7:
        columns["job"] |= {"sensitive_when": "hide", "protect": {"l_diversity": 2}}
    if algorithm in ("lgb", "msb"):
        columns["disease"]["protect"] = {"l_diversity": 2}
    coded = frozenset(
        name
        for name in ("age", "weight")
        if levels and columns[name].get("hierarchy", {}).get("builder") == "intervals"
    )
    return columns, coded


def _policy(
    draw: random.Random, algorithm: str, columns: dict[str, Any], *, persons: bool, keyed: bool
) -> dict[str, Any]:
    unlisted = dict.fromkeys(TYPES.keys() - columns.keys(), "drop")
    given: dict[str, Any] = {
        "columns": {**unlisted, **columns, "name": "identifier"},
        "algorithm": {"name": algorithm},
        "suppression_limit": 0.6,
        "publish": {"database": None, "cells": draw.choice(("text", "typed"))},
    }
    if keyed:
        given["key"] = "id"
    if persons:
        given["person"] = "pid"
    if algorithm in ("danonyir", "geneir"):
        given |= {"k": None, "privacy": {"ir_k": 2}}
    if algorithm == "msb":
        given["k"] = None
        if draw.random() < 0.5:
            given["algorithm"]["generalize"] = {"k": 2}
    if algorithm == "privacyfrost":
        given["algorithm"] |= {
            "partial_domain": draw.random() < 0.5,
            "presampling_k": draw.choice((1, 1, 2)),
        }
    return given


def _common(draw: random.Random, *, persons: bool, alike: bool) -> list[dict[str, Any]]:
    rows = []
    for i in range(draw.randint(16, 30)):
        rows.append(
            {
                "id": i,
                "pid": i,
                "age": draw.choice((20, 21, 30, 35, 42, 61, 70, 88)),
                "zip": draw.choice(ZIPS),
                "job": draw.choice(JOBS),
                "born": f"19{draw.randint(60, 69)}-0{draw.randint(1, 9)}-15",
                "weight": draw.choice((48.5, 50.5, 61.0, 75.25, 80.5, 99.0, -0.0)),
                "hide": draw.choice((True, False, None)),
                "disease": draw.choice(DISEASES),
            }
        )
    if persons:
        twins = draw.sample(rows, 4)
        rows += [
            {
                **row,
                "id": len(rows) + i,
                "disease": row["disease"] if alike else draw.choice(DISEASES),
            }
            for i, row in enumerate(twins)
        ]
    return rows


def _lost(
    draw: random.Random, columns: Mapping[str, Any], taken: int
) -> list[tuple[dict[str, Any], str]]:
    """Rows that `nulls: suppress` leaves out, each with the column that is NULL there."""
    hiding = [name for name, column in columns.items() if column.get("nulls") == "suppress"]
    return [
        ({"id": 1000 + i, "pid": 1000 + i}, draw.choice(hiding)) for i in range(draw.randint(1, 6))
    ]


def _other(draw: random.Random, row: dict[str, Any], coded: frozenset[str]) -> tuple[Any, ...]:
    """The row with an identifier and a dropped column of its own, and others beyond the codes."""
    changed = {**row, "name": f"n{draw.random()}", "note": f"t{draw.random()}"}
    if row["hide"] is not False:  # a condition that is NULL counts as one that is true
        changed["hide"] = draw.choice((True, None))
    if "age" in coded and row["age"] >= TOP:
        changed["age"] = draw.randint(TOP, 117)
    if "weight" in coded:
        if row["weight"] >= 80.5:
            changed["weight"] = draw.uniform(80.5, 400)
        elif row["weight"] < 50.5:
            changed["weight"] = draw.uniform(-10, 50.4)
    return tuple(changed[name] for name in TYPES)


def _hidden(draw: random.Random, row: dict[str, Any], null: str) -> tuple[Any, ...]:
    """A row whose values are all its own, but for the NULL that leaves it out."""
    values = {
        **row,
        "name": f"n{draw.random()}",
        "note": f"t{draw.random()}",
        "age": draw.choice((1, 113, 1741, -5)),
        "zip": draw.choice((*ZIPS, *SECRET_ZIPS, None)),
        "job": draw.choice((*JOBS, *SECRET_JOBS, None)),
        "born": draw.choice(("1801-01-01", "2099-12-31", "1965-02-01")),
        "weight": draw.choice((0.25, 31337.0, 61.0)),
        "hide": draw.choice((True, False)),
        "disease": draw.choice((*DISEASES, "SECRET")),
    }
    return tuple({**values, null: None}[name] for name in TYPES)


def said_of(policy: Policy, rows: list[tuple[Any, ...]], folder: Path) -> dict[str, str]:
    """What plan and report say; source, run id, times and digests over them are left apart."""
    folder.mkdir()
    source = folder / "source.duckdb"
    with duckdb.connect(str(source), config={"threads": 1}) as connection:
        fill(connection, TYPES, rows)
    publish = policy.publish.model_copy(update={"database": str(folder / "release.duckdb")})
    own = policy.model_copy(update={"publish": publish})
    found = {"plan": anonymizer.plan(own, source).sql()}
    release = anonymizer.run(own, source, seed=7, limits=THRIFTY)
    data = release.manifest.data
    assert data["seal"]["digest"] == manifest_digest(data)
    apart = [release.run_id, data["created"], str(folder), data["policy_digest"]]
    apart.append(data["seal"]["digest"])
    report = collect(own, folder / "release.duckdb")
    for form in ("html", "json", "md"):
        text = rendered(report, form)
        for one in apart:
            text = text.replace(one, "-")
        found[form] = SECONDS.sub(r"\1", text)
    return found


def made_of(policy: Policy, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """What a run makes public: its rows in order, and its manifest."""
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        fill(connection, TYPES, rows)
        found: dict[str, Any] = {}
        try:
            release = anonymizer.run(policy, connection, seed=7, limits=THRIFTY)
        except AnonymizerError as error:
            return {"error": str(error)}
        for table in ("people_anonymous", "people_anonymous_disease"):
            try:
                relation = connection.execute(f'from "{table}"')
            except duckdb.CatalogException:
                continue
            found[table] = (relation.description, relation.fetchall())
        manifest = json.loads(json.dumps(release.manifest.data, default=str))
        manifest["seal"] = _sealed(manifest)
        found["manifest"] = {n: v for n, v in manifest.items() if n not in KEPT_APART}
        for name in ("seconds_anonymizing", "seconds_judging"):
            found["manifest"]["measures"].pop(name)
        return found


def _sealed(manifest: dict[str, Any]) -> Any:
    """The seal without the run id, and without the manifest's digest, which hangs on run and times.

    Names, columns, definitions and the digests of rows stay.
    """
    seal = dict(manifest["seal"])
    assert seal.pop("digest") == manifest_digest(manifest)
    return json.loads(json.dumps(seal).replace(manifest["run_id"], "-"))
