"""Intervals, rules and verdicts of the papers' claims."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchmarks.reproduce.claims import Claim, Finding, Rule, Runs, Verdict, judged
from benchmarks.reproduce.interval import Interval, interval


def runs(*values: float) -> Runs:
    return Runs({"seed": seed, "figure": value} for seed, value in enumerate(values, start=1))


def claim(rule: Rule, why: str = "", remark: str = "") -> Claim:
    return Claim(
        "Fig. 1", "it rises", "rises", "share", lambda r: r.one("figure"), rule, why, remark
    )


def test_the_interval_is_student_s() -> None:
    found = interval([1.0, 2.0, 3.0])
    # quantile 4.303 of two degrees of freedom, standard deviation 1
    assert found.mean == 2
    assert found.half == pytest.approx(4.303 / math.sqrt(3))
    assert (found.low, found.high) == pytest.approx((2 - 2.4843, 2 + 2.4843), abs=1e-3)


def test_two_seeds_say_little_and_many_say_more() -> None:
    two, many = interval([1.0, 2.0]), interval([1.0, 2.0] * 20)
    assert two.half == pytest.approx(12.706 * math.sqrt(0.5) / math.sqrt(2))
    assert many.half < 0.2


@pytest.mark.parametrize("values", [[3.0], [3.0, 3.0, 3.0]])
def test_one_value_and_equal_values_have_no_width(values: list[float]) -> None:
    assert interval(values) == Interval(3.0, 0.0, len(values))
    assert str(interval(values)) == "3"


def test_no_values_have_no_interval() -> None:
    with pytest.raises(ValueError, match="no values"):
        interval([])


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (Interval(1.5, 0.2, 3), Verdict.HOLDS),
        (Interval(1.2, 0.2, 3), Verdict.HOLDS),
        (Interval(0.5, 0.2, 3), Verdict.FAILS),
        (Interval(2.5, 0.2, 3), Verdict.FAILS),
        (Interval(1.1, 0.2, 3), Verdict.UNDECIDED),
        (Interval(1.5, 2.0, 3), Verdict.UNDECIDED),
    ],
)
def test_only_an_interval_on_one_side_of_the_bounds_decides(
    found: Interval, verdict: Verdict
) -> None:
    assert Rule(1, 2).verdict(found) is verdict


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Rule(1, 2), "1 to 2"),
        (Rule(least=0.5), "at least 0.5"),
        (Rule(most=3), "at most 3"),
        (Rule(1, 1), "1"),
    ],
)
def test_a_rule_says_its_tolerance(rule: Rule, words: str) -> None:
    assert str(rule) == words


def test_a_claim_is_judged_by_one_value_per_seed() -> None:
    found = judged(claim(Rule(least=1)), runs(1.1, 1.2, 1.15))
    assert found.verdict is Verdict.HOLDS
    assert found.found is not None
    assert found.found.values == 3
    assert judged(claim(Rule(least=2)), runs(1.1, 1.2, 1.15)).verdict is Verdict.FAILS


def test_the_cause_is_told_where_a_claim_does_not_hold_and_the_remark_always() -> None:
    def told(least: float) -> str:
        return judged(claim(Rule(least=least), "the cause", "the remark"), runs(1.0, 1.1)).why

    assert told(0.0) == "the remark"
    assert told(3.0) == "the cause the remark"


def test_seeds_that_disagree_decide_nothing() -> None:
    found = judged(claim(Rule(least=1)), runs(0.5, 1.6))
    assert found.verdict is Verdict.UNDECIDED
    assert "2 seeds crosses the bound" in found.why


@pytest.mark.parametrize("value", [0.5, 1.6])
def test_one_seed_decides_nothing_that_depends_on_chance(value: float) -> None:
    found = judged(claim(Rule(least=1)), runs(value))
    assert found.verdict is Verdict.UNDECIDED
    assert found.why == "One seed has no interval."


@pytest.mark.parametrize(("value", "verdict"), [(0.5, Verdict.FAILS), (1.6, Verdict.HOLDS)])
def test_one_run_decides_where_nothing_is_drawn(value: float, verdict: Verdict) -> None:
    assert judged(replace(claim(Rule(least=1)), chance=False), runs(value)).verdict is verdict


def test_what_was_not_measured_is_not_judged() -> None:
    one = Claim("Fig. 1", "it rises", "rises", "share", lambda _: None, Rule(least=1))
    assert judged(one, runs(1.0)) == Finding(one, None, Verdict.UNTESTED)


def test_a_claim_without_a_measure_says_why() -> None:
    found = judged(Claim("Fig. 2", "values", "an image", why="An image."), runs(1.0))
    assert (found.verdict, found.why) == (Verdict.UNTESTED, "An image.")
    with pytest.raises(ValueError, match="why not"):
        judged(Claim("Fig. 2", "values", "an image"), runs(1.0))


def test_runs_are_found_by_their_parameters() -> None:
    found = Runs([{"k": 5, "seed": 1, "loss": 0.5}, {"k": 8, "seed": 1}, {"k": 5, "seed": 2}])
    assert found.all("k") == [5, 8]
    assert found.all("loss") == [0.5]
    assert found.one("loss", k=5, seed=1) == 0.5
    assert [len(part.records) for part in found.by_seed()] == [2, 1]
    assert found.has(k=8)
    assert not found.has(k=9)
