"""The oracle's measures and query bounds, on worked examples and over all possible worlds."""

from __future__ import annotations

import datetime as dt
import random
from fractions import Fraction as F
from itertools import permutations, product
from typing import Any

import pytest

from tests.oracle.cells import Domain, domain_of, parse
from tests.oracle.figures import FIG2, SOURCE, ZIP_PATHS
from tests.oracle.measures import glm, measure, ncp
from tests.oracle.queries import (
    AnyOf,
    Compare,
    Predicate,
    expected_interval,
    probabilities,
    relative_error,
    share,
    sure_interval,
    true_sum,
)

# Wang et al. (2018), §2.3: age 30 … 39, seven postcodes, 1007* over four of them.
AGE = Domain("numeric", lo=30, hi=39)
DAY_1, DAY_11 = dt.date(2020, 1, 1), dt.date(2020, 1, 11)
POSTCODES = ("10070", "10073", "10076", "10077", "10085", "10086", "10087")
POSTCODE = domain_of(
    POSTCODES, "categorical", {code: (code[:4] + "*", "100*") for code in POSTCODES}
)


def test_the_losses_of_wang_et_al() -> None:
    for loss in (ncp, glm):
        assert loss(parse("[30, 34]", "numeric"), AGE) == F(4, 9)
    assert ncp(parse("1007*", "categorical"), POSTCODE) == F(4, 7)
    assert glm(parse("1007*", "categorical"), POSTCODE) == F(1, 2)
    assert ncp(parse("10070", "categorical"), POSTCODE) == 0
    assert ncp(parse("*", "categorical"), POSTCODE) == glm(parse("*", "categorical"), POSTCODE) == 1


@pytest.mark.parametrize(
    ("text", "domain", "loss"),
    [
        ("[20, 34]", AGE, F(4, 9)),
        ("34", AGE, F(0)),
        ("34 or NULL", AGE, F(0)),
        ("*", AGE, F(1)),
        (None, AGE, F(0)),
        ("5", Domain("numeric", lo=5, hi=5), F(0)),
        ("a or NULL", domain_of(["a", "b", "c", None], "categorical"), F(2, 4)),
        ("{a, b}", domain_of(["a", "b", "c", None], "categorical"), F(2, 4)),
        ("* or NULL", domain_of(["a", "b", "c", None], "categorical"), F(1)),
        ("a", domain_of(["a"], "categorical"), F(0)),
        ("[2020-01-01, 2020-01-02]", domain_of([DAY_1, DAY_11], "date"), F(1, 10)),
    ],
)
def test_ncp_of_cells(text: str | None, domain: Domain, loss: F) -> None:
    assert ncp(parse(text, domain.kind), domain) == loss


def test_null_penalty() -> None:
    assert ncp(parse("34 or NULL", "numeric"), AGE, F(1, 2)) == F(1, 2)
    assert ncp(parse("[30, 38] or NULL", "numeric"), AGE, F(1, 2)) == 1
    assert ncp(parse(None, "numeric"), AGE, F(1, 2)) == 0


DOMAINS = {
    "age": domain_of([row["age"] for row in SOURCE], "numeric"),
    "gender": domain_of([row["gender"] for row in SOURCE], "categorical"),
    "zip": domain_of([row["zip"] for row in SOURCE], "categorical", ZIP_PATHS),
}


def test_measures_of_figure_2() -> None:
    found = measure(FIG2, DOMAINS)
    assert (found.rows, found.classes, found.class_max, found.c_dm) == (8, 4, 2, 16)
    # Quasi-identifying: 4 ages, 8 genders, 6 zip codes. 2·3/18 + 2·6/18, 2·1, 2·3/7 (2135*, of
    # 7 zip codes) + 2·7/7 (213** covers them all); the zip codes of 1005 and 1007 are exact.
    assert found.cells == 18
    assert found.ncp_sum == F(1) + 2 + F(6, 7) + 2
    assert found.glm_sum == F(1) + 2 + F(4, 6) + 2
    assert found.ncp == found.ncp_sum / 18
    assert measure(FIG2, DOMAINS, suppressed=2).c_dm == 16 + 2 * 10
    assert measure(FIG2, DOMAINS, suppressed=2).ncp == (found.ncp_sum + 6) / 24
    assert measure(FIG2, DOMAINS, suppressed=2, suppressed_cells=4).ncp == (found.ncp_sum + 4) / 22
    assert measure([], DOMAINS).ncp == 0


@pytest.mark.parametrize(
    ("text", "predicate", "part"),
    [
        ("[30, 39]", Compare("<", 35), F(5, 10)),
        ("[30, 39]", Compare("<=", 35), F(6, 10)),
        ("[30, 39]", Compare(">", 35), F(4, 10)),
        ("[30, 39]", Compare(">=", 35), F(5, 10)),
        ("[30, 39]", Compare("=", 35), F(1, 10)),
        ("[30, 39]", Compare("<>", 35), F(9, 10)),
        ("[30, 39]", Compare("=", 40), F(0)),
        ("[30, 39]", Compare("<", 99), F(1)),
        ("[30, 39] or NULL", Compare("<", 99), F(10, 11)),
        ("*", Compare(">=", 38), F(2, 10)),
        ("[0.5, 2.5]", Compare("<", 1), F(1, 4)),
        ("[0.5, 2.5]", Compare("=", 1), F(0)),
        ("34", Compare("=", 34), F(1)),
        ("34 or NULL", Compare("=", 34), F(1, 2)),
        ("34.5", Compare("<>", 34.5), F(0)),
        (None, Compare("<>", 34), F(0)),
    ],
)
def test_share_of_numeric_cells(text: str | None, predicate: Predicate, part: F) -> None:
    assert share(parse(text, "numeric"), predicate, AGE) == part


