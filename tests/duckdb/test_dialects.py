"""Every statement of every setting has a form in the SQL of the engines that have the setting."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from anonymizer.errors import TemplateError
from tests.duckdb.dialects import (
    DIALECTS,
    SETTINGS,
    Recorded,
    on_engine,
    record,
    record_hierarchies,
)
from tests.duckdb.golden_settings import ROWS, TYPES
from tests.runs import source
from tests.selection import some

SEARCHES = ("mondrian/", "lgb/", "lattice/", "refine/", "deal/", "cells/", "persons/", "nodes/")
"""Folders of the templates of searches, of which every branch is compiled."""
NEVER_TAKEN = {
    ("lattice/failing", 5, "body"): "a distance by a tree beside a rule on all values",
    ("lattice/paths", 3, "else"): "only columns of one value",
    ("lattice/paths", 6, "body"): "only columns of one value",
}
"""Branches that no setting takes, by template and the number of the condition or loop in it."""
NOT_TAKEN: dict[str, set[tuple[str, int, str]]] = {
    "postgres": {
        ("lgb/swap", 0, "body"),
        ("mondrian/_cuts", 14, "body"),
        ("mondrian/_valid_cuts", 8, "body"),
        ("mondrian/_valid_cuts", 11, "body"),
        ("mondrian/_valid_cuts", 14, "body"),
        ("mondrian/positions", 3, "body"),
        ("persons/crowding", 0, "body"),
        ("persons/places", 1, "else"),
    },
    "spark": {
        ("mondrian/_least_loss", 5, "body"),
        ("mondrian/_least_loss", 13, "body"),
        ("mondrian/_least_loss", 16, "body"),
        ("mondrian/positions", 3, "body"),
        ("persons/crowding", 0, "body"),
        ("persons/places", 1, "else"),
    },
}
"""Branches of them that no setting takes for an engine: `test_golden` shows them on DuckDB."""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dialects")
    (folder / "wards.csv").write_text("A;*\nB;*\n")
    (folder / "born.csv").write_text("2000-01-01;winter;*\n2000-03-07;spring;*\n")
    return source(folder, TYPES, ROWS)


@cache
def recorded(engine: str, name: str, database: Path) -> Recorded:
    """What an engine gets of a setting; nothing where it does not have all of it."""
    into = Recorded(engine)
    given = on_engine(engine, database.parent, name)
    if given is not None:
        for left in database.parent.glob("private*"):
            left.unlink()
        record(into, name, given, database)
    return into


@some(3, 13)
@pytest.mark.parametrize("engine", DIALECTS)
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting(engine: str, name: str, database: Path) -> None:
    assert recorded(engine, name, database).problems() == []


@pytest.mark.parametrize("engine", DIALECTS)
def test_hierarchies(engine: str) -> None:
    made = Recorded(engine)
    record_hierarchies(made)
    assert made.problems() == []


@pytest.mark.parametrize(("engine", "size"), [("postgres", "CARDINALITY"), ("spark", "SIZE")])
def test_lengths_of_lists_and_of_texts(engine: str, size: str) -> None:
    """By the word of the template, whatever the names of the columns."""
    text = "select len(cell1) as a, length(cell1) as b, len(x) as c, 'len(x)' as d from t"
    (made,) = DIALECTS[engine].translate(text)
    listed = f"{size}(cell1) AS a, LENGTH(cell1) AS b, {size}(x) AS c, 'len(x)' AS d"
    assert listed.lower() in made.lower()


def test_spark_reads_no_hints() -> None:
    text = "with a as materialized (select 1 as x) select x from a"
    (made,) = DIALECTS["spark"].translate(text)
    assert "materialized" not in made.lower()


@pytest.mark.parametrize("unit", ["day", "month", "year", "second"])
def test_no_units_of_time_are_counted_on_spark(unit: str) -> None:
    with pytest.raises(TemplateError, match="DateDiff"):
        DIALECTS["spark"].translate(f"select date_diff('{unit}', a, b) from t")


@pytest.mark.slow
@pytest.mark.parametrize("engine", DIALECTS)
def test_every_branch_of_a_search_is_taken(engine: str, database: Path) -> None:
    made = [recorded(engine, name, database) for name in SETTINGS]
    taken = {branch for one in made for branch in one.branches}
    used = {branch.template for branch in taken}
    left = {
        (branch.template, branch.number, branch.outcome)
        for branch in {branch for one in made for branch in one.probe.branches}
        if branch not in taken
        and not branch.empty
        and branch.template in used
        and branch.template.startswith(SEARCHES)
    }
    assert left - NEVER_TAKEN.keys() == NOT_TAKEN[engine]
