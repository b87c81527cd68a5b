"""The oracle's reading of published cells, against worked examples and generated ones."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.cells import (
    Cell,
    Domain,
    Exact,
    GrammarError,
    Interval,
    Null,
    Star,
    ValueSet,
    covers,
    domain_of,
    parse,
    problems,
    typed_cell,
    write,
)

D, day = Decimal, dt.datetime
QUOTED = ValueSet(frozenset({"", "a, b", 'say "x"'}), True)


@pytest.mark.parametrize(
    ("text", "kind", "cell"),
    [
        ("34", "numeric", Exact(D(34))),
        ("34 or NULL", "numeric", Exact(D(34), True)),
        ("[30, 39]", "numeric", Interval(D(30), D(39))),
        ("[-5, -1.50] or NULL", "numeric", Interval(D(-5), D("-1.50"), True)),
        ("[1e-05, 1e+20]", "numeric", Interval(D("1e-05"), D("1e+20"))),
        ("[1, inf]", "numeric", Interval(D(1), D("inf"))),
        ("[2020-01-31, 2021-12-01]", "date", Interval(day(2020, 1, 31), day(2021, 12, 1))),
        ("2020-01-31 10:20:30.5", "date", Exact(day(2020, 1, 31, 10, 20, 30, 500000))),
        (None, "categorical", Null()),
        ("*", "categorical", Star()),
        ("* or NULL", "categorical", Star(True)),
        ("*", "numeric", Star()),
        ("Male", "categorical", Exact("Male")),
        ("{Female, Male}", "categorical", ValueSet(frozenset({"Female", "Male"}))),
        ('{"", "a, b", "say ""x"""} or NULL', "categorical", QUOTED),
        ('"NULL"', "categorical", Exact("NULL")),
        ('"*"', "categorical", Exact("*")),
        ('"x or NULL"', "categorical", Exact("x or NULL")),
        ('"x or NULL" or NULL', "categorical", Exact("x or NULL", True)),
        ('" x"', "categorical", Exact(" x")),
        ("a*", "categorical", Exact("a*")),
        ("NULLABLE", "categorical", Exact("NULLABLE")),
        ("{Zoë, a}", "categorical", ValueSet(frozenset({"Zoë", "a"}))),
    ],
)  # fmt: skip
def test_parse_and_write(text: str | None, kind: str, cell: Cell) -> None:
    assert parse(text, kind) == cell
    assert parse(write(cell), kind) == cell
    if kind == "categorical":
        assert write(cell) == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "categorical"),
        ("NULL", "categorical"),
        (" a", "categorical"),
        ("a ", "categorical"),
        ("a,b", "categorical"),
        ("[1, 2]", "categorical"),
        ('"a"', "categorical"),
        ('"a,b', "categorical"),
        ('"a,b"c', "categorical"),
        ("{a}", "categorical"),
        ("{a,b}", "categorical"),
        ("{b, a}", "categorical"),
        ("{a, a}", "categorical"),
        ("{a, b", "categorical"),
        ("{a, b}x", "categorical"),
        ("{a, *}", "categorical"),
        ("[39, 30]", "numeric"),
        ("[30, 30]", "numeric"),
        ("[30,39]", "numeric"),
        ("[30, 39", "numeric"),
        ("[30-39]", "numeric"),
        ("NULL", "numeric"),
        ("x", "numeric"),
        ("2020-13-01", "date"),
    ],
)
def test_what_no_writer_may_produce(text: str, kind: str) -> None:
    with pytest.raises(GrammarError):
        parse(text, kind)


tricky = st.text(alphabet='ab,{}[]" *é', max_size=6) | st.sampled_from(
    ["NULL", "*", "", " or NULL", "x or NULL", "null"]
)


@given(st.sets(tricky, min_size=1, max_size=4), st.booleans())
def test_every_set_of_texts_survives(members: set[str], nullable: bool) -> None:
    cell: Cell = ValueSet(frozenset(members), nullable)
    if len(members) == 1:
        cell = Exact(next(iter(members)), nullable)
    assert parse(write(cell), "categorical") == cell


AGES = domain_of([17, 90, None, 30], "numeric")
SEX = domain_of(["Male", "Female", None], "categorical")
ZIPS = Domain(
    "categorical",
    members=frozenset({"10070", "10073", "10085"}),
    nodes={"1007*": frozenset({"10070", "10073"})},
)


@pytest.mark.parametrize(
    ("text", "value", "domain", "covered"),
    [
        ("[30, 39]", 30, AGES, True),
        ("[30, 39]", 39.0, AGES, True),
        ("[30, 39]", D("39.01"), AGES, False),
        ("[30, 39]", None, AGES, False),
        ("[30, 39] or NULL", None, AGES, True),
        ("0.1", 0.1, AGES, True),
        ("1e2", 100, AGES, True),
        (None, None, AGES, True),
        (None, 30, AGES, False),
        ("*", 30, AGES, True),
        ("[1, nan]", float("nan"), AGES, True),
        ("[1, inf]", float("nan"), AGES, False),
        ("*", "Male", SEX, True),
        ("*", None, SEX, False),
        ("* or NULL", None, SEX, True),
        ("*", "Other", SEX, False),
        ("1007*", "10073", ZIPS, True),
        ("1007*", "10085", ZIPS, False),
        ("{10070, 10085}", 10085, ZIPS, True),
        ("true", True, domain_of([True, False], "categorical"), True),
        ("[2020-01-01, 2020-01-31]", dt.date(2020, 1, 31), Domain("date"), True),
        ("[2020-01-01, 2020-01-31]", dt.datetime(2020, 1, 31, 1), Domain("date"), False),
        ("2020-01-01 12:00:00+02", dt.datetime(2020, 1, 1, 10), Domain("date"), True),
    ],
)
def test_covers(text: str | None, value: Any, domain: Domain, covered: bool) -> None:
    assert covers(parse(text, domain.kind), value, domain) is covered


def test_domain_of_a_hierarchy_keeps_labels_that_say_more_than_their_leaf() -> None:
    paths = {"a": ("A", "*"), "b": ("A", "*"), "c": ("c", "*")}
    domain = domain_of(["a", "c", None], "categorical", paths)
    assert domain.members == {"a", "b", "c"}
    assert domain.nodes == {"A": {"a", "b"}, "*": {"a", "b", "c"}}
    assert domain.has_null


def test_canonical_form_knows_the_domain() -> None:
    assert problems("{Female, Male}", SEX) == ["covers the domain and is not *"]
    assert problems("{Female, Other}", SEX) == ["holds a category outside the domain"]
    assert problems("* or NULL", SEX) == problems("Male", SEX) == problems("[1, 2]", AGES) == []
    assert problems("{Male}", SEX) != []


def test_typed_cells_say_the_same() -> None:
    row = {
        "age_lo": 30, "age_hi": 39, "age_nullable": True,
        "sex": ["Male", None], "zip": "1007*", "zip_nullable": False,
        "born_lo": dt.date(2020, 1, 1), "born_hi": dt.date(2020, 1, 1), "born_nullable": False,
        "job": None, "town": "*", "town_nullable": True,
    }  # fmt: skip
    assert typed_cell(row, "age", "numeric") == parse("[30, 39] or NULL", "numeric")
    assert typed_cell(row, "sex", "categorical") == parse("Male or NULL", "categorical")
    assert typed_cell(row, "zip", "categorical") == parse("1007*", "categorical")
    assert typed_cell(row, "born", "date") == parse("2020-01-01", "date")
    assert typed_cell(row, "job", "categorical") == Null()
    assert typed_cell(row, "town", "categorical") == Star(True)
