"""Hierarchies of codes, sets and taxonomies: labels, files, tables, and bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.errors import AnonymizerError
from anonymizer.hierarchy import exchange, inputs, tree
from anonymizer.hierarchy.exchange import check, export_csv
from tests.duckdb.hierarchy_build import OPTIONS, Built, build
from tests.selection import some

ARX = "adult_hierarchies"


def values(*texts: str) -> str:
    rows = ", ".join("('" + text.replace("'", "''") + f"', {n})" for n, text in enumerate(texts, 1))
    return f"select * from (values {rows}) t(value, n)"


def wide(built: Built) -> dict[str, list[str]]:
    hierarchy = "anon_scratch.main.hierarchy_1"
    rows = built.raw(f"select value, list(label order by level) from {hierarchy} group by 1")
    return {value: labels for value, labels in rows}  # noqa: C416 - rows are typed loosely


def test_prefix_fills_up_to_the_longest_code() -> None:
    built = build({"builder": "prefix"}, values("213", "21345", "21399", "9"), "VARCHAR", "")
    assert wide(built) == {
        "213": ["213", "213**", "21***", "2****", "*"],
        "21345": ["2134*", "213**", "21***", "2****", "*"],
        "21399": ["2139*", "213**", "21***", "2****", "*"],
        "9": ["9", "9", "9", "9****", "*"],
    }
    some = build({"builder": "prefix", "lengths": [9, 3, 1]}, values("213", "21345"), "VARCHAR", "")
    assert wide(some)["21345"] == ["213**", "2****", "*"]
    steps = build({"builder": "prefix", "step": 2}, values("21345", "21999"), "VARCHAR", "")
    assert wide(steps)["21345"] == ["213**", "2****", "*"]


def test_suffix_counts_code_points() -> None:
    built = build({"builder": "suffix"}, values("x45", "5", "🚀e\u0301"), "VARCHAR", "")
    assert wide(built) == {
        "x45": ["*45", "**5", "*"],
        "5": ["5", "**5", "*"],
        "🚀e\u0301": ["*e\u0301", "**\u0301", "*"],
    }


def test_frequency_merges_the_rarest_first() -> None:
    counts = {"a": 100, "b": 50, "c": 1, "d": 2, "e,f": 3}
    rows = ", ".join(f"('{text}', {n})" for text, n in counts.items())
    query = f"select * from (values {rows}) t(value, n)"
    built = build({"builder": "frequency"}, query, "VARCHAR", "categorical")
    assert sorted(built.labels(1)) == ["a", "b", '{c, d, "e,f"}']
    assert sorted(built.labels(2)) == ["a", '{b, c, d, "e,f"}']
    assert built.counts() == [3, 2, 1]
    many = "select i::varchar as value, 1 as n from range(2001) t(i)"
    with pytest.raises(AnonymizerError, match="2,001 distinct values, too many"):
        build({"builder": "frequency"}, many, "VARCHAR", "categorical")


def test_order_pairs_neighbours_as_given() -> None:
    spec = {"builder": "order", "values": ["low", "mid", "high", "top", "never"]}
    built = build(spec, values("top", "high", "low"), "VARCHAR", "categorical")
    assert wide(built) == {
        "low": ["{low, mid}", "{high, low, mid, top}", "*"],
        "high": ["{high, top}", "{high, low, mid, top}", "*"],
        "top": ["{high, top}", "{high, low, mid, top}", "*"],
    }
    flags = "select unnest([true, false]) as value, 1 as n"
    build({"builder": "order", "values": [False, True]}, flags, "BOOLEAN", "categorical")
    with pytest.raises(AnonymizerError) as caught:
        build({"builder": "order", "values": ["top"]}, values("top", "a", "b"), "VARCHAR", "")
    assert str(caught.value).startswith(
        "columns.x.hierarchy.values: lacks 2 distinct values (5 rows) of the column's 3"
    )
    with pytest.raises(AnonymizerError, match="lists 1 value of the column in two spellings"):
        build({"builder": "order", "values": ["1", "01"]}, "select 1 as value, 1 as n", "INTEGER")


ARX_COLUMNS = ["education", "marital-status", "native-country", "occupation", "race", "sex"]


@some(4)
@pytest.mark.parametrize("name", ["age", *ARX_COLUMNS, "salary-class", "workclass"])
def test_arx_files_go_round(name: str, data_folder: Path, tmp_path: Path) -> None:
    path = data_folder / ARX / f"adult_hierarchy_{name}.csv"
    given, _ = exchange.read_rows(path, "x")
    everything = values(*(row[0] for row in given))
    sql_type = "SMALLINT" if name == "age" else "VARCHAR"
    spec = {"file": str(path)}
    built = build(spec, everything, sql_type, "categorical")
    assert inputs(OPTIONS.validate_python(spec), Path()) == (path,)
    assert wide(built) == {int(r[0]) if name == "age" else r[0]: r[1:] for r in given}
    back = tmp_path / "back.csv"
    assert export_csv(built, 1, back) == len(given)
    again = build({"file": "back.csv"}, everything, sql_type, "categorical", base=tmp_path)
    assert again.rows("*") == built.rows("*")
    assert sorted(exchange.read_rows(back, "x")[0]) == sorted(given)
    assert check(given, "x") == []


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n", "is empty"),
    "one column": (b"a\nb\n", "has no levels"),
    "other separator": (b"a,X,*\nb,X,*\n", "has no levels"),
    "ragged": (
        b"a;X;*\nb;X\nc;*\n",
        "2 rows have another number of levels than the first (first: line 2)",
    ),
    "empty label": (b"a;X;*\nb;;*\n", "1 row has a level without a label (line 2)"),
    "two parents": (b"a;X;*\nb;X;*\na;Y;*\n", "1 value is under two parents (line 3)"),
    "listed twice": (b"a;X;*\na;X;*\n", "1 value is listed twice (line 2)"),
    "no coarsening": (
        b"a;X;M;*\nb;X;N;*\nc;Y;N;*\n",
        "level 2 is not a coarsening of level 1: 1 of its nodes under two parents (line 2)",
    ),
    "two roots": (b"a;X\nb;Y\n", "has no single root: the last level has 2 labels (hint: add"),
    "cycle": (b"a;b\nb;c\nc;a\n", "has a cycle: 3 labels"),
    "cycle in levels": (b"x;A;B;*\ny;B;A;*\n", "has a cycle: "),
    "parents twice": (b"a;X\na;Y\nX;Top\nY;Top\n", "1 value is under two parents"),
    "gap": (b"1;[0, 9];*\n5;[0, 9];*\n12;[20, 29];*\n", "level 1 has a gap between intervals"),
    "overlap": (b"1;0-9;*\n5;5-14;*\n", "level 1 has an overlap between intervals"),
    "not UTF-8": (b"a;X;*\nM\xfcller;X;*\n", "the file h.csv is not UTF-8 (line 2)"),
    "not CSV": (b'a;X;*\n"b";"Y"z;*\n', "the file h.csv is not CSV (line 2)"),
    "lacking": (b"a;X;*\nc;X;*\n", "lacks 1 distinct value (2 rows) of the column's 2"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, tmp_path: Path) -> None:
    content, said = BAD[name]
    (tmp_path / "h.csv").write_bytes(content)
    with pytest.raises(AnonymizerError) as caught:
        build({"file": "h.csv"}, values("a", "b"), "VARCHAR", "", base=tmp_path)
    assert len(caught.value.problems) == 1
    assert str(caught.value).startswith(f"columns.x.hierarchy.file: {said}")
    assert caught.value.exit_code == 2


def test_space_between_intervals_that_holds_no_value_is_no_gap(tmp_path: Path) -> None:
    rows = [["1", "[0, 9]", "*"], ["5", "[0, 9]", "*"], ["22", "[20, 29]", "*"]]
    assert check(rows, "h") == []
    codes = [["101", "1", "*"], ["102", "1", "*"], ["301", "3", "*"]]
    assert check(codes, "h") == []


def test_a_branch_may_repeat_its_label() -> None:
    nodes = tree.nodes([["a", "a", "a", "*"], ["b", "X", "X", "*"]], "h")
    assert [(n.value, n.level, n.label) for n in nodes if n.level == 2] == [
        ("a", 2, "a"),
        ("b", 2, "X"),
    ]
