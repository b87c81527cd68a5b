"""The grammar of published cells, on cells written by hand."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import pytest

from anonymizer.independent.cells import (
    NULL,
    Cell,
    CellError,
    Raw,
    ValueFormError,
    read_bounds,
    read_list,
    read_member,
    read_node,
    read_text_cell,
    read_value,
)
from anonymizer.independent.form import is_first


def number(value: int | str) -> tuple[int, Fraction]:
    return 0, Fraction(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, NULL),
        ("34", Cell("exact", (number(34),))),
        ("-3", Cell("exact", (number(-3),))),
        ("34 or NULL", Cell("exact", (number(34),), nullable=True)),
        ("[30, 39]", Cell("interval", (number(30), number(39)))),
        ("[-2, 0] or NULL", Cell("interval", (number(-2), number(0)), nullable=True)),
        ("*", Cell("any")),
        ("* or NULL", Cell("any", nullable=True)),
    ],
)
def test_numbers(text: str | None, expected: Cell) -> None:
    assert read_text_cell(text, "numeric", "INTEGER", hierarchy=False) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "NULL", "034", "+3", "3.0", "3 ", "[3]", "[3, 3]", "[4, 3]", "[3,4]", "[3, 4"),
        *("[3, 4, 5]", "(3, 4)", "[3, 4] or null", "34 or NULL or NULL", "{3, 4}", "[a, b]", "-0"),
        *("٣", "[3, 4]]", "[[3, 4]", " or NULL", '"34"'),
    ],
)
def test_no_numbers(text: str) -> None:
    with pytest.raises(CellError):
        read_text_cell(text, "numeric", "INTEGER", hierarchy=False)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("a", ("a",)),
        ("it's", ("it's",)),
        ('"a, b"', ("a, b",)),
        ('""', ("",)),
        ('" a"', (" a",)),
        ('"*"', ("*",)),
        ('"NULL"', ("NULL",)),
        ('"a or NULL"', ("a or NULL",)),
        ('"say ""a"""', ('say "a"',)),
        ('""""', ('"',)),
        ("{a, b}", ("a", "b")),
        ('{"", "a, b", c}', ("", "a, b", "c")),
        ("{A, a, é, 日本}", ("A", "a", "é", "日本")),
        # by code point, not by UTF-16: U+FFFF before U+10000
        ("{\uffff, \U00010000}", ("\uffff", "\U00010000")),
        ('{"{z}", "}"}', ("{z}", "}")),
    ],
)
@pytest.mark.parametrize("nullable", [False, True])
def test_categories(text: str, members: tuple[str, ...], nullable: bool) -> None:
    form = "exact" if len(members) == 1 else "set"
    written = text + " or NULL" * nullable
    found = read_text_cell(written, "categorical", "VARCHAR", hierarchy=False)
    assert (found.form, found.values, found.nullable) == (form, members, nullable)


@pytest.mark.parametrize(
    "text",
    [
        *("", " a", "a ", "NULL", "a, b", "a]", 'a"b', '"a"', '"a, b', '"a, b" ', '"a, b"c'),
        *("{a}", "{b, a}", "{a, a}", "{a,b}", "{a, b", "{a, b}}", "{a, }", "{, a}", "{a; b}", "{}"),
        *('{"a", b}', "{a, *}", "{NULL, a}", "{a or NULL, b}", "{a,  b}", '"a""', "{b, A}"),
    ],
)
def test_no_categories(text: str) -> None:
    with pytest.raises(CellError):
        read_text_cell(text, "categorical", "VARCHAR", hierarchy=False)


def test_nodes_are_labels_whatever_the_type_of_the_column() -> None:
    found = read_text_cell("1**", "categorical", "INTEGER", hierarchy=True)
    assert found == Cell("node", ("1**",))


def test_members_have_the_type_of_their_column() -> None:
    assert read_text_cell("{10, 9}", "categorical", "INTEGER", hierarchy=False).values == (
        number(10),
        number(9),
    )
    with pytest.raises(CellError):
        read_text_cell("{a, b}", "categorical", "BOOLEAN", hierarchy=False)


@pytest.mark.parametrize(
    ("text", "sql_type", "seconds"),
    [
        ("1970-01-02", "DATE", 86_400),
        ("2000-02-29", "DATE", 951_782_400),
        ("1969-12-31 23:59:59", "TIMESTAMP", -1),
        ("1970-01-01 00:00:00.5", "TIMESTAMP", "0.5"),
        ("1970-01-01 02:00:00+02", "TIMESTAMP WITH TIME ZONE", 0),
        ("1970-01-01 00:00:00-05:30", "TIMESTAMP WITH TIME ZONE", 19_800),
        ("0001-01-01 (BC)", "DATE", -62_167_219_200 + 0),
    ],
)
def test_moments(text: str, sql_type: str, seconds: int | str) -> None:
    if text.endswith("(BC)"):
        assert read_value(text, sql_type) < read_value("0001-01-01", sql_type)  # type: ignore[operator]
    else:
        assert read_value(text, sql_type) == (0, Fraction(seconds))


