"""Attacks that solve published figures and labels for values that are not published.

Each is the program of a recipient who has the release and its manifest. What it recovers has to be
nothing that the hidden value moves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import AnonymizerError
from anonymizer.release.published import Release
from tests import runs
from tests.selection import some

TYPES = {"id": "INTEGER", "age": "INTEGER", "clinic": "VARCHAR"}
CLINICS = ("ab", "ba", "cc", "dd")
INTERVAL = re.compile(r"\[(-?\d+), (-?\d+)\]")


def people(*hidden: tuple[Any, Any], n: int = 40) -> list[tuple[Any, ...]]:
    rows = [(i, 20 + i % 41, CLINICS[i % 4]) for i in range(n)]
    return [*rows, *((1000 + i, *row) for i, row in enumerate(hidden))]


def release_of(
    folder: Path,
    rows: list[tuple[Any, ...]],
    columns: Mapping[str, Any],
    algorithm: str | Mapping[str, Any] = "mondrian",
    **rest: Any,
) -> tuple[Release, runs.Rows]:
    folder.mkdir(parents=True, exist_ok=True)
    source = runs.source(folder, TYPES, rows)
    options = {"name": algorithm} if isinstance(algorithm, str) else dict(algorithm)
    given = runs.policy(
        folder,
        {"id": "drop", **columns},
        key="id",
        suppression_limit=0.2,
        algorithm=options,
        **rest,
    )
    release = runs.run(given, source)
    return release, runs.published(release)


def ends(cell: str) -> tuple[int, int]:
    """The bounds of a text cell of numbers."""
    found = INTERVAL.fullmatch(cell.removesuffix(" or NULL"))
    return (int(found[1]), int(found[2])) if found else (int(cell), int(cell))


def solved_width(release: Release, rows: runs.Rows) -> float:
    """The range that NCP was divided by: the widths of the cells over their losses."""
    measures = release.measures
    widths = sum(hi - lo for lo, hi in (ends(row["age"]) for row in rows if row["age"] != "*"))
    lost = measures["suppressed"] + sum(row["age"] == "*" for row in rows)
    return float(widths / (measures["ncp_sum"] - lost))


@some(1)
@pytest.mark.parametrize("hidden", [61, 113, 31337])
def test_ncp_tells_no_suppressed_extreme(tmp_path: Path, hidden: int) -> None:
    columns = {"age": "quasi", "clinic": {"role": "keep", "nulls": "suppress"}}
    release, rows = release_of(tmp_path, people((hidden, None)), columns, k=8)
    assert release.measures["suppressed"] == 1
    shown = [end for row in rows for end in ends(row["age"])]
    assert solved_width(release, rows) == pytest.approx(max(shown) - min(shown))


@some(1)
@pytest.mark.parametrize("oldest", [90, 103, 117])
def test_ncp_tells_nothing_above_a_top_code(tmp_path: Path, oldest: int) -> None:
    rows = [(i, 50 + i % 40, "ab") for i in range(80)] + [(100 + i, oldest, "ab") for i in range(4)]
    age = {"role": "quasi", "hierarchy": {"builder": "intervals", "cuts": [50, 70], "top": 90}}
    release, found = release_of(tmp_path, rows, {"age": age, "clinic": "keep"}, "full_domain")
    cells = {row["age"] for row in found}
    assert str(oldest) not in cells or oldest == 90
    clipped = [(max(lo, 50), min(hi, 90)) for lo, hi in map(ends, cells)]
    width = max(hi for _, hi in clipped) - min(lo for lo, _ in clipped)
    total = sum((min(hi, 90) - lo) / width for lo, hi in (ends(row["age"]) for row in found))
    assert release.measures["ncp_sum"] == pytest.approx(total)


@some(1)
@pytest.mark.parametrize("algorithm", ["full_domain", "privacyfrost"])
def test_a_row_that_the_algorithm_suppresses_moves_no_figure(
    tmp_path: Path, algorithm: str
) -> None:
    options: dict[str, Any] = {"name": algorithm}
    tree = {"builder": "conventional", "min_width": 8}
    age: dict[str, Any] = {"role": "quasi", "hierarchy": tree}
    clinic: dict[str, Any] = {"role": "quasi", "hierarchy": {"builder": "frequency"}}
    if algorithm == "privacyfrost":
        options["presampling_k"] = 2
        age["presampling_level"] = 2
    columns = {"age": age, "clinic": clinic}
    release, rows = release_of(tmp_path, people((31337, "RARE_CLINIC")), columns, options, k=2)
    assert release.measures["suppressed"] == 1
    told = json.dumps(release.manifest.data, default=str) + json.dumps(rows, default=str)
    assert "RARE_CLINIC" not in told
    bounds = {end for row in rows if row["age"] != "*" for end in ends(row["age"])}
    assert all(20 <= bound <= 60 for bound in bounds)
    if bounds and release.measures["ncp_sum"] > 1:
        only = [row for row in rows if row["age"] != "*"]
        shown = max(bounds) - min(bounds)
        widths = sum(hi - lo for lo, hi in (ends(row["age"]) for row in only))
        assert widths <= shown * len(only)


BUILDERS: list[tuple[str, Mapping[str, Any]]] = [
    ("clinic", {"builder": "frequency"}),
    ("clinic", {"builder": "order", "values": [*CLINICS, "RARE_CLINIC"]}),
    ("clinic", {"builder": "prefix"}),
    ("age", {"builder": "conventional"}),
    ("age", {"builder": "divisor"}),
    ("age", {"builder": "cardinality"}),
    ("age", {"builder": "on_the_fly"}),
    ("age", {"builder": "intervals", "cuts": [0, 20, 40]}),
]


@some(2, 6)
@pytest.mark.parametrize("cells", ["text", "typed"])
@pytest.mark.parametrize("how", ["left out for NULL", "suppressed"])
@pytest.mark.parametrize(("column", "tree"), BUILDERS, ids=[b["builder"] for _, b in BUILDERS])
def test_no_label_knows_a_hidden_value(
    tmp_path: Path, column: str, tree: Mapping[str, Any], how: str, cells: str
) -> None:
    """A row of its own clinic and age 1741 is hidden; everything else is the same without it."""
    columns: dict[str, Any] = {
        "age": {"role": "quasi", "hierarchy": {"builder": "conventional"}},
        "clinic": {"role": "quasi", "hierarchy": {"builder": "frequency"}},
    }
    columns[column]["hierarchy"] = tree
    hidden: tuple[Any, Any] = (1741, "RARE_CLINIC")
    if how == "left out for NULL":
        other = "clinic" if column == "age" else "age"
        columns[other]["nulls"] = "suppress"
        hidden = (1741, None) if column == "age" else (None, "RARE_CLINIC")
    try:
        release, rows = release_of(
            tmp_path, people(hidden), columns, "full_domain", publish={"cells": cells}
        )
    except AnonymizerError as error:  # pragma: no cover - the table is made to hold
        pytest.fail(str(error))
    if how == "suppressed" and not release.measures["suppressed"]:
        # the optimum has covered the row, by the root: there is nothing that tells it
        assert {row.get(column, "*") for row in rows} <= {"*"} or cells == "typed"
        return
    told = json.dumps(rows, default=str) + json.dumps(release.manifest.data, default=str)
    assert "RARE" not in told
    numbers = {int(n) for row in rows for n in re.findall(r"-?\d+", str(row_age(row)))}
    assert all(0 <= n <= 60 for n in numbers), numbers


def row_age(row: Mapping[str, Any]) -> str:
    """What a row tells of the age, in either form."""
    return " ".join(str(row[n]) for n in ("age", "age_lo", "age_hi") if row.get(n) is not None)


def test_no_null_where_every_null_is_left_out(tmp_path: Path) -> None:
    columns = {
        "age": {"role": "quasi", "hierarchy": {"builder": "conventional"}, "nulls": "suppress"},
        "clinic": {"role": "quasi", "hierarchy": {"builder": "prefix"}},
    }
    _, rows = release_of(tmp_path, people((None, None), (None, "ab")), columns, "full_domain")
    assert not any("NULL" in str(row["clinic"]) for row in rows)
