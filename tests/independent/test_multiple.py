"""The second verifier on tables of counts, made by hand, in which groups share persons.

The groups x, y and z share persons; `r` has one group for everybody. The minimum is 3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from anonymizer.independent.fetch import Table, UnreadableError
from anonymizer.independent.judge import judge_opened
from anonymizer.independent.manifest import read_manifest
from anonymizer.independent.rows import OpenRelease
from anonymizer.independent.rules import Check

ALL = "(all)"
GROUPS = ("x", "y", "z", ALL)
LEVELS = {"north": 1, ALL: 2}
"""The levels of the labels of `r` above the finest, where it has two."""
Grid = Mapping[str, str]
"""By label of `r`: figures in the order of `GROUPS`; `*` is hidden, `.` has no row."""
Data = dict[str, Any]
PLAIN: Data = {"levels": 1, "level": None, "nested": []}
MEASURE: Data = {"of": "persons", "places": 0, "parts": [], "nonnegative": False}


def rows(grid: Grid) -> Iterator[tuple[str, str, str]]:
    """Label, group and figure of every row."""
    for label, figures in grid.items():
        for group, figure in zip(GROUPS, figures.split(), strict=True):
            if figure != ".":
                yield label, group, figure


def manifest(**parts: Any) -> Data:
    """The manifest of a table by `r` and by `g`, whose groups share persons."""
    counts = {
        "by": [{"name": "r", **PLAIN}, {"name": "g", **PLAIN, "multiple": True}],
        "groupings": [[0, 0], [0, 1], [1, 0], [1, 1]],
        "measures": [{"name": "patients", **MEASURE}],
        "status": "status",
        "list_hidden": False,
        **parts,
    }
    names = [name for d in counts["by"] for name in (d["name"], d["level"]) if name is not None]
    columns = [
        {
            "column": name,
            "name": name,
            "role": "keep",
            "kind": "categorical",
            "sql_type": "BIGINT" if name in ("patients", "r_level") else "VARCHAR",
        }
        for name in (*names, "patients", "status")
    ]
    tables = {"witness": "counts__witness"}
    layout = {"algorithm": "suppress", "cells": "text", "columns": columns, "tables": tables}
    return {
        "format": 2,
        "view": "main.counts",
        "run_id": "0",
        "layout": {**layout, "counts": counts},
        "requirements": [{"name": "minimum", "column": None, "parameters": {"n": 3}}],
    }


def checks(grid: Grid, witnesses: Sequence[Grid], data: Data | None = None) -> dict[str, Check]:
    """Every check of a release with these figures."""
    data = data or manifest()
    deep = any(d["level"] for d in data["layout"]["counts"]["by"])
    alone = len(data["layout"]["counts"]["by"]) == 1

    def labels(label: str, group: str) -> tuple[str, ...]:
        if alone:
            return (group,)
        return (label, str(LEVELS.get(label, 0)), group) if deep else (label, group)

    names = [column["name"] for column in data["layout"]["columns"]]
    types = tuple(column["sql_type"] for column in data["layout"]["columns"])
    cells = tuple(
        (*labels(label, group), None, "hidden") if n == "*" else (*labels(label, group), n, "shown")
        for label, group, n in rows(grid)
    )
    others = tuple(
        (*labels(label, group), n, str(number))
        for number, witness in enumerate(witnesses, 1)
        for label, group, n in rows(witness)
    )
    opened = OpenRelease(
        read_manifest(json.dumps(data)),
        Table(tuple(names), types, cells),
        {"witness": Table((*names[:-1], "witness"), (*types[:-1], "BIGINT"), others)},
    )
    return {check.name: check for check in judge_opened(opened).checks}


def failing(grid: Grid, *witnesses: Grid, data: Data | None = None) -> dict[str, int]:
    """The checks that do not hold, each with the number of its failures."""
    found = checks(grid, witnesses, data)
    return {name: check.failing for name, check in found.items() if check.failing}


OPEN = {"a": "* 9 4 12", "b": "* 6 5 10", ALL: "9 15 9 22"}
"""A release that hides x of both regions."""
HALVES = {"a": "5 . . .", "b": "4 . . ."}
"""A witness of it."""
DARK = {"a": "* 9 4 *", "b": "* 6 5 *", ALL: "9 15 9 25"}
"""A release that hides how many persons these regions have as well."""
EVEN = {"a": "5 . . 13", "b": "4 . . 12"}
"""A witness of it."""


def test_groups_do_not_add_up() -> None:
    """Neither are the groups of a total its sum, nor what it leaves for those that are hidden."""
    assert failing(OPEN, HALVES) == {}
    assert failing(DARK, EVEN) == {}
    # with an ordinary column these are other totals
    data = manifest()
    data["layout"]["counts"]["by"][1]["multiple"] = False
    assert {"one_step", "witness_agrees"} <= {*failing(OPEN, HALVES, data=data)}


def test_the_rest_of_a_total() -> None:
    """Who is not in a group is nobody, or at least the minimum."""
    found = checks(OPEN, [HALVES])["one_step"]
    assert (found.failing, found.achieved) == (0, {"n": 3})  # 12 - 9
    nobody = OPEN | {"a": "* 9 4 9", ALL: "9 15 9 19"}
    found = checks(nobody, [HALVES])["one_step"]
    assert (found.failing, found.achieved) == (0, {"n": 4})  # 10 - 6, 19 - 15: 9 - 9 is not judged
    few = OPEN | {"a": "* 9 4 11", ALL: "9 15 9 21"}
    found = checks(few, [HALVES])["one_step"]
    assert (found.failing, found.achieved) == (1, {"n": 2})
    assert failing(few, HALVES) == {"one_step": 1}


def test_the_rest_of_a_total_over_other_columns() -> None:
    """It is judged in totals, too: 2 persons are not in y, whichever the region of each."""
    few = DARK | {ALL: "9 15 9 17"}
    witnesses = {"a": "5 . . 9", "b": "4 . . 8"}, {"a": "5 . . 11", "b": "4 . . 6"}
    assert failing(few, *witnesses) == {"one_step": 1, "witness_covers": 2}
    assert checks(few, witnesses)["one_step"].achieved == {"n": 2}


def test_a_group_of_more_than_everybody() -> None:
    more = OPEN | {"a": "* 13 4 12", ALL: "9 19 9 22"}
    found = checks(more, [HALVES])
    assert (found["one_step"].failing, found["one_step"].achieved) == (1, {"n": -1})
    assert failing(more, HALVES) == {"one_step": 1, "witness_agrees": 1}


def test_lines_of_other_columns() -> None:
    """Along `r` a total less its shown parts is judged as ever, in a group and in all."""
    in_group = OPEN | {"b": "7 6 5 10"}
    assert failing(in_group, {"a": "2 . . ."}) == {"one_step": 1, "witness_covers": 1}
    assert checks(in_group, [{"a": "2 . . ."}])["one_step"].achieved == {"n": 2}
    in_all = {"a": "* . . *", "b": "20 . . 20", ALL: "23 . . 23"}
    assert failing(in_all, {"a": "3 . . 3"}) == {}
    in_all = {"a": "* . . *", "b": "20 . . 20", ALL: "* . . 22"}
    assert failing(in_all, {"a": "2 . . 2", ALL: "22 . . ."}) == {
        "one_step": 1,
        "witness_covers": 1,
    }


def test_totals_of_witnesses() -> None:
    """In each witness the parts of a total along `r` add up, in a group and in all."""
    assert failing(OPEN, HALVES, {"a": "6 . . .", "b": "4 . . ."}) == {"witness_agrees": 1}
    assert failing(OPEN | {ALL: "9 15 9 23"}, HALVES) == {"witness_agrees": 1}
    assert failing(DARK, EVEN, {"a": "5 . . 13", "b": "4 . . 11"}) == {"witness_agrees": 1}


def test_a_witness_with_a_group_of_more_than_everybody() -> None:
    """A total of 9 agrees with y, of whom all are 9, and one of 8 does not."""
    assert failing(DARK, EVEN, {"a": "2 . . 9", "b": "7 . . 16"}) == {}
    assert failing(DARK, EVEN, {"a": "2 . . 8", "b": "7 . . 17"}) == {"witness_agrees": 1}


def test_a_witness_with_persons_in_no_group() -> None:
    """1, 9 and 4 are 14 persons at most."""
    assert failing(DARK, EVEN, {"a": "1 . . 14", "b": "8 . . 11"}) == {}
    assert failing(DARK, EVEN, {"a": "1 . . 15", "b": "8 . . 10"}) == {"witness_agrees": 1}


def test_shown_totals_of_no_persons_in_groups() -> None:
    """Nothing is hidden: the shown figures are the only table."""
    shown = {"a": "5 9 4 18", "b": "4 6 5 12", ALL: "9 15 9 30"}
    assert failing(shown) == {}
    assert failing(shown | {"a": "5 9 4 19", ALL: "9 15 9 31"}) == {"witness_agrees": 1}
    # all of them together are too many as well
    assert failing(shown | {"a": "5 9 4 22", ALL: "9 15 9 34"}) == {"witness_agrees": 2}


def test_a_total_without_groups_or_groups_without_one() -> None:
    """What has no row has no persons."""
    shown = {"a": "5 9 4 18", "b": "4 6 5 12", ALL: "9 15 9 30"}
    assert failing(shown | {"c": ". . . 3", ALL: "9 15 9 33"}) == {"witness_agrees": 1}
    assert failing(shown | {"c": "3 . . .", ALL: "12 15 9 30"}) == {"witness_agrees": 1}
    bare = {"a": "* 9 4 .", "b": "* 6 5 12", ALL: "9 15 9 12"}
    assert {"witness_agrees", "witness_covers"} <= {*failing(bare, HALVES)}


def test_hidden_groups_reach_the_minimum() -> None:
    small = {"a": "2 . . .", "b": "7 . . ."}
    assert failing(OPEN, small) == {"witness_covers": 1}
    assert failing(OPEN, small, HALVES) == {}


@pytest.mark.parametrize(
    ("in_b", "wrong"),
    [
        ((9,), 1),  # 10 - 9
        ((9, 8), 1),
        ((9, 7), 0),  # 3 are the minimum
        ((9, 10), 0),  # nobody
    ],
)
def test_the_rest_beside_a_hidden_group(in_b: tuple[int, ...], wrong: int) -> None:
    """In one witness those who are not in a hidden group are the minimum, or nobody."""
    witnesses = [{"a": f"{12 - n} . . .", "b": f"{n} . . ."} for n in in_b]
    found = failing(OPEN | {ALL: "12 15 9 22"}, *witnesses)
    assert found == ({"witness_covers": wrong} if wrong else {})


@pytest.mark.parametrize(("total", "wrong"), [(9, 0), (10, 1), (11, 1), (12, 0)])
def test_the_rest_of_a_hidden_total(total: int, wrong: int) -> None:
    """The same holds for a group that is shown, of 9, if its total is hidden."""
    found = failing(DARK, {"a": f"4 . . {total}", "b": f"5 . . {25 - total}"})
    assert found == ({"witness_covers": wrong} if wrong else {})


def test_nobody_is_outside_of_several_groups_at_once() -> None:
    """Each rest is 0 in one of the witnesses, but 6 + 6 - 10 persons are outside of x together."""
    grid = {"a": "* 6 . 6", "b": "* 6 . 6", ALL: "10 12 . *"}
    witnesses = [{"a": f"{n} . . .", "b": f"{10 - n} . . .", ALL: ". . . 12"} for n in (6, 4)]
    assert failing(grid, *witnesses) == {"witness_covers": 2}


def test_hidden_cells_without_witnesses() -> None:
    """Two groups, and the rest beside each; the total of x has no parts."""
    assert failing(OPEN) == {"witness_agrees": 1, "witness_covers": 4}


def test_whole_numbers() -> None:
    assert failing(OPEN, HALVES, {"a": "0 . . .", "b": "9 . . ."}) == {"witness_whole": 1}
    assert failing(OPEN, HALVES, {"a": "9 . . ."})["witness_whole"] == 1


def test_cells_and_small_figures() -> None:
    """Both are what they are without such a column."""
    assert failing(OPEN | {"a": "* 9 2 12", ALL: "9 15 7 22"}, HALVES) == {"no_small_cells": 1}
    data = manifest(groupings=[[0, 0], [1, 0]])
    assert failing(OPEN, HALVES, data=data)["cell_form"] == 3


def test_no_totals() -> None:
    """Without totals no group is compared with one."""
    data = manifest(groupings=[[0, 0]])
    grid = {"a": "* 9 4 .", "b": "* 6 5 ."}
    assert failing(grid, {"a": "5 . . .", "b": "3 . . ."}, data=data) == {}
    assert failing(grid, {"a": "5 . . .", "b": "2 . . ."}, data=data) == {"witness_covers": 1}


def test_totals_of_other_columns_only() -> None:
    data = manifest(groupings=[[0, 0], [1, 0]])
    grid = {"a": "* 9 4 .", "b": "* 6 5 .", ALL: "9 15 9 ."}
    assert failing(grid, HALVES, data=data) == {}
    assert failing(grid, {"a": "5 . . .", "b": "5 . . ."}, data=data) == {"witness_agrees": 1}


def test_no_other_column() -> None:
    data = manifest(by=[{"name": "g", **PLAIN, "multiple": True}], groupings=[[0], [1]])
    assert failing({ALL: "* 9 4 12"}, {ALL: "3 . . ."}, data=data) == {}
    assert failing({ALL: "* 9 4 12"}, {ALL: "13 . . ."}, data=data) == {
        "witness_agrees": 1,
        "witness_covers": 1,
    }
    assert failing({ALL: "* 9 4 11"}, {ALL: "3 . . ."}, data=data) == {"one_step": 1}


def test_levels_of_another_column() -> None:
    """Totals of a region are judged like all others; a and b are in the north."""
    nested = [["a", "north"], ["b", "north"], ["c", "c"]]
    by = [
        {"name": "r", "levels": 2, "level": "r_level", "nested": nested},
        {"name": "g", **PLAIN, "multiple": True},
    ]
    data = manifest(by=by, groupings=[[i, j] for i in range(3) for j in range(2)])
    grid = {"a": "* 9 4 *", "b": "* 6 5 *", "north": "9 15 9 25", ALL: "9 15 9 25"}
    assert failing(grid, EVEN, data=data) == {}
    witnesses = {"a": "5 . . 9", "b": "4 . . 8"}, {"a": "5 . . 11", "b": "4 . . 6"}
    few = grid | {"north": "9 15 9 17", ALL: "9 15 9 17"}
    assert failing(few, *witnesses, data=data) == {"one_step": 2, "witness_covers": 2}
    other = {"a": "5 . . 13", "b": "4 . . 11"}
    assert failing(grid, EVEN, other, data=data) == {"witness_agrees": 2}


def several(*levels: int, algorithm: str = "suppress", multiple: Any = True) -> Data:
    """A manifest of columns whose groups share persons, with these levels."""
    by = [{"name": "r", **PLAIN}]
    for number, n in enumerate(levels):
        name = f"g{number}"
        level = f"{name}_level" if n > 1 else None
        by.append({"name": name, "levels": n, "level": level, "nested": [], "multiple": multiple})
    data = manifest(by=by)
    data["layout"]["algorithm"] = algorithm
    if algorithm != "suppress":
        data["layout"]["tables"] = {}
    return data


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (several(1, algorithm="rest"), "cannot judge"),
        (several(1, 1), "cannot judge"),
        (several(2), "cannot judge"),
        (several(1, multiple=1), "boolean"),
        (several(1, multiple=None), "boolean"),
    ],
)
def test_columns_that_are_not_judged(data: Data, said: str) -> None:
    read_manifest(json.dumps(several(1)))
    read_manifest(json.dumps(several(1, 2, multiple=False)))
    with pytest.raises(UnreadableError, match=said):
        read_manifest(json.dumps(data))


@pytest.mark.parametrize(("algorithm", "more"), [("round", {"base": 3}), ("dp", {})])
def test_methods_that_are_not_judged(algorithm: str, more: Data) -> None:
    noise = {"epsilon": 1.0, "spent": 1.0, "budget": 1.0}
    for multiple in (False, True):
        data = several(1, algorithm=algorithm, multiple=multiple)
        data["layout"]["counts"] |= more or {"noise": noise}
        if multiple:
            with pytest.raises(UnreadableError, match="cannot judge"):
                read_manifest(json.dumps(data))
        else:
            read_manifest(json.dumps(data))


def test_limits_of_groups_that_share_persons() -> None:
    """The sum of such groups is not the number of persons: no share of it is judged."""
    data = manifest()
    data["requirements"].append({"name": "groups", "column": "g", "parameters": {"share": 0.9}})
    with pytest.raises(UnreadableError, match="does not add up"):
        checks(OPEN, [HALVES], data)
    data["requirements"][1]["column"] = "r"
    assert checks(OPEN, [HALVES], data)["groups_share"].passed
