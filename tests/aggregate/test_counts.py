"""`assess --counts`: what published figures say of those that are hidden."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pandas as pd
import pytest

from anonymizer.api import assess_counts
from anonymizer.cli import main
from anonymizer.errors import AnonymizerError, EngineError, SourceError
from anonymizer.review import counts
from tests.aggregate.enumeration import draw
from tests.selection import rounds, slow

pytest.importorskip("highspy")


@rounds(60, 600, 5000)
def test_tiny_tables_against_enumeration(rounds: int) -> None:
    checked = 0
    with duckdb.connect() as connection:
        for seed in range(rounds):
            random = Random(seed)
            minimum = random.choice([2, 3, 4])
            published = draw(random, minimum)
            if len(published.atoms) > 9:
                continue
            ranges, base = published.ranges(), published.rounded
            assert all(ranges.values()), seed
            hidden = [c for c, n in published.figures.items() if n is None or base > 1]
            below = {c for c in hidden if max(ranges[c]) < minimum and min(ranges[c]) > 0}
            exact = {c: ranges[c] for c in hidden if len(ranges[c]) == 1}
            if base > 1:
                exact = {c: values for c, values in exact.items() if max(values) < minimum}
            columns = ", ".join(f"{name} varchar" for name in published.by)
            connection.execute(f"create or replace table t ({columns}, n int)")
            places = ", ".join("?" * (len(published.by) + 1))
            rows = [(*cell, n) for cell, n in published.figures.items()]
            connection.executemany(f"insert into t values ({places})", rows)
            found = assess_counts(
                "t",
                connection,
                by=published.by,
                minimum=minimum,
                rounded=base if base > 1 else None,
            )
            assert (found.exact, found.below, found.undecided) == (len(exact), len(below), 0), seed
            for cell in found.recomputed:
                assert exact[cell.labels] == {cell.least}, seed
            checked += bool(hidden)
    assert checked > rounds / 2


EDUCATION = """
    case when education in ('HS-grad', 'Some-college') then 'school'
         when education like 'Assoc%' then 'assoc'
         when education in ('Bachelors', 'Masters', 'Doctorate', 'Prof-school') then 'degree'
         else 'none' end as schooling
"""
LEVELS = """
    select occupation, coalesce(education, schooling) as education,
        case when education is not null then 0 when schooling is not null then 1 end
            as education_level,
        count(*) as n
    from adult group by cube (occupation),
        grouping sets ((education, schooling), (schooling), ())
"""
NESTED = """
    select occupation, schooling, education, count(*) as n from adult
    group by cube (occupation), grouping sets ((education, schooling), (schooling), ())
