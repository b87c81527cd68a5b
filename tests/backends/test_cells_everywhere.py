"""Cells have the same text, types and order on every engine, whatever the column's type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from tests.backends.tables import (
    PEOPLE,
    embedded,
    load,
    load_into_spark,
    on_duckdb,
    on_postgres,
    people,
    policy,
    rows_of,
    same_release,
)

QUASI: dict[str, dict[str, Any]] = {
    name: dict.fromkeys(names, "quasi")
    for name, names in {
        "numbers": ("age", "wage", "weight"),
        "times": ("born", "seen", "member"),
        "texts": ("zip", "town", "age"),
    }.items()
}
CASES: dict[str, dict[str, Any]] = {
    **{
        f"{cells} {name}": {"columns": columns, "publish": {"cells": cells}}
        for name, columns in QUASI.items()
        for cells in ("text", "typed")
    },
    **{
        f"{cells} numbers as categories": {
            "columns": {
                name: {"role": "quasi", "kind": "categorical"} for name in QUASI["numbers"]
            },
            "publish": {"cells": cells},
        }
        for cells in ("text", "typed")
    },
    "a number that is sensitive for some": {
        "columns": {
            "age": "quasi",
            "zip": "quasi",
            "weight": {
                "role": "quasi",
                "sensitive_when": "hidden",
                "protect": {"l_diversity": 2},
            },
        },
        "algorithm": {"name": "lgb"},
    },
}
ROWS = people()


def asked(name: str, **rest: Any) -> Policy:
    given = CASES[name]
    columns = {**given["columns"], "ill": {"role": "sensitive", "protect": {"l_diversity": 2}}}
    if "sensitive" in name:
        columns["ill"] = "drop"
    publish = {"name": "everywhere", **given.get("publish", {})}
    algorithm = given.get("algorithm", {"name": "mondrian"})
    return policy(columns, publish=publish, suppression_limit=0.2, algorithm=algorithm, **rest)


@pytest.mark.postgres
@pytest.mark.parametrize("name", CASES)
def test_postgres(postgres: str, name: str) -> None:
    load(postgres, PEOPLE, ROWS, "people")
    here = on_duckdb(asked(name), embedded(PEOPLE, ROWS, "people"))
    same_release(on_postgres(asked(name), postgres), postgres, here)


@pytest.mark.spark
@pytest.mark.parametrize("name", CASES)
def test_spark(spark: Any, tmp_path: Path, name: str) -> None:
    load_into_spark(spark, tmp_path, PEOPLE, ROWS)
    release = anonymizer.run(asked(name, engine="spark"), spark, seed=7)
    here = on_duckdb(asked(name), embedded(PEOPLE, ROWS, "people"))
    found = [list(row) for row in spark.table(release.view).collect()]
    assert sorted(map(str, found)) == sorted(str(list(row)) for row in rows_of(here))
