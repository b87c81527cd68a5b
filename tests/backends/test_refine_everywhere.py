"""Full refinement, with new classes under l-diversity, ends at the same classes on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer import Policy
from tests.backends.tables import (
    embedded,
    load,
    load_into_spark,
    on_duckdb,
    on_postgres,
    policy,
    rows_of,
    same_release,
)

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "sex": "VARCHAR", "ill": "VARCHAR"}
ROWS = [
    (i * 37 % 61, f"1{i * 13 % 7}", "mf"[i * 11 % 3 % 2], "uvwxyz"[i * 17 % 19 % 6])
    for i in range(240)
]


def asked(**rest: Any) -> Policy:
    columns: dict[str, Any] = dict.fromkeys(("age", "zip", "sex"), "quasi")
    columns["ill"] = {"role": "sensitive", "protect": {"l_diversity": 3}}
    full = {"name": "mondrian", "refine": "full"}
    return policy(columns, TYPES, privacy={"k_anonymity": 4}, algorithm=full, **rest)


@pytest.mark.postgres
def test_postgres(postgres: str) -> None:
    load(postgres, TYPES, ROWS, "people")
    here = on_duckdb(asked(), embedded(TYPES, ROWS, "people"))
    same_release(on_postgres(asked(), postgres), postgres, here)


@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    load_into_spark(spark, tmp_path, TYPES, ROWS)
    release = anonymizer.run(asked(engine="spark"), spark, seed=7)
    here = on_duckdb(asked(), embedded(TYPES, ROWS, "people"))
    assert release.measures["ncp"] == here.measures["ncp"]
    found = [list(row) for row in spark.table(release.view).collect()]
    assert sorted(map(str, found)) == sorted(str(list(row)) for row in rows_of(here))
