"""Statements whose rows Spark numbers in parts: a window over all rows would be one task."""

from __future__ import annotations

import pytest

from anonymizer.compile import Sql, work
from anonymizer.engines.spark.connection import numbering
from anonymizer.engines.spark.tables import Route
from anonymizer.steps import Step


@pytest.mark.parametrize("unpacked", [[], [(Sql("t1 // 7"), Sql("c1"))]])
def test_units_end_with_their_numbers(unpacked: list[tuple[Sql, Sql]]) -> None:
    parameters = {
        "units": work("units"),
        "tuples": work("tuples"),
        "leaf": Sql("1"),
        "keys": [Sql("t1")],
        "codes": [],
        "unpacked": unpacked,
    }
    text = Step("units", "split/units", parameters).statement("spark").text
    found = numbering(Route.of(text).rows_written)
    assert found is not None
    assert found.order == "leaf, t1"
