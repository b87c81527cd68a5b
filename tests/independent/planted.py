"""Correct releases to tamper with: one of every form."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from anonymizer import Policy
from tests.runs import policy, run, source

TYPES = {
    "person": "VARCHAR",
    "age": "INTEGER",
    "city": "VARCHAR",
    "seen": "DATE",
    "hide": "BOOLEAN",
    "disease": "VARCHAR",
    "cost": "INTEGER",
}
CITIES = ["Bonn", "Köln", "a, b", "Aachen", "Trier"]
DISEASES = ["flu", "hiv", "gout", "covid", "ulcer"]
ROWS = 60


def people(per_person: int = 1) -> list[tuple[Any, ...]]:
    """60 rows of persons whose quasi-identifiers are the same in all of their rows."""
    rows = []
    for number in range(ROWS):
        who = number // per_person
        rows.append(
            (
                f"p{who}",
                20 + who * 7 % 40,
                CITIES[who * 3 % 5],
                dt.date(2020, 1, 1) + dt.timedelta(who * 11 % 50),
                who % 4 == 0,
                DISEASES[number % 5],
                10 * (number % 4),
            )
        )
    return rows


QUASI = {name: {"role": "quasi"} for name in ("age", "city", "seen")}
HIDDEN = {"hide": "drop"}
RULES = {
    "l_diversity": 2,
    "alpha": 0.6,
    "t_closeness": 0.6,
    "beta_likeness": 3,
    "recursive_cl": {"c": 3, "l": 2},
    "entropy_l": 1.5,
}


def _semi(rule: dict[str, Any]) -> dict[str, Any]:
    return {"role": "quasi", "sensitive_when": "hide", "protect": rule}


def _lgb(cells: str) -> dict[str, Any]:
    return {
        "columns": {
            **HIDDEN,
            "age": _semi({"l_diversity": 2}),
            "city": _semi({"l_diversity": 2}),
            "seen": "quasi",
            "disease": {"role": "sensitive", "protect": {"l_diversity": 3}},
            "cost": {"role": "sensitive", "protect": {"t_closeness": 0.5}},
        },
        "k": 3,
        "algorithm": {"name": "lgb"},
        "person": "person",
        "publish": {"cells": cells},
    }


RELEASES: dict[str, tuple[int, dict[str, Any]]] = {
    "mondrian": (
        1,
        {
            "columns": {
                **HIDDEN,
                **QUASI,
                "disease": {"role": "sensitive", "protect": RULES},
                "cost": {
                    "role": "sensitive",
                    "protect": {"t_closeness": {"t": 0.5, "distance": "ordered"}},
                },
            },
            "k": 4,
        },
    ),
    "alike": (
        1,
        {
            "columns": {
                **HIDDEN,
                "age": "quasi",
                "city": "quasi",
                "seen": {"role": "quasi", "like": "city"},
                "disease": "sensitive",
                "cost": "keep",
            },
            "k": 4,
        },
    ),
    "typed": (
        2,
        {
            "columns": {**HIDDEN, **QUASI, "disease": "sensitive", "cost": "keep"},
            "k": 2,
            "person": "person",
            "privacy": {"eir_l": 2, "ir_alpha_beta": {"alpha": 0.8, "beta": 0.8}, "ir_k": 2},
            "publish": {"cells": "typed"},
        },
    ),
    "lgb": (2, _lgb("text")),
    "lgb_typed": (2, _lgb("typed")),
    "msb": (
        1,
        {
            "columns": {
                **HIDDEN,
                **QUASI,
                "disease": {
                    "role": "sensitive",
                    "protect": {"levels": {2: ["hiv"], 0: ["flu"]}, "default_level": 1},
                },
                "cost": {"role": "sensitive", "protect": {"levels": {0: [0]}, "default_level": 1}},
            },
            "k": None,
            "privacy": {"level_l": {0: 1, 1: 2, 2: 3}},
            "algorithm": {"name": "msb"},
            "person": "person",
        },
    ),
}


def asked(name: str, folder: Path) -> Policy:
    """The policy of one of the releases."""
    given = RELEASES[name][1]
    columns = {"person": "identifier", **given["columns"]}
    if "person" in given:
        columns["person"] = "drop"
    rest = {key: value for key, value in given.items() if key not in ("columns", "k")}
    return policy(folder, columns, given["k"], suppression_limit=0.2, **rest)


def make(name: str, folder: Path) -> Path:
    """One of the releases, as it was published."""
    database = source(folder, TYPES, people(RELEASES[name][0]))
    run(asked(name, folder), database)
    return folder / "release.duckdb"
