"""Published text is looked through where it stands, with the same counts on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from tests.backends.tables import embedded, load, on_duckdb, on_postgres, policy
from tests.threats.test_raw_text import FOUND, NOTHING

TEXTS = [*(text for texts in FOUND.values() for text in texts), *NOTHING, None]
TYPES = {"id": "INTEGER", "age": "INTEGER", "note": "VARCHAR", "seen": "VARCHAR"}
ROWS = [
    (i, 20 + i % 3, TEXTS[i % len(TEXTS)], ("flu", "a@b.org")[i % 2]) for i in range(3 * len(TEXTS))
]
COLUMNS: dict[str, Any] = {
    "id": "identifier",
    "age": "quasi",
    "note": "keep",
    "seen": {"role": "sensitive", "protect": {"l_diversity": 2}},
}


def told(release: anonymizer.Release) -> list[str]:
    return sorted(warning for warning in release.warnings if "looks like" in warning)


def expected() -> list[str]:
    given = policy(COLUMNS, TYPES)
    found = told(on_duckdb(given, embedded(TYPES, ROWS, "people")))
    assert len(found) == 2
    assert "mail addresses" in found[0]
    assert "telephone numbers" in found[0]
    assert "social security numbers" in found[0]
    return found


@pytest.mark.postgres
def test_postgres(postgres: str) -> None:
    load(postgres, TYPES, ROWS, "people")
    assert told(on_postgres(policy(COLUMNS, TYPES), postgres)) == expected()


@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with duckdb.connect() as connection:
        names = ", ".join(TYPES)
        connection.execute(f"create table t ({', '.join(f'{n} {k}' for n, k in TYPES.items())})")
        connection.executemany(f"insert into t ({names}) values (?, ?, ?, ?)", ROWS)
        connection.execute(f"copy t to '{path}' (format parquet)")
    spark.read.parquet(str(path)).write.mode("overwrite").saveAsTable("people")
    given = Policy.model_validate(
        {**policy(COLUMNS, TYPES).model_dump(mode="json", exclude_unset=True), "engine": "spark"}
    )
    assert told(anonymizer.run(given, spark, seed=1)) == expected()
