"""Columns that follow from others: a town is published as coarsely as its ZIP code."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

import anonymizer
from anonymizer import Policy
from anonymizer.compile import Table
from anonymizer.errors import PolicyError
from anonymizer.verification.form import form
from tests.selection import rounds

C22 = """
create table t as select i as id, 18 + i % 60 as age, 2026 - 18 - i % 60 as born,
  ['10115', '10117', '20095', '80331', '99084', '01067'][1 + i // 7 % 6] as zip,
  ['B-Mitte', 'B-Tiergarten', 'Hamburg', 'Munich', 'Erfurt', 'Dresden'][1 + i // 7 % 6] as town,
  [12.5, 12.5, 40.0, 31.25, 7.75, 9.5][1 + i // 7 % 6] as weight,
  ['flu', 'gout', 'asthma'][1 + i * 7 // 3 % 3] as ill
from range(600) t(i)
"""
MARK = " or NULL"


def given(columns: dict[str, Any], folder: Path, **options: Any) -> Policy:
    publish = {"name": "a", "database": str(folder / "r.duckdb"), **options.pop("publish", {})}
    made = {
        "version": 1,
        "source": {"table": "t"},
        "columns": columns,
        "privacy": {"k_anonymity": 3},
        "publish": publish,
    }
    return Policy.model_validate({**made, **options})


def database(folder: Path, statement: str) -> Path:
    file = folder / "w.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute(statement)
    return file


def test_kept_columns_that_tell_others_single_nobody_out(tmp_path: Path) -> None:
    columns = {
        "id": {"role": "identifier"},
        "age": {"role": "quasi"},
        "born": {"role": "quasi", "like": "age"},
        "zip": {"role": "quasi"},
        "town": {"role": "quasi", "like": "zip"},
        "weight": {"role": "quasi", "like": "zip", "kind": "categorical"},
        "ill": {"role": "sensitive", "protect": {"l_diversity": 2}},
    }
    policy = given(columns, tmp_path, key="id", privacy={"k_anonymity": 5})
    release = anonymizer.run(policy, database(tmp_path, C22))
    frame = release.df()
    for names in (["born", "town", "weight"], ["born"], ["town"], ["age", "born", "zip", "town"]):
        assert frame.groupby(names, dropna=False).size().min() >= 5
    # the loss is that of the two columns that are cut
    assert release.measures["qi_cells"] == 2 * 600
    assert {name for name in release.measures if name.startswith("ncp.")} == {"ncp.age", "ncp.zip"}
    followed = ("born", "town", "weight")
    without = given(
        columns | {name: {"role": "drop"} for name in followed},
        tmp_path,
        key="id",
        privacy={"k_anonymity": 5},
    )
    bare = anonymizer.run(without, tmp_path / "w.duckdb")
    assert bare.measures["ncp"] == pytest.approx(release.measures["ncp"])


def covers(cell: str | None, value: Any, *, hierarchy: bool) -> bool:
    """Return whether a text cell admits a value, by the grammar of cells."""
    if value is None:
        return cell is None or cell.endswith(MARK)
    if cell is None:
        return False
    body, text = cell.removesuffix(MARK), str(value)
    if body == "*":
        return True
    if body.startswith("["):
        low, high = body[1:-1].split(", ")
        return int(low) <= int(value) <= int(high)
    if body.startswith("{"):
        return text in body[1:-1].split(", ")
    return text.startswith(body.rstrip("*")) if hierarchy else text == body


def told(values: set[Any], every: set[Any], *, grid: bool) -> str | None:
    """The text of a categorical cell for these values."""
    known, mark = sorted(values - {None}), MARK if None in values else ""
    if not known:
        return None
    if len(known) == 1:
        return f"{known[0]}{mark}"
    whole = "*" if grid or set(known) == every - {None} else f"{{{', '.join(known)}}}"
    return whole + mark


@pytest.mark.parametrize("bounds", ["tight", "grid"])
@pytest.mark.parametrize("zip_column", ["number", "prefix", "set", "large set"])
@rounds(2, 15)
def test_cells_follow_from_the_cells_of_the_other(
    bounds: str, zip_column: str, rounds: int, tmp_path: Path
) -> None:
    """By brute force: the values of all published rows that the other column's cell admits."""
    for seed in range(rounds):
        draw = random.Random(seed)
        zips = range(100, 190) if zip_column == "large set" else range(10, 40)
        towns = {z: draw.choice("ABCD") for z in zips}
        rows = []
        for i in range(draw.randint(30, 160)):
            z = draw.choice([None, *towns]) if draw.random() < 0.2 else draw.choice(zips)
            town = draw.choice([None, "A", "E"]) if draw.random() < 0.1 or not z else towns[z]
            rows.append((i, draw.randint(20, 50), z, town))
        kind = "int" if zip_column == "number" else "varchar"
        folder = tmp_path / str(seed)
        folder.mkdir()
        with duckdb.connect(str(folder / "w.duckdb")) as con:
            con.execute(f"create table t (nr int, age int, zip {kind}, town varchar)")
            con.executemany("insert into t values (?, ?, ?, ?)", rows)  # (numbers become text)
        tree = zip_column == "prefix"
        columns = {
            "nr": {"role": "keep", "acknowledge_unique": True},
            "age": {"role": "quasi"},
            "zip": {"role": "quasi", **({"hierarchy": {"builder": "prefix"}} if tree else {})},
            "town": {"role": "quasi", "like": "zip"},
        }
        policy = given(columns, folder, publish={"bounds": bounds})
        frame = anonymizer.run(policy, folder / "w.duckdb").df()
        source = {nr: (z, town) for nr, _, z, town in rows}
        published = [
            (source[nr], zip_cell, town_cell)
            for nr, zip_cell, town_cell in frame[["nr", "zip", "town"]]
            .astype(object)
            .where(frame.notna(), None)
            .itertuples(index=False)
        ]
        every = {town for (_, town), _, _ in published}
        for _, zip_cell, town_cell in published:
            admitted = {t for (z, t), _, _ in published if covers(zip_cell, z, hierarchy=tree)}
            assert town_cell == told(admitted, every, grid=bounds == "grid")


@pytest.mark.parametrize("cells", ["text", "typed"])
def test_the_verifier_sees_a_cell_that_tells_more(cells: str, tmp_path: Path) -> None:
    dropped = {name: {"role": "drop"} for name in ("age", "weight", "ill")}
    columns = {
        **dropped,
        "id": {"role": "identifier"},
        "zip": {"role": "quasi"},
        "town": {"role": "quasi", "like": "zip"},
        "born": {"role": "quasi"},
    }
    policy = given(columns, tmp_path, key="id", publish={"cells": cells})
    release = anonymizer.run(policy, database(tmp_path, C22))
    there = {check.name for check in release.verification.checks if check.column == "town"}
    assert {"cells_alike", "source_covers"} <= there
    with duckdb.connect() as con:
        con.register("shown", release.df())
        con.execute("create table rows as select * from shown")
        cell = "['Bonn']" if cells == "typed" else "'Bonn'"
        for change, broken in (("1 = 0", 0), ("class_id = 1", 1)):
            con.execute(f"update rows set town = {cell} where {change}")
            (asked,) = (
                one
                for one in form(Table("rows"), release.manifest.layout)
                if one.name == "cells_alike"
            )
            assert asked.ask(lambda text: con.execute(text).fetchall()).failing == broken


@pytest.mark.parametrize(
    ("columns", "options", "path"),
    [
        ({"town": {"role": "keep", "like": "zip"}}, {}, "columns.town.like"),
        ({"town": {"role": "quasi", "like": "zap"}}, {}, "columns.town.like"),
        ({"town": {"role": "quasi", "like": "town"}}, {}, "columns.town.like"),
        ({"town": {"role": "quasi", "like": "zip", "weight": 2}}, {}, "columns.town.weight"),
        (
            {"town": {"role": "quasi", "like": "zip"}},
            {"algorithm": {"name": "lgb"}},
            "columns.town.like",
        ),
        (
            {"town": {"role": "quasi", "like": "zip"}, "id": {"role": "drop"}},
            {"person": "id", "merge_person_rows": True},
            "columns.town.like",
        ),
        (
            {"town": {"role": "quasi", "like": "zip"}, "area": {"role": "quasi", "like": "town"}},
            {},
            "columns.area.like",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(
    columns: dict[str, Any], options: dict[str, Any], path: str, tmp_path: Path
) -> None:
    zip_column = {"role": "quasi", "hierarchy": {"builder": "prefix"}}
    with pytest.raises(PolicyError) as caught:
        given({"zip": zip_column, **columns}, tmp_path, **options)
    assert [one.path for one in caught.value.problems] == [path]
