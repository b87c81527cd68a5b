"""Columns with top and bottom codes: open intervals end with their code, in bars and in losses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from anonymizer.review.report.content import collect
from tests.oracle import report as oracle
from tests.oracle.cells import domain_of, parse
from tests.report.cases import COLUMNS, ends, labels, made, near, table
from tests.runs import policy, run, source
from tests.selection import some


@pytest.mark.slow
@pytest.mark.parametrize("cells", ["text", "typed"])
def test_open_intervals_end_with_their_code(tmp_path: Path, cells: str) -> None:
    """Beyond a top or bottom code there is one value: nothing is spread up to the end of a type."""
    ages = {"builder": "intervals", "cuts": [40, 50], "bottom": 30, "top": 60}
    columns = {
        **COLUMNS, "wage": "drop", "born": "drop", "age": {"role": "quasi", "hierarchy": ages},
        "town": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
    }  # fmt: skip
    case = made(
        tmp_path, table(150, 1, towns=12), columns=columns, algorithm={"name": "full_domain"},
        suppression_limit=0.3, publish={"cells": cells},
    )  # fmt: skip

    def coded(value: Any) -> Any:
        return value if value is None else 29 if value < 30 else min(value, 60)

    texts = []
    for row in case.release:
        if cells == "typed":
            low, high, nullable = row["age_lo"], row["age_hi"], row["age_nullable"]
        else:
            cell = parse(row["age"], "numeric")
            low = high = getattr(cell, "value", None)
            low, high = getattr(cell, "lo", low), getattr(cell, "hi", high)
            nullable = getattr(cell, "nullable", False)
        low, high = coded(low), coded(high)
        text = None if low is None else str(low) if low == high else f"[{low}, {high}]"
        texts.append(text if text is None or not nullable else f"{text} or NULL")
    assert "2147483647" in str(case.release)
    values = [coded(row["age"]) for row in case.source]
    before = oracle.of_values(values, "numeric")
    after = oracle.of_cells(texts, domain_of(values, "numeric"))
    (found,) = [d for d in case.report.distributions if d.column == "age"]
    assert near(found.distance, oracle.moved(before, after), len(case.source))
    assert near(found.below, oracle.below(before, after), len(case.source))
    for bar, (low, high) in zip(found.bars, map(ends, labels(found)), strict=False):
        held = [m for v, m in after.points.items() if v is not None and low <= v <= high]
        assert near(bar.after, sum(held, Fraction(0)), len(case.source)), bar


@pytest.mark.slow
@some(1)
@pytest.mark.parametrize("cells", ["text", "typed"])
def test_null_cells_of_coded_columns_cost_nothing(tmp_path: Path, cells: str) -> None:
    """A NULL has no bounds, and least() and greatest() would take the codes for them."""
    ages = {"builder": "intervals", "cuts": [40, 50], "bottom": 30, "top": 60}
    columns = {
        **dict.fromkeys(COLUMNS, "drop"), "age": {"role": "quasi", "hierarchy": ages},
    }  # fmt: skip
    case = made(
        tmp_path, table(150, 1, towns=12), columns=columns, algorithm={"name": "full_domain"},
        publish={"cells": cells},
    )  # fmt: skip
    costs = []
    for row in case.release:
        if cells == "typed":
            low, high = row["age_lo"], row["age_hi"]
        elif row["age"] is None:
            low = high = None
        else:
            cell = parse(row["age"], "numeric")
            low = getattr(cell, "lo", getattr(cell, "value", None))
            high = getattr(cell, "hi", getattr(cell, "value", None))
        costs.append(0.0 if low is None else max(min(high, 60) - max(low, 30), 0) / (60 - 30))
    assert any(row.get("age", row.get("age_lo")) is None for row in case.release)
    assert case.report.manifest["measures"]["ncp"] == pytest.approx(sum(map(float, costs)) / 150)
    assert case.report.manifest["measures"]["ncp.age"] == pytest.approx(
        sum(map(float, costs)) / 150
    )


@pytest.mark.slow
def test_texts_with_numbers_for_tokens_are_compared(tmp_path: Path) -> None:
    """A token that is a number, or a constant, stands for values that are none."""
    rows = [(n % 3, f"P{n:03}", f"note {n}") for n in range(9)]
    columns = {
        "age": "quasi",
        "patient": {"role": "token", "format": "number"},
        "note": {"role": "constant", "value": 1},
    }
    given = policy(tmp_path, columns)
    types = {"age": "INTEGER", "patient": "VARCHAR", "note": "VARCHAR"}
    database = source(tmp_path, types, rows)
    run(given, database)
    shown = {d.column: d.role for d in collect(given, source=str(database)).distributions}
    assert shown["patient"] == shown["note"] == "masked"