"""
CUBE = "select {by}, count(*) as n from adult group by cube ({by})"
THREE, FOUR = "education, occupation, sex", "education, occupation, sex, race"


@pytest.fixture(scope="module")
def adult(data_folder: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        path = data_folder / "adult_complete.parquet"
        connection.execute(f"create table adult as select *, {EDUCATION} from '{path}'")
        yield connection


@pytest.mark.parametrize(
    ("query", "by", "cells", "hidden", "rounded"),
    [
        (NESTED, "occupation, schooling, education", (288, 37), (28, 35), (3, 23)),
        (LEVELS, "occupation, education", (288, 37), (28, 35), (3, 23)),
        (CUBE, THREE, (647, 138), (106, 137), (12, 107)),
        (CUBE, FOUR, (2670, 1061), (1029, 1060), None),
        pytest.param(CUBE, FOUR, (2670, 1061), None, (242, 908), marks=slow),
    ],
)
def test_published_tables_of_adult(
    adult: duckdb.DuckDBPyConnection,
    query: str,
    by: str,
    cells: tuple[int, int],
    hidden: tuple[int, int] | None,
    rounded: tuple[int, int] | None,
) -> None:
    counts, columns = query.format(by=by), by.split(", ")
    if hidden is not None:
        table = f"select * replace (case when n >= 5 then n end as n) from ({counts})"
        found = assess_counts(table, adult, by=columns)
        assert (found.cells, found.hidden) == cells
        assert (found.exact, found.below, found.undecided) == (*hidden, 0)
        assert len(found.recomputed) == 20
    if rounded is not None:
        table = f"select * replace (cast(5 * round(n / 5) as int) as n) from ({counts})"
        found = assess_counts(table, adult, by=columns, rounded=5)
        assert (found.cells, found.hidden) == (cells[0], 0)
        assert (found.exact, found.below, found.undecided) == (*rounded, 0)


def crossed(rows: dict[str, list[int]], columns: list[str]) -> list[tuple[str, str, int]]:
    """A table of two columns with all totals."""
    whole = [*rows.items(), ("(all)", [sum(n) for n in zip(*rows.values(), strict=True)])]
    return [
        (row, column, n)
        for row, counts in whole
        for column, n in zip([*columns, "(all)"], [*counts, sum(counts)], strict=True)
    ]


EXAMPLE = {
    "r1": [20, 50, 10, 15],
    "r2": [2, 19, 22, 30],
    "r3": [17, 32, 12, 8],
    "r4": [9, 7, 25, 14],
}


def frame_of(cells: list[tuple[str, str, int]], hidden: set[tuple[str, str]]) -> pd.DataFrame:
    rows = [(a, b, None if (a, b) in hidden else float(n)) for a, b, n in cells]
    return pd.DataFrame(rows, columns=["a", "b", "n"])


def test_the_small_count_alone_is_recomputed() -> None:
    cells = crossed(EXAMPLE, ["c1", "c2", "c3", "c4"])
    found = assess_counts(frame_of(cells, {("r2", "c1")}), by=["a", "b"])
    assert (found.cells, found.hidden, found.exact, found.below) == (25, 1, 1, 1)
    (cell,) = found.recomputed
    assert (cell.labels, cell.least, cell.most) == (("r2", "c1"), 2, 2)
    assert cell.how in ("48 - 20 - 17 - 9 along a", "73 - 19 - 22 - 30 along b")


def test_the_optimal_pattern_withstands() -> None:
    cells = crossed(EXAMPLE, ["c1", "c2", "c3", "c4"])
    hidden = {("r2", "c1"), ("r2", "c2"), ("r4", "c1"), ("r4", "c2")}
    found = assess_counts(frame_of(cells, hidden), by=["a", "b"])
    assert (found.hidden, found.exact, found.below) == (4, 0, 0)
    assert found.passed
    tighter = assess_counts(frame_of(cells, hidden), by=["a", "b"], minimum=11)
    assert (tighter.exact, tighter.below) == (0, 2)  # of the two that are at most 10


def test_a_total_that_leaves_less_than_the_threshold() -> None:
    """sdcTools/UserSupport#307: 15, 5, 3 with threshold 11."""
    one = pd.DataFrame({"v": ["A", "B", "C", "(all)"], "n": [15, None, None, 23]})
    found = assess_counts(one, by=["v"], minimum=11)
    assert (found.exact, found.below) == (0, 2)
    assert {(c.least, c.most) for c in found.narrowed} == {(1, 7)}
    one.loc[0, "n"] = None
    assert assess_counts(one, by=["v"], minimum=11).passed


def test_one_count_less_another() -> None:
    """ddsjoberg/gtsummary#1691: 180 less 177 is 3."""
    one = pd.DataFrame({"answer": ["yes", "no", None], "n": [177, None, 180]})
    found = assess_counts(one, by=["answer"])
    assert [(c.least, c.how) for c in found.recomputed] == [(3, "180 - 177 along answer")]


NURSERY = {
    "not_recom": [1440, 1440, 1440],
    "priority": [858, 1484, 1924],
    "recommend": [0, 0, 2],
    "spec_prior": [2022, 1264, 758],
    "very_recom": [0, 132, 196],
}


def test_margins_give_hidden_zeros_away() -> None:
    """AI-SDC/ACRO#198: zeros are hidden like small counts, and the margins are those of all."""
    cells = crossed(NURSERY, ["great_pret", "pretentious", "usual"])
    hidden = {(a, b) for a, b, n in cells if n < 10 and b != "(all)"}
    table = frame_of(cells, hidden)
    with pytest.raises(SourceError, match=r"contradict each other.*zeros"):
        assess_counts(table, by=["a", "b"], minimum=10)
    found = assess_counts(table, by=["a", "b"], minimum=10, zeros=True)
    assert (found.hidden, found.exact, found.below) == (4, 4, 1)
    assert sorted(cell.least for cell in found.recomputed) == [0, 0, 0, 2]
    assert found.shown_below == 1  # the row's total


