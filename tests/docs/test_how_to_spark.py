"""The page on Spark: what it does with an open session."""

from __future__ import annotations

from typing import Any

import pytest

import anonymizer
from tests.backends.conftest import spark, spark_session
from tests.docs.blocks import ROOT, blocks

__all__ = ["spark", "spark_session"]

pytestmark = pytest.mark.spark

PAGE = ROOT / "docs" / "how-to" / "spark.md"
POLICY = """
version: 1
source: {table: visits}
columns: {age: {role: quasi}, ill: {role: sensitive, protect: {l_diversity: 2}}}
privacy: {k_anonymity: 5}
"""


def test_an_open_session(spark: Any) -> None:
    made = spark.range(100).selectExpr("id % 10 as age", "id % 3 as ill")
    made.createOrReplaceTempView("visits")
    names = {
        "anonymizer": anonymizer,
        "policy": anonymizer.Policy.loads(POLICY),
        "spark": spark,
    }
    (block,) = (block for block in blocks(PAGE) if block.language == "python")
    exec(block.code, names)
    release: Any = names["release"]
    assert release.verification.passed
