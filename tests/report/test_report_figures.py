"""Every figure of a report, computed again from the rows of source and release by other code."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from anonymizer.measure.queries import about, about_share
from anonymizer.review.report.distributions import OTHER
from tests.oracle import report as oracle
from tests.oracle.cells import domain_of
from tests.oracle.measures import measure
from tests.report.cases import (
    KINDS,
    Case,
    ends,
    labels,
    masses,
    near,
    shown_whole,
    step_of,
    units_shown,
)
from tests.selection import some


@some(1)
def test_distances_are_of_all_values(case: Case) -> None:
    assert {found.column for found in case.report.distributions} <= set(KINDS)
    for found in case.report.distributions:
        before, after = masses(case, found.column)
        exact = oracle.moved(before, after)
        whole = shown_whole(case, found.column)
        assert near(found.distance, exact, units_shown(case, found), whole), (
            found.column,
            float(exact),
        )
        if KINDS[found.column] == "categorical":
            assert found.below is None
        else:
            shift = oracle.below(before, after)
            assert near(found.below, shift, units_shown(case, found), whole), (found.column, shift)


@pytest.mark.slow
@some(1)
def test_what_has_moved_is_never_as_it_was(case: Case) -> None:
    page, text = case.page, case.text
    still = sum(
        oracle.moved(*masses(case, d.column)) == 0 and shown_whole(case, d.column)
        for d in case.report.distributions
    )
    assert page.count("The distribution is as it was") == still
    assert text.count("The distribution is as it was") == still


def test_bars_are_shares_of_rows(case: Case) -> None:
    for found in case.report.distributions:
        before, after = masses(case, found.column)
        if KINDS[found.column] != "categorical":
            off = max(0.06, len(found.bars) * step_of(units_shown(case, found)) / 2)
            assert sum(bar.before or 0 for bar in found.bars) == pytest.approx(1, abs=off)
            continue
        shown = {bar.label for bar in found.bars} - {OTHER, "NULL", f"NULL and {OTHER}"}
        counted = counts(case, found.column)
        assert all(counted[label] >= case.report.floor for label in shown)
        for bar in found.bars:
            if bar.label in shown:
                assert near(bar.before, before.points[bar.label], units_shown(case, found))
                assert near(bar.after, after.points[bar.label], units_shown(case, found))
        rest = 1 - sum((before.points[label] for label in shown), Fraction(0))
        left = 1 - sum((after.points[label] for label in shown), Fraction(0))
        folded = [bar for bar in found.bars if bar.label not in shown]
        if len(folded) == 1:
            assert near(folded[0].before, rest, units_shown(case, found))
            assert near(folded[0].after, left, units_shown(case, found))


def counts(case: Case, name: str) -> Counter[str]:
    """Units that have each value."""
    found: dict[str, set[Any]] = defaultdict(set)
    for number, row in enumerate(case.source):
        found[str(row[name])].add(number if case.person is None else row[case.person])
    return Counter({value: len(units) for value, units in found.items()})


def test_ordered_bars_are_shares_of_rows(case: Case) -> None:
    for found in case.report.distributions:
        if found.column != "age" and found.column != "cost":
            continue
        before, after = masses(case, found.column)
        for bar, (low, high) in zip(found.bars, map(ends, labels(found)), strict=False):
            for shown, exact in ((bar.before, before), (bar.after, after)):
                held = sum(
                    (m for v, m in exact.points.items() if v is not None and low <= v <= high),
                    Fraction(0),
                )
                assert near(shown, held, units_shown(case, found)), (found.column, bar)


def test_risk_is_the_same_quantity_before_and_after(case: Case) -> None:
    found = case.report
    assert found.before is not None
    before = oracle.risk(case.source, case.quasi, case.person)
    person = "person_id" if case.person is not None else None
    after = oracle.risk(case.release, case.classes, person)
    assert found.before.sizes.k == before.k
    assert found.before.sizes.person_k == before.person_k
    assert found.before.sizes.classes == about(before.classes)
    assert found.before.risk.prosecutor_max == pytest.approx(float(before.most))
    assert found.before.risk.prosecutor_average == about_share(
        float(before.average), sum(before.sizes.values())
    )
    assert found.before.risk.prosecutor_above == about_share(
        float(before.above), sum(before.sizes.values())
    )
    alone = found.before.sizes.uniques if case.person is None else found.before.sizes.unique_persons
    assert alone == about(before.alone)
    assert (found.after.sizes.k, found.after.sizes.person_k) == (after.k, after.person_k)
    assert found.after.sizes.classes == after.classes
    assert found.after.risk.prosecutor_max == pytest.approx(float(after.most))
    assert found.after.risk.prosecutor_average == pytest.approx(float(after.average))
    assert found.after.risk.prosecutor_above == pytest.approx(float(after.above))
    # classes are made of those that were there: nobody is easier to find than before
    assert before.most >= after.most
    for shown, exact, rounded in ((found.before, before, True), (found.after, after, False)):
        units: Counter[int] = Counter()
        for size, n in exact.sizes.items():
            units[oracle.size_bin(size)] += n
        given = {b["from"]: b["units"] for b in shown.size_bins}
        assert given == {
            low: about(n) if rounded else n for low, n in units.items() if n >= 5 or not rounded
        }


def test_who_is_alone_without_a_column(case: Case) -> None:
    """In round figures, like every count of the source's classes."""
    assert case.report.before is not None
    together = case.report.before.combinations
    assert together is not None
    assert set(together.without) == set(case.quasi)
    for name, left in together.without.items():
        others = [other for other in case.quasi if other != name]
        exact = oracle.risk(case.source, others, case.person).alone
        assert left.singled_out == about(exact)
    assert not together.subsets