def test_forms_of_one_table(tmp_path: Path) -> None:
    """Marks, NULL totals, files, queries and other names give the same."""
    cells = crossed(EXAMPLE, ["c1", "c2", "c3", "c4"])
    frame = frame_of(cells, {("r2", "c1"), ("r4", "c1")})
    expected = assess_counts(frame, by=["a", "b"]).as_dict()["recomputed"]
    assert len(expected) == 2
    nulls = frame.replace("(all)", None)
    assert assess_counts(nulls, by=["a", "b"]).as_dict()["recomputed"] == expected
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        connection.register("frame", frame)
        connection.execute("create table t as select * exclude n, cast(n as int) as n from frame")
        connection.execute(
            "create table marked as select a as value, b as hidden,"
            " coalesce(cast(n as varchar), ' * ') as status, 'x' as remark, 1 as figure from t"
        )
        connection.execute("copy (select * replace (coalesce(n::varchar, '<5') as n) from t)"
                           f" to '{tmp_path / 't.csv'}'")  # fmt: skip
    database = tmp_path / "w.duckdb"
    marked = assess_counts("marked", database, by=["value", "hidden"], hidden="*", measure="status")
    assert [cell.least for cell in marked.recomputed] == [2, 9]
    ways: dict[str, dict[str, Any]] = {
        str(tmp_path / "t.csv"): {"hidden": "<5"},
        "select a, b, n, 'shown' as status from t": {"database": database},
        "from t": {"database": database, "total": "(all)"},
        "t": {"database": database},
    }
    for table, options in ways.items():
        found = assess_counts(table, **{"by": ["a", "B"], **options})
        assert found.as_dict()["recomputed"] == expected, table


def test_a_row_of_what_was_left_out_is_no_cell() -> None:
    rows = [("x", 7, "shown"), ("y", 9, "shown"), ("(all)", 16, "shown"), ("(other)", 6, "other")]
    found = assess_counts(pd.DataFrame(rows, columns=["a", "n", "status"]), by=["a"])
    assert (found.cells, found.passed) == (3, True)


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "column": ("select 'x' as a, 1 as n", {"by": ["region"]}, "by: region is not a column"),
    "twice": ("select 'x' as a, 1 as n", {"by": ["a", "a"]}, "by: names a twice"),
    "none": ("select 'x' as a, 1 as n", {"by": []}, "by: names no column"),
    "measures": ("select 'x' as a, 1 as n, 2 as m", {}, "measure: is needed: several.*n, m"),
    "no measure": ("select 'x' as a, '*' as n", {}, "measure: is needed: no column.*hidden '"),
    "cells": (
        "from (values ('x', 1), ('x', 2), (null, 3)) t(a, n)",
        {},
        "1 row repeats the cell of another.*coalesce",
    ),
    "totals": ("from (values ('x', 7), ('y', 8)) t(a, n)", {}, "has no totals.*total MARK"),
    "mark": ("from (values ('x', 7), ('T', 8)) t(a, n)", {"total": "t"}, "total: marks no total"),
    "marks": (
        "from (values ('x', 7), (null, 8), ('(all)', 15)) t(a, n)",
        {},
        r"total: is needed: column a has both \(all\) and NULL",
    ),
    "negative": ("from (values ('x', -1), (null, 8)) t(a, n)", {}, "1 figure is negative"),
    "share": ("from (values ('x', 0.5), (null, 8)) t(a, n)", {}, r"1 figure is not whole[^\n]*$"),
    "having": (
        "select a, count(*) as n from (values ('x'), ('y'), ('y')) t(a) group by cube (a)"
        " having count(*) > 1",
        {},
        "is not the sum of its parts along a .hint: every group needs a row, those that `having`",
    ),
    "text": (
        "from (values ('x', '*'), (null, '8')) t(a, n)",
        {"measure": "n"},
        "1 value is no number.*hidden",
    ),
    "sum": (
        "from (values ('x', 'y', 8), (null, 'y', 9), ('x', null, 8), (null, null, 9)) t(a, b, n)",
        {"by": ["a", "b"]},
        r"the total of \(all\), y is not the sum of its parts along a \(2 such sums\)",
    ),
    "left out": (
        "from (values ('x', 7), (null, 9)) t(a, n)",
        {},
        r"the total of \(all\) is not the sum.*every group needs a row",
    ),
    "hidden": (
        "from (values ('x', 7), ('y', null), (null, 7)) t(a, n)",
        {},
        "contradict each other.*zeros",
    ),
    "figure as mark": ("select 'x' as a, 1 as n", {"hidden": "5.0"}, "hidden: is a count as well"),
    "count as mark": ("select 'x' as a, 1 as n", {"hidden": "0"}, "hidden: is a count as well"),
    "multiples": ("from (values ('x', 7), (null, 5)) t(a, n)", {"rounded": 5}, "is no multiple"),
    "rounded": (
        "from (values ('x', 15), (null, 5)) t(a, n)",
        {"rounded": 5},
        "contradict each other.*rounded 5",
    ),
    "minimum": ("select 'x' as a, 1 as n", {"minimum": 1}, "minimum: protects nobody"),
    "nesting": (
        "from (values ('x', 1, 5), ('y', 1, 5), ('v', 2, 5), ('w', 2, 5), (null, 3, 10))"
        " t(a, a_level, n)",
        {},
        "by a: it does not follow from the figures how the levels of a nest",
    ),
    "empty": ("select 'x' as a, 1 as n where false", {}, "has no rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_tables_that_cannot_be_attacked(name: str) -> None:
    query, options, message = WRONG[name]
    with duckdb.connect() as connection, pytest.raises(AnonymizerError, match=message) as raised:
        assess_counts(query, connection, **{"by": ["a"], **options})
    assert raised.value.exit_code == 2


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"a": ["x", "y", "z", None], "n": [None, None, None, 20]})
    monkeypatch.setattr(counts, "MOST_HIDDEN", 2)
    with pytest.raises(SourceError, match=r"hides 3 figures .allowed: up to 2"):
        assess_counts(table, by=["a"])
    monkeypatch.setattr(counts, "MOST_CELLS", 3)
    with pytest.raises(SourceError, match="has 4 rows, and each is taken for a cell"):
        assess_counts(table, by=["a"])