@pytest.mark.parametrize(
    ("text", "sql_type"),
    [
        *(("2021-02-30", "DATE"), ("2021-13-01", "DATE"), ("2021-1-1", "DATE")),
        *(("2021-01-01 00:00:00", "DATE"), ("2021-01-01", "TIMESTAMP")),
        *(("2021-01-01 24:00:00", "TIMESTAMP"), ("2021-01-01 00:00:00+00", "TIMESTAMP")),
        *(("1.5", "DECIMAL(4,2)"), ("01.50", "DECIMAL(4,2)"), ("1", "BOOLEAN")),
        *(("00.50", "DECIMAL(2,2)"), ("1.50", "DECIMAL(2,2)"), (".50", "DECIMAL(4,2)")),
        *(("1e9999", "DOUBLE"), ("0x1", "DOUBLE"), ("1_0", "INTEGER")),
    ],
)
def test_no_values(text: str, sql_type: str) -> None:
    with pytest.raises(ValueFormError):
        read_value(text, sql_type)


@pytest.mark.parametrize("text", [".50", "0.50"])
def test_decimals_below_one(text: str) -> None:
    """DuckDB writes no zero before the point of a type without whole digits, Postgres does."""
    assert read_value(text, "DECIMAL(2,2)") == (0, Fraction(1, 2))
    assert read_value(f"-{text}", "DECIMAL(2,2)") == (0, Fraction(-1, 2))


def test_floats_order_as_in_sql() -> None:
    listed = [read_value(one, "DOUBLE") for one in ("-inf", "-1.5", "0.0", "1e+300", "inf", "nan")]
    assert listed == sorted(listed)
    assert read_value("-0.0", "DOUBLE") == read_value("0.0", "DOUBLE")


def test_typed_bounds() -> None:
    assert read_bounds(None, None, "true", "INTEGER") == NULL
    assert read_bounds("3", "3", "false", "INTEGER") == Cell("exact", (number(3),))
    assert read_bounds("3", "4", "true", "INTEGER").nullable
    wrong: list[tuple[Raw, Raw, Raw]] = [
        ("4", "3", "false"),
        ("3", None, "false"),
        (None, "3", "true"),
        (None, None, "false"),
        ("3", "4", None),
    ]
    for lo, hi, nullable in wrong:
        with pytest.raises(CellError):
            read_bounds(lo, hi, nullable, "INTEGER")


def test_typed_lists() -> None:
    assert read_list((None,), "VARCHAR") == NULL
    assert read_list(("a",), "VARCHAR") == Cell("exact", ("a",))
    assert read_list(("A", "a", None), "VARCHAR") == Cell("set", ("A", "a"), nullable=True)
    # by value: 9 before 10
    assert read_list(("9", "10"), "INTEGER").values == (number(9), number(10))
    wrong: list[Raw] = [
        *(None, "a", (), ("b", "a"), ("a", "a"), (None, "a"), ("a", None, None), ("10", "9")),
    ]
    for listed in wrong:
        with pytest.raises(CellError):
            read_list(listed, "INTEGER" if listed == ("10", "9") else "VARCHAR")


def test_typed_nodes() -> None:
    assert read_node("*", "true") == Cell("any", nullable=True)
    assert read_node("2**", "false") == Cell("node", ("2**",))
    assert read_node(None, "true") == NULL
    for label, nullable in ((None, "false"), ("a", None), (("a",), "true")):
        with pytest.raises(CellError):
            read_node(label, nullable)


def test_members_of_buckets() -> None:
    assert read_member(None, "categorical", "VARCHAR") is None
    assert read_member('"a, b"', "categorical", "VARCHAR") == "a, b"
    assert read_member("3", "numeric", "INTEGER") == number(3)
    for text in ("{a, b}", "*", "a, b", "a or NULL", '"a"'):
        with pytest.raises(CellError):
            read_member(text, "categorical", "VARCHAR")
    with pytest.raises(CellError):
        read_member("[1, 3]", "numeric", "INTEGER")


def test_what_cells_admit() -> None:
    interval = Cell("interval", (number(3), number(5)), nullable=True)
    assert interval.admits(number(3))
    assert interval.admits(number("4.5"))
    assert interval.admits(None)
    assert not interval.admits(number(6))
    assert Cell("any").admits("a")
    assert not Cell("any").admits(None)
    assert NULL.admits(None)
    assert not NULL.admits("a")
    assert Cell("set", ("a", "b")).admits("b")
    assert not Cell("set", ("a", "b")).admits("c")


@pytest.mark.parametrize("year", [1600, 1899, 1900, 1970, 1999, 2000, 2024, 2100, 9999])
def test_moments_that_begin_a_unit_of_time(year: int) -> None:
    """Of the proleptic Gregorian calendar, as Python's."""
    day = dt.date(year, 1, 1)
    while day.year == year and day < dt.date.max:
        seconds = Fraction((day - dt.date(1970, 1, 1)).days * 86_400)
        assert read_value(day.isoformat(), "DATE") == (0, seconds)
        assert is_first(seconds, "year") == (day == dt.date(year, 1, 1))
        assert is_first(seconds, "quarter") == (day.day == 1 and day.month in (1, 4, 7, 10))
        assert is_first(seconds, "month") == (day.day == 1)
        assert is_first(seconds, "week") == (day.isoweekday() == 1)
        assert is_first(seconds, "day")
        assert not is_first(seconds + 3600, "day")
        assert is_first(seconds + 3600, "hour")
        day += dt.timedelta(1)