def test_measures_are_those_of_the_rows(case: Case) -> None:
    measures = case.report.manifest["measures"]
    after = oracle.risk(case.release, case.classes, None)
    sizes = [len(some) for some in oracle.classes(case.grouped, ["class_id"], None).values()]
    assert measures["rows"] == after.rows
    assert (measures["class_min"], measures["class_max"]) == (min(sizes), max(sizes))
    assert measures["suppressed"] == len(case.source) - len(case.release)
    if case.person is None:
        assert measures["suppressed_share"] == pytest.approx(
            measures["suppressed"] / len(case.source)
        )
    else:
        people = {row[case.person] for row in case.source}
        left = {row["person_id"] for row in case.release}
        share = 1 - len(left) / len(people)
        assert measures["suppressed_share"] == pytest.approx(share)


def test_losses_are_those_of_the_cells(case: Case) -> None:
    measures = case.report.manifest["measures"]
    domains = {c: domain_of([row[c] for row in case.source], KINDS[c]) for c in case.quasi}
    lost = len(case.source) - len(case.release)
    whole = measure(case.grouped, domains, lost)
    assert measures["ncp"] == pytest.approx(float(whole.ncp), abs=1e-9)
    for name in case.quasi:
        alone = measure(case.grouped, {name: domains[name]}, 0)
        assert measures[f"ncp.{name}"] == pytest.approx(float(alone.ncp), abs=1e-9)


@some(2)
def test_the_verdict_tells_what_little_is_left_of(case: Case) -> None:
    """By the thresholds of docs/report.md, computed again from the rows."""
    measures = case.report.manifest["measures"]
    sizes = [len(some) for some in oracle.classes(case.grouped, ["class_id"], None).values()]
    wanted = set()
    if measures["ncp"] >= 0.5 and max(sizes) >= len(case.release) / 2:
        wanted.add("class")
    elif measures["ncp"] >= 0.9:
        wanted.add("cells")
    lost = {name for name in case.quasi if measures[f"ncp.{name}"] >= 0.9}
    wanted |= lost if len(lost) <= 5 else {"columns"}
    found = case.report
    assert {item.column or item.what for item in found.little} == wanted
    assert found.verdict.state == ("little" if wanted else "useful")
    said = [w for w in case.warnings if "the release holds, but little is left" in w]
    assert len(said) == len(found.little)
    page, text = case.page, case.text
    assert ('class="verdict warn"' in page) == bool(wanted)
    for item in found.little:
        assert item.says[1:] in text  # (its first letter is a capital there)
        assert item.hint in text
    if "class" in wanted:
        assert f"One class holds {max(sizes):,} of {len(case.release):,} rows" in page


def test_one_giant_class_is_no_good_news(case_of: Callable[[str], Case]) -> None:
    case = case_of("one giant class")
    assert case.report.verdict.state == "little"
    assert "class" in {item.what for item in case.report.little}
    assert case_of("rows").report.verdict.state == "useful"