def test_what_is_open_after_all_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "SECONDS", -1.0)
    cells = crossed({"x": [1, 2, 9], "y": [2, 1, 9], "z": [9, 9, 9]}, ["c", "d", "e"])
    hidden = {(a, b) for a, b, n in cells if n < 5}
    found = assess_counts(frame_of(cells, hidden), by=["a", "b"], minimum=3)
    assert found.undecided > 0
    assert not found.passed
    assert "could not be decided" in repr(found)


def test_the_command(tmp_path: Path) -> None:
    """Nothing but one object is on standard output, the solver's words neither."""
    cells = crossed(EXAMPLE, ["c1", "c2", "c3", "c4"])
    frame_of(cells, {("r2", "c1")}).to_csv(tmp_path / "t.csv", index=False)
    command = "-m anonymizer assess --counts t.csv --by a,b --minimum 5 --format json"
    done = subprocess.run(
        [sys.executable, *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    wanted = {"cells": 25, "hidden": 1, "exact": 1, "below": 1, "minimum": 5}
    assert json.loads(done.stdout)["counts"] == wanted


def test_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = crossed(EXAMPLE, ["c1", "c2", "c3", "c4"])
    frame_of(cells, {("r2", "c1")}).to_csv("t.csv", index=False)

    def called(*options: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["assess", "t.csv", *options])
        return (ended.value.code, *capsys.readouterr())

    code, out, _ = called("--counts", "--by", "a,b", "--minimum", "2")
    assert code == 1
    assert "73 - 19 - 22 - 30 along b" in out
    code, out, errors = called("--counts", "--by", "a,b", "--minimum", "10")
    assert code == 1
    assert "3 published figures are below 10, and not hidden" in errors
    code, out, errors = called("--by", "a,b", "--quasi", "a")
    assert (code, out) == (2, "")
    assert "--by: is of --counts only" in errors
    _, _, errors = called("--counts", "--by", "a,b", "--quasi", "a")
    assert "--quasi: does not go with --counts" in errors


def test_without_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy._core", None)
    table = pd.DataFrame({"a": ["x", None], "n": [None, 20]})
    with pytest.raises(EngineError, match=r"pip install 'sql-anonymizer\[aggregate\]'") as raised:
        assess_counts(table, by=["a"])
    assert raised.value.exit_code == 2
