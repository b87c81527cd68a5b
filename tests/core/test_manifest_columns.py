"""What a manifest says of cells has to fit the role of their column and the form of the cells."""

from __future__ import annotations

from typing import Any

import pytest

from anonymizer.contract.layout import PublishedColumn
from anonymizer.contract.reading import has_cells

BOUNDS = {"lo": "age_lo", "hi": "age_hi", "nullable": "age_nullable"}
GOOD: list[tuple[str, str, dict[str, Any]]] = [
    ("text", "quasi", {}),
    ("text", "quasi", {"hierarchy": True}),
    ("typed", "quasi", BOUNDS),
    ("typed", "semi", {**BOUNDS, "value": "age_value", "bucket": "age_bucket"}),
    ("typed", "quasi", {"list_cells": True}),
    ("typed", "quasi", {"hierarchy": True, "nullable": "age_nullable"}),
    ("typed", "keep", {}),
    ("typed", "sensitive", {"bucket": "age_bucket"}),
]
BAD: list[tuple[str, str, dict[str, Any]]] = [
    ("text", "quasi", {"list_cells": True}),
    ("text", "quasi", BOUNDS),
    ("text", "sensitive", {"hierarchy": True}),
    ("text", "keep", {"list_cells": True}),
    ("text", "keep", {"kind": "numeric"}),
    ("typed", "quasi", {}),
    ("typed", "quasi", {**BOUNDS, "list_cells": True}),
    ("typed", "quasi", {**BOUNDS, "hierarchy": True}),
    ("typed", "quasi", {"hierarchy": True, "list_cells": True}),
    ("typed", "sensitive", BOUNDS),
]


def described(role: Any, more: dict[str, Any]) -> PublishedColumn:
    given = {"kind": "categorical", "sql_type": "INTEGER", "name": "age", **more}
    return PublishedColumn(column="age", role=role, **given)


@pytest.mark.parametrize(("cells", "role", "more"), GOOD)
def test_a_column_as_runs_describe_it(cells: str, role: str, more: dict[str, Any]) -> None:
    assert has_cells(described(role, more), cells)


@pytest.mark.parametrize(("cells", "role", "more"), BAD)
def test_a_column_as_no_run_describes_it(cells: str, role: str, more: dict[str, Any]) -> None:
    assert not has_cells(described(role, more), cells)
