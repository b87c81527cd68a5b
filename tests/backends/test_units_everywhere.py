"""Every engine keeps several households in every class, and judges it from its own snapshot."""

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
    same_release,
)

TYPES = {"who": "INTEGER", "home": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
ROWS = [
    (i, f"Haus {i // 5}" if i % 7 else None, i // 5 * 3 % 40, "ab"[i // 5 % 2], "xyz"[i % 3])
    for i in range(200)
]


def asked(**rest: Any) -> Policy:
    return policy(
        {
            "home": "identifier",
            "age": "quasi",
            "zip": "quasi",
            "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
        },
        TYPES,
        person="who",
        privacy={"k_anonymity": 5, "units": {"home": 3}},
        **rest,
    )


def fewest(release: anonymizer.Release) -> Any:
    (check,) = (one for one in release.verification.checks if one.name == "units")
    return check.achieved


@pytest.mark.postgres
def test_postgres(postgres: str) -> None:
    load(postgres, TYPES, ROWS, "people")
    here = on_duckdb(asked(), embedded(TYPES, ROWS, "people"))
    assert fewest(here) == 3
    same_release(on_postgres(asked(), postgres), postgres, here)


@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    load_into_spark(spark, tmp_path, TYPES, ROWS)
    release = anonymizer.run(asked(engine="spark"), spark, seed=7)
    assert fewest(release) == 3
