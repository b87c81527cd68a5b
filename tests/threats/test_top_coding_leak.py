"""Bottom- and top-coded intervals tell no extreme of the data, in either form of cells."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from anonymizer.release.manifest import parsed
from tests.oracle.cells import covers, domain_of, parse, typed_cell
from tests.runs import policy, published, run, source
from tests.selection import few, some

COLUMNS: dict[str, tuple[str, str, list[Any], list[Any]]] = {
    # type, kind, values of four open, four inner and four open rows, bottom and top
    "age": ("INTEGER", "numeric", [11, 12, 13, 14, 30, 31, 32, 33, 91, 92, 93, 97], [18, 90]),
    "pay": (
        "DECIMAL(9,2)",
        "numeric",
        [Decimal(n) / 4 for n in (5, 6, 7, 9, 130, 131, 132, 133, 901, 902, 903, 917)],
        [18, 90],
    ),
    "load": ("DOUBLE", "numeric", [-7.5, 1, 2, 3, 30, 31, 32, 33, 91, 92, 93, 97.5], [18, 90]),
    "born": (
        "DATE",
        "date",
        [dt.date(y, 3, 3) for y in (1907, 1908, 1909, 1911, 1950, 1951, 1952, 1953)]
        + [dt.date(y, 3, 3) for y in (2017, 2018, 2019, 2023)],
        ["1930-01-01", "2010-01-01"],
    ),
}  # fmt: skip


@some(2)
@pytest.mark.parametrize("cells", ["text", "typed"])
@pytest.mark.parametrize("column", few(COLUMNS, 2, by=2))
def test_open_intervals_do_not_tell_the_extremes(tmp_path: Path, column: str, cells: str) -> None:
    sql_type, kind, values, (bottom, top) = COLUMNS[column]
    spec = {"builder": "intervals", "cuts": [bottom, top], "bottom": bottom, "top": top}
    database = source(tmp_path, {"id": "INTEGER", column: sql_type}, list(enumerate(values)))
    given = policy(
        tmp_path,
        {
            "id": {"role": "keep", "acknowledge_unique": True},
            column: {"role": "quasi", "hierarchy": spec},
        },
        k=3,
        algorithm={"name": "full_domain"},
        publish={"cells": cells},
    )
    release = run(given, database)
    assert parsed(release.manifest.text()).layout == release.manifest.layout
    rows = published(release)
    domain = domain_of(values, kind)
    found = set()
    for row in rows:
        cell = typed_cell(row, column, kind) if cells == "typed" else parse(row[column], kind)
        assert covers(cell, values[row["id"]], domain)
        found.add(cell)
    assert len(found) == 3
    shown = {bound for cell in found for bound in (cell.lo, cell.hi)}  # type: ignore[union-attr]
    assert not shown & {domain.lo, domain.hi}