def test_share_of_dates_and_categories() -> None:
    days = domain_of([dt.date(2020, 1, 1), dt.date(2020, 1, 31)], "date")
    week = parse("[2020-01-01, 2020-01-07]", "date")
    assert share(week, Compare("<=", dt.date(2020, 1, 2)), days) == F(2, 7)
    assert share(week, Compare("=", "2020-01-02"), days) == F(1, 7)
    some = AnyOf(frozenset({"10070", "10085"}))
    assert share(parse("1007*", "categorical"), some, POSTCODE) == F(1, 4)
    assert share(parse("* or NULL", "categorical"), some, POSTCODE) == F(2, 8)
    assert share(parse("{10070, 10085}", "categorical"), some, POSTCODE) == 1


def test_bucketed_cells_count_the_share_of_their_bucket() -> None:
    # Ages 24, 31 in bucket 1, 29, 34 in bucket 2; generalized [25, 28] twice, [16, 22] twice.
    pro = probabilities(FIG2, {"age": Compare("<", 30)}, DOMAINS)
    assert pro == [1, 1, 1, F(1, 2), F(1, 2), 1, F(1, 2), F(1, 2)]


def test_the_expected_interval_is_no_bound_and_the_sure_one_is() -> None:
    rows = [
        {"class_id": 1, "sex": "*", "pay": 10, "pay_bucket": 1},
        {"class_id": 1, "sex": "*", "pay": 100, "pay_bucket": 1},
    ]
    domains = {"sex": domain_of(["f", "m"], "categorical")}
    query = {"sex": AnyOf(frozenset({"f"}))}
    assert expected_interval(rows, "pay", query, domains) == (10, 100)
    assert sure_interval(rows, "pay", query, domains) == (0, 110)
    assert relative_error((10, 100), 60) == F(3, 2)
    rows[0]["pay"] = -10
    assert expected_interval(rows, "pay", query, domains) == (-10, 100)
    assert sure_interval(rows, "pay", query, domains) == (-10, 100)
    rows[1]["pay"] = None
    assert sure_interval(rows, "pay", query, domains, bucket="class_id") == (-10, 0)


def test_fractions_between_whole_bounds_are_not_forgotten() -> None:
    rows = [{"class_id": 1, "age": "[1, 3]", "pay": 7, "pay_bucket": 1}]
    query, domains = {"age": Compare("=", 1.5)}, {"age": Domain("numeric", lo=1, hi=3)}
    assert sure_interval(rows, "pay", query, domains) == (0, 7)


def test_the_sure_interval_holds_in_every_world() -> None:
    """Ages 1 … 3 generalized, jobs and pay bucketed over all four rows in two buckets each."""
    draw = random.Random(9)
    domains = {"age": Domain("numeric", lo=1, hi=3), "job": domain_of("xyz", "categorical")}
    for _ in range(30):
        pay = [draw.randint(-5, 20) for _ in range(4)]
        jobs = [draw.choice("xyz") for _ in range(4)]
        cells = draw.choices(["[1, 2]", "[2, 3]", "[1, 3]", "2", "2 or NULL", None], k=4)
        rows = [
            {"class_id": 0, "age": cells[i], "job": jobs[i], "job_bucket": i % 2,
             "pay": pay[i], "pay_bucket": i // 2}
            for i in range(4)
        ]  # fmt: skip
        query: dict[str, Predicate] = {
            "age": Compare(draw.choice(["=", "<>", "<", "<=", ">", ">="]), draw.randint(1, 3)),
            "job": AnyOf(frozenset(draw.sample("xyz", draw.randint(1, 3)))),
        }
        low, high = sure_interval(rows, "pay", query, domains)
        ages = [_possible(cell) for cell in cells]
        sums = set()
        for jobs_even, jobs_odd, pay_low, pay_high in product(
            permutations(jobs[::2]), permutations(jobs[1::2]),
            permutations(pay[:2]), permutations(pay[2:]),
        ):  # fmt: skip
            who = [jobs_even[0], jobs_odd[0], jobs_even[1], jobs_odd[1]]
            money = [*pay_low, *pay_high]
            for world in product(*ages):
                source = [
                    {"age": a, "job": j, "pay": p}
                    for a, j, p in zip(world, who, money, strict=True)
                ]
                sums.add(true_sum(source, "pay", query, domains))
        assert low <= min(sums)
        assert max(sums) <= high


def _possible(cell: Any) -> list[int | None]:
    ages: list[int | None] = [age for age in (1, 2, 3) if cell and cell[0] == "["
                              and int(cell[1]) <= age <= int(cell[4])]  # fmt: skip
    if cell is not None and cell[0] == "2":
        ages = [2]
    return ages + ([None] if cell is None or cell.endswith("NULL") else [])
