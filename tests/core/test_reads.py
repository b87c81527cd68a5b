"""The tables that a statement reads are the same by its shape as by its own text."""

from __future__ import annotations

import random

import pytest

from anonymizer.compile.render import shape, tables_of_shape, tables_read
from anonymizer.errors import TemplateError

QUERIES = [
    'select * from "a" where "x" = \'from "b"\'',
    'select * from "from ""b"" " where x = \'it\'\'s from b\'',
    'with "a" as (select 1) select * from a',
    'with a as (select 1) select * from "a"',
    'with a as (select * from "b") select * from "A", other."a"',
    'with "a" as (select * from "a") select * from s."a", c.s."a"',
    "select * from 'file.csv', 'other ''file''.csv'",
    "with a as (select 1) select * from 'a'",
    'with recursive "r"(n) as (select 1 union all select n + 1 from "r" where n < 9) from "r", t',
    'with recursive r(n) using key (n) as (select 1 union select n from recurring.r) from "r"',
    "select 1 -- from \"b\" 'c\n from a -- it's",
    'select "1", 1.5, 1e5, t1, t.1x from t1',
    "select $$ from b $$ from a",
    "select $tag$ ' $tag$, \" ' from b\" from a",
    "select e'\\' from b --' from a",
    "select 1 /* from b ' */ from a",
    "select * from a where b in (select 'x' from \"c\" union from d)",
    "select $value, $other from a",
]
PARTS = [
    '"a"', '"b"', "a", "b", "'a'", "'b'", "'it''s'", '"""a"', "-- from c\n", "/* ' */", "$$'$$",
    "with", "as (select 1)", "as (from a)", "select 1", "from", "where x = '", "'", '"', "1", ".",
    ",", "union all", "(", ")", "select", "u&'a'", "x'00'",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_tables_by_shape_are_the_tables(query: str) -> None:
    try:
        expected = tables_read("t", query)
    except TemplateError:
        assert tables_of_shape(query) is None
    else:
        assert tables_of_shape(query) in (expected, None)


def test_whatever_the_parser_takes() -> None:
    draw, taken, shaped = random.Random(1), 0, 0
    while taken < 300:
        query = " ".join(
            ["select *", *draw.choices(PARTS, k=draw.randint(2, 9))]
            if draw.random() < 0.5
            else [
                *(["with", draw.choice(PARTS[:4]), "as (select 1)"] if draw.random() < 0.5 else []),
                *("select * from", draw.choice(PARTS[:8])),
                *(",", draw.choice(PARTS[:8]), *draw.choices(PARTS, k=draw.randint(0, 3))),
            ]
        )
        try:
            expected = tables_read("t", query)
        except TemplateError:
            continue
        taken += 1
        found = tables_of_shape(query)
        assert found in (expected, None), query
        shaped += found is not None
    assert shaped > 200


def test_a_shape_has_no_name_of_its_own() -> None:
    one, other = 'select "x" from "a" where y = \'b\'', "select \"z\" from \"b\" where y = 'it''s'"
    assert shape(one)[0] == shape(other)[0]  # type: ignore[index]
    assert tables_of_shape(one) == frozenset([('"a"',)])
    assert tables_of_shape(other) == frozenset([('"b"',)])


@pytest.mark.parametrize("query", [QUERIES[12], QUERIES[13], QUERIES[14], QUERIES[15]])
def test_what_may_hide_its_end_has_no_shape(query: str) -> None:
    assert shape(query) is None
