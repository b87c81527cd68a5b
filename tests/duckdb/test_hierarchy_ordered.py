"""Hierarchies of intervals: the worked examples of the papers, types, ends, and bad input."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from anonymizer.errors import AnonymizerError, InfeasibleError, SourceError
from tests.duckdb.hierarchy_build import Built, build
from tests.selection import some

HOURS = "select i as value, 1 as n from range(1, 101) t(i)"
DATES = "select date '1969-11-20' + 17 * i::integer as value, 1 + i % 3 as n from range(60) t(i)"
TIMES = (
    "select timestamp '1969-11-20 23:30:00' + i * interval '17 days 5 hours' as value, 1 as n"
    " from range(60) t(i)"
)
BUILDERS: list[dict[str, Any]] = [
    {"builder": "conventional"},
    {"builder": "divisor"},
    {"builder": "cardinality"},
    {"builder": "on_the_fly"},
]


def spans(built: Built, level: int) -> list[tuple[int, int]]:
    text = f"select distinct lo, hi from anon_scratch.main.hierarchy_1 where level = {level}"
    return sorted(built.raw(text))


def by_tens(width: int) -> list[tuple[int, int]]:
    return [(low, low + width - 1) for low in range(1, 101, width)]


def test_conventional_halves_the_hours() -> None:
    built = build({"builder": "conventional", "min_width": 12.5}, HOURS, "SMALLINT")
    assert built.counts() == [8, 4, 2, 1]
    assert spans(built, 1) == [
        (1, 13), (14, 25), (26, 38), (39, 50), (51, 63), (64, 75), (76, 88), (89, 100)
    ]  # fmt: skip
    assert spans(built, 2) == by_tens(25)
    assert spans(built, 3) == by_tens(50)
    assert built.labels(3) == ["[1, 50]", "[51, 100]"]


def test_divisors_of_the_hours() -> None:
    spec = {"builder": "divisor", "mode": "independent", "min_width": 10}
    built = build(spec, HOURS, "SMALLINT", nested=False)
    assert built.counts() == [10, 5, 4, 2, 1]
    for level, width in enumerate((10, 20, 25, 50, 100), start=1):
        assert spans(built, level) == by_tens(width)


@pytest.mark.parametrize(
    ("options", "widths"),
    [
        ({"min_width": 10}, [10, 50]),
        ({}, [5, 25, 50]),
        ({"divisors": [10, 50]}, [10, 50]),
        ({"divisors": [1, 7, 21, 105]}, [7, 21]),
        ({"divisors": [200]}, []),
    ],
)
def test_divisor_chains_nest(options: dict[str, Any], widths: list[int]) -> None:
    built = build({"builder": "divisor", **options}, HOURS, "SMALLINT")
    found = [spans(built, level)[0] for level in range(1, built.height)]
    assert [high - low + 1 for low, high in found] == widths
    assert built.counts() == [-(-100 // width) for width in widths] + [1]


def test_a_prime_largest_value_divides_the_next_number() -> None:
    values = "select i as value, 1 as n from range(1, 98) t(i)"
    built = build({"builder": "divisor", "min_width": 7}, values, "TINYINT")
    assert [spans(built, level)[-1] for level in range(1, built.height + 1)] == [
        (92, 98),
        (50, 98),
        (1, 98),
    ]
    top = build(
        {"builder": "divisor"}, "select i as value, 1 as n from range(1, 128) t(i)", "TINYINT"
    )
    assert spans(top, top.height) == [(1, 127)], "128 is beyond the type"


def test_cardinality_pairs_the_hours(data_folder: Path) -> None:
    values = f"""
        select hours_per_week as value, count(*) as n
        from (select hours_per_week from '{data_folder}/adult_train.parquet'
              union all select hours_per_week from '{data_folder}/adult_test.parquet')
        group by 1"""
    spec = {"builder": "cardinality", "min_width": 10, "domain": [1, 100]}
    built = build(spec, values, "SMALLINT")
    assert built.counts() == [10, 5, 3, 2, 1]
    assert spans(built, 1) == by_tens(10)
    assert spans(built, 2) == by_tens(20)
    assert sorted(high - low + 1 for low, high in spans(built, 3)) == [20, 40, 40]
    assert sorted(high - low + 1 for low, high in spans(built, 4)) == [40, 60]


def pair_by_hand(counts: list[int]) -> list[list[list[int]]]:
    """Levels of leaf numbers, by trying every odd place for the node that stays alone."""
    level = [[leaf] for leaf in range(len(counts))]
    levels = [level]
    while len(level) > 1:
        options = []
        for alone in range(0, len(level), 2) if len(level) % 2 else [len(level)]:
            rest = [node for at, node in enumerate(level) if at != alone]
            pairs = [a + b for a, b in zip(rest[::2], rest[1::2], strict=True)]
            found = sorted(pairs + ([level[alone]] if alone < len(level) else []))
            sums = [sum(counts[leaf] for leaf in node) for node in found]
            options.append((max(sums) - min(sums), alone, found))
        level = min(options)[2]
        levels.append(level)
    return levels


@pytest.mark.slow
def test_cardinality_equals_trying_every_place() -> None:
    draw = random.Random(5)
    for _ in range(12):
        size = draw.randint(2, 40)
        counts = [draw.choice([0, 1, 1, 2, 5, 30]) for _ in range(size)]
        counts[0] = counts[0] or 1
        values = ", ".join(f"({at}, {n})" for at, n in enumerate(counts) if n)
        built = build(
            {"builder": "cardinality", "domain": [0, size - 1]},
            f"select * from (values {values}) t(value, n)",
            "INTEGER",
        )
        expected = pair_by_hand(counts)[1:]
        assert built.height == len(expected)
        for level, nodes in enumerate(expected, start=1):
            held = {(node[0], node[-1]) for node in nodes if any(counts[leaf] for leaf in node)}
            assert set(spans(built, level)) == held


def merge_by_hand(points: list[tuple[int, int]]) -> list[list[list[int]]]:
    """The partition after every merge, by looking at all neighbours each time."""
    from fractions import Fraction

    nodes = [[at] for at in range(len(points))]
    states = [nodes]

    def centre(node: list[int]) -> Fraction:
        weight = sum(points[at][1] for at in node)
        return Fraction(sum(points[at][0] * points[at][1] for at in node), weight)

    while len(nodes) > 1:
        gaps = [centre(b) - centre(a) for a, b in pairwise(nodes)]
        at = gaps.index(min(gaps))
        nodes = [*nodes[:at], nodes[at] + nodes[at + 1], *nodes[at + 2 :]]
        states.append(nodes)
    return states


@some(1)
@pytest.mark.parametrize("scale", [1, 10])
def test_on_the_fly_equals_naive_agglomeration(scale: int) -> None:
    draw = random.Random(scale)
    for _ in range(12):
        size = draw.randint(1, 60)
        places = sorted(draw.sample(range(-100, 100 * scale), size))
        points = [(at, draw.randint(1, 9)) for at in places]
        values = ", ".join(f"({at}, {n})" for at, n in points)
        built = build(
            {"builder": "on_the_fly"}, f"select * from (values {values}) t(value, n)", "INTEGER"
        )
        states = merge_by_hand(points)
        for level in range(1, built.height + 1):
            nodes = -(-size // 2**level)
            expected = [(points[n[0]][0], points[n[-1]][0]) for n in states[size - nodes]]
            assert spans(built, level) == expected
        assert built.counts()[-1] == 1


def test_calendar() -> None:
    for sql_type in ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"):
        built = build({"builder": "date"}, DATES, sql_type, "date")
        levels = [built.labels(level) for level in range(1, built.height + 1)][-5:]
        assert levels[0][:2] == ["[1969-11-01, 1969-11-30]", "[1969-12-01, 1969-12-31]"]
        assert levels[1][:2] == ["[1969-10-01, 1969-12-31]", "[1970-01-01, 1970-03-31]"]
        assert levels[2][0] == "[1969-01-01, 1969-12-31]"
        assert levels[3] == ["[1960-01-01, 1969-12-31]", "[1970-01-01, 1979-12-31]"]
        assert levels[4] == ["*"]
        assert built.height == (5 if sql_type == "DATE" else 6)
    with pytest.raises(SourceError, match=r"columns\.x\.hierarchy\.levels: day is the value"):
        build({"builder": "date", "levels": ["day"]}, DATES, "DATE", "date")


def test_intervals_with_bottom_and_top_coding() -> None:
    spec = {"builder": "intervals", "cuts": [20, 40, 60], "bottom": 18, "top": 80}
    built = build(spec, HOURS, "SMALLINT")
    assert built.labels(1) == ["< 18", "[18, 19]", "[20, 39]", "[40, 59]", "[60, 79]", ">= 80"]
    plain = build({"builder": "intervals", "cuts": [0, 50.5]}, HOURS, "DOUBLE")
    assert plain.labels(1) == ["[0.0, 50.5]", "[50.5, 100.0]"]
    days = build(
        {"builder": "intervals", "cuts": ["1960-01-01", "1970-01-01"]}, TIMES, "TIMESTAMP", "date"
    )
    assert days.labels(1)[0] == "[1960-01-01, 1969-12-31]"


def problem(spec: dict[str, Any], values: str, sql_type: str, kind: str = "numeric") -> str:
    with pytest.raises(AnonymizerError) as caught:
        build(spec, values, sql_type, kind)
    assert isinstance(caught.value, SourceError | InfeasibleError)
    return str(caught.value)


@pytest.mark.slow
def test_bad_input() -> None:
    x = "columns.x.hierarchy"
    found = problem({"builder": "intervals", "cuts": [20, 40]}, HOURS, "SMALLINT")
    assert found.startswith(f"{x}: 19 distinct values (19 rows) below the first cut")
    found = problem({"builder": "conventional", "domain": [5, 99]}, HOURS, "SMALLINT")
    assert found.startswith(f"{x}: 5 distinct values (5 rows) outside of the domain")
    wrong = "select 'nan'::double as value, 7 as n union all select 1, 1"
    for spec in BUILDERS:
        assert "1 distinct value (7 rows) NaN or infinite" in problem(spec, wrong, "DOUBLE")
        forever = "select date 'infinity' as value, 7 as n union all select date '2020-01-01', 1"
        assert "NaN or infinite" in problem(spec, forever, "DATE", "date")
    wide = "select unnest([-9e37, 9e37])::hugeint as value, 1 as n"
    assert "too wide a range" in problem({"builder": "conventional"}, wide, "HUGEINT")
    for value in (2**127 - 1, 2**126, 2**119, -(2**119) - 1, 7 * 10**35, -(2**127)):
        largest = f"select cast('{value}' as hugeint) as value, 1 as n"
        for name in ("conventional", "cardinality"):
            assert "too large for intervals" in problem({"builder": name}, largest, "HUGEINT")
        assert "intervals" in problem({"builder": "divisor"}, largest, "HUGEINT")
    # divisors are counted from 1, however near the values are to each other
    high = "select 18446744073709551600 + i as value, 1 as n from range(5) t(i)"
    assert "too wide a range" in problem({"builder": "divisor"}, high, "UBIGINT")
    given = {"builder": "divisor", "domain": [2**64 - 20, 2**64 - 1]}
    assert f"{x}.domain: is too wide" in problem(given, high, "UBIGINT")
    far = "select unnest([1, 1e15])::bigint as value, 1 as n"
    assert f"{x}.divisors: the domain is too large" in problem(
        {"builder": "divisor"}, far, "BIGINT"
    )
    found = problem({"builder": "cardinality", "min_width": 2}, far, "BIGINT")
    assert f"{x}.min_width: makes 500,000,000,000,000 leaf intervals" in found
    assert build({"builder": "cardinality"}, far, "BIGINT").height > 10
    assert "whole number" in problem(
        {"builder": "cardinality", "min_width": 2.5}, HOURS, "SMALLINT"
    )
    for domain, sql_type, said in [
        ([0.5, 100], "SMALLINT", "more digits"),
        ([0, 1000], "TINYINT", "outside of the column's type"),
        (["2020-01-01", "2021-01-01"], "SMALLINT", "is a date"),
        ([0, 1000], "DATE", "is a number"),
        (["2020-01-01 10:00", "2021-01-01"], "DATE", "time of day"),
    ]:
        values = DATES if sql_type == "DATE" else HOURS
        found = problem({"builder": "conventional", "domain": domain}, values, sql_type)
        assert f"{x}.domain: a bound " in found
        assert said in found
    for spec in [*BUILDERS, {"builder": "intervals", "cuts": [1]}]:
        text = "select 'a' as value, 1 as n"
        assert "needs a column of numbers" in problem(spec, text, "VARCHAR", "categorical")
    assert "needs a column of dates" in problem({"builder": "date"}, HOURS, "SMALLINT")


@pytest.mark.parametrize(
    ("sql_type", "least", "greatest"),
    [
        ("BIGINT", -(2**63), 2**63 - 1),
        ("UBIGINT", 0, 2**64 - 1),
        ("HUGEINT", -(2**127), 2**127 - 1),
        ("UHUGEINT", 0, 2**128 - 1),
        ("DECIMAL(38,10)", "0", "39000000000"),
        ("DECIMAL(38,10)", "-" + "9" * 28 + ".9", "9" * 28 + ".9"),
    ],
)
def test_more_points_than_can_be_counted(sql_type: str, least: object, greatest: object) -> None:
    """Leaves are then the values themselves; bounds are as ever."""
    listed = [least, 3, 10, 11, 20, greatest]
    values = f"select unnest({[str(one) for one in listed]}) as value, 2 as n"
    built = build({"builder": "intervals", "cuts": [10, 20], "bottom": 10}, values, sql_type)
    assert built.rows("level, node, leaves") == [(1, 1, 2), (1, 3, 2), (1, 5, 2), (2, 1, 6)]
    assert built.rows("leaf") == [(number,) for number in range(1, 7)]
    zeros = "0" * 10
    upto = f"[10.{zeros}, 19.{'9' * 10}]" if "(" in sql_type else "[10, 19]"
    assert built.labels(1)[:2] == ["< 10", upto]
    assert build({"builder": "on_the_fly"}, values, sql_type).counts() == [3, 2, 1]
