"""Files as offices write them, on Spark: the rows of DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer
from anonymizer.policy import Policy
from anonymizer.run import verbs

LINES = ["Extract;;;", "nr;born;zip;ill"]
LINES += [
    f"{i};{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i % 40};0{1067 + i % 3};"
    f"{'k.A.' if i % 9 == 0 else 'flu'}"
    for i in range(200)
]


def cells(release: Any) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row[1:])) for row in release.df().itertuples(index=False))


@pytest.mark.spark
def test_spark(spark: Any, tmp_path: Path) -> None:
    file = tmp_path / "office.csv"
    file.write_bytes("\n".join([*LINES, "Summe;;;", ""]).encode("utf-16"))
    text = anonymizer.init(str(file), base=tmp_path).text
    here = Policy.loads(text, tmp_path)
    given = {
        **here.to_dict(),
        "engine": "spark",
        "publish": {"name": "office_rel", "bounds": "grid"},
    }
    there = Policy.model_validate(given, context={"base": tmp_path})
    assert cells(verbs.run(there, spark, seed=1)) == cells(verbs.run(here, None, seed=1))
