"""Buckets, groups and the tables of a page: every number of them, computed again by other code."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

from anonymizer.measure.loss import MEASURES
from tests.oracle import report as oracle
from tests.oracle.cells import domain_of
from tests.oracle.lgb import exposure, lemma2_bound, strict_check
from tests.oracle.measures import measure, number, quasi_cells
from tests.report.cases import KINDS, LITTLE, Case, round_count, step_of, units_of
from tests.selection import some

pytestmark = pytest.mark.slow

L = 3
"""The l of both columns of a case that are published apart."""


def buckets_of(case: Case, column: str) -> dict[int, list[Any]]:
    """The values of every bucket, as they were in the source's type."""
    found: dict[int, list[Any]] = defaultdict(list)
    for row in case.release:
        if row.get(f"{column}_bucket") is not None:
            found[row[f"{column}_bucket"]].append(row[column])
    return found


def bucketed(case: Case) -> list[str]:
    return [c for c in KINDS if f"{c}_bucket" in case.release[0]]


def test_measures_of_buckets(case: Case) -> None:
    measures = case.report.manifest["measures"]
    told = {name.split(".")[1] for name in measures if name.startswith(("lemma2", "bucket_range"))}
    assert told == set(bucketed(case))
    for column in told:
        by_class = {row["class_id"]: row for row in case.release}.values()
        most = max(exposure(row, case.release, column) for row in by_class)
        bound = max(lemma2_bound(row, case.release, column) for row in by_class)
        left = strict_check(case.release, [column]).values()
        assert measures[f"lemma2_max.{column}"] == pytest.approx(float(most), abs=1e-11)
        assert measures[f"lemma2_bound.{column}"] == pytest.approx(float(bound), abs=1e-11)
        assert measures[f"strict_min.{column}"] == min(left)
        assert measures[f"bucket_range.{column}"] == pytest.approx(float(mean_range(case, column)))


def mean_range(case: Case, column: str) -> Fraction:
    """Of values over the range that the column shows; of categories by their place in order."""
    kind = KINDS[column]
    source = [row[column] for row in case.source if row[column] is not None]
    place: dict[str, Fraction]
    # nothing is left out of these tables: what the release shows is the whole column
    assert len(case.release) == len(case.source)
    if kind == "categorical":
        place = {value: Fraction(at) for at, value in enumerate(sorted(set(source)))}
    else:
        place = {str(value): number(value) for value in source}
    whole = max(place.values()) - min(place.values())
    ranges = []
    for values in buckets_of(case, column).values():
        at = [place[str(value)] for value in values if value is not None]
        ranges.append((max(at) - min(at)) / whole)
    return sum(ranges, Fraction(0)) / len(ranges)


def test_buckets_hold_what_is_achieved(case: Case) -> None:
    """The worst bucket decides."""
    checks = {(c.name, c.column): c for c in case.report.verification.checks}
    for column in bucketed(case):
        held = [Counter(v for v in b if v is not None) for b in buckets_of(case, column).values()]
        assert checks["distinct_l", column].achieved == min(map(len, held))
        assert checks["bucket_unique", column].achieved == max(max(b.values()) for b in held)
    for (name, of), check in checks.items():
        if name == "k_anonymity":
            person = "person_id" if case.person is not None else None
            after = oracle.risk(case.release, case.classes, person)
            assert of is None
            assert check.achieved == (after.k if person is None else after.person_k)


def test_measures_of_groups(case: Case) -> None:
    measures = case.report.manifest["measures"]
    assert ("groups" in measures) == bool(case.apart)
    if not case.apart:
        return
    units: dict[int, set[Any]] = defaultdict(set)
    for at, row in enumerate(case.release):
        units[row["group_id"]].add(at if case.person is None else row["person_id"])
    sizes = [len(held) for held in units.values()]
    assert measures["groups"] == len(sizes)
    assert (measures["group_min"], measures["group_max"]) == (min(sizes), max(sizes))
    assert measures["group_mean"] == pytest.approx(sum(sizes) / len(sizes))
    # every value needs l = 3: Definition 14
    loss = Fraction(sum(sizes) - L * len(sizes), L * len(sizes))
    assert measures["additional_loss"] == pytest.approx(float(loss))
    everybody = units_of(case.source, case.person)
    lost = everybody - sum(sizes)
    assert measures["suppression_ratio"] == pytest.approx(lost / everybody)
    assert measures.get("suppressed_persons", lost) == lost
    for column, rows in case.apart.items():
        held: dict[int, list[Any]] = defaultdict(list)
        for row in rows:
            held[row["group_id"]].append(row[column])
        assert {group: len(values) for group, values in held.items()} == {
            group: len(members) for group, members in units.items()
        }
        worst = max(largest_share(values) for values in held.values())
        assert measures[f"worst_share.{column}"] == pytest.approx(float(worst))
        assert measures[f"share_bound.{column}"] == pytest.approx(1 / L)
        (check,) = (
            c for c in case.report.verification.checks
            if (c.name, c.column) == ("distinct_l", column)
        )  # fmt: skip
        # l times the share of the value: at most 1
        assert check.achieved == {"share": pytest.approx(float(worst * L)), "l": L}


def largest_share(values: list[Any]) -> Fraction:
    """Of one value among those that a group has."""
    known = Counter(value for value in values if value is not None)
    return Fraction(max(known.values()), known.total()) if known else Fraction(0)


def tables(text: str) -> dict[str, list[list[str]]]:
    """The tables of a Markdown page by their first heading."""
    found: dict[str, list[list[str]]] = {}
    head = None
    for line in text[: text.index("## Manifest and the SQL")].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not line.startswith("|"):
            head = None
        elif head is None:
            head = cells[0]
            found.setdefault(head, [])
        elif cells[0] != "---":
            found[head].append(cells)
    return found


PROVED = tuple(
    f"Complete records that the cells prove and fewer than k {unit} may share"
    for unit in ("rows", "persons")
)
"""Rows that other tests compare."""


def same(shown: str, exact: float | Fraction | None) -> bool:
    """Whether a figure is shown to the digits that it has."""
    if exact is None:
        return shown == "-"
    bare = shown.replace(",", "").replace(" %", "")
    scale = 100 if "%" in shown else 1
    if bare.startswith("<"):
        return 0 < exact < float(bare[1:]) / scale
    digits = len(bare.partition(".")[2])
    step = 10.0**-digits if "." in bare or scale == 1 else 0.1
    return abs(float(bare) - scale * float(exact)) <= step / 2 + 1e-9


def test_figures_are_shown_as_they_are() -> None:
    assert same("14.2 %", 0.1425)
    assert not same("14.2 %", 0.1435)
    assert same("20 %", 0.2)
    assert not same("20 %", 0.201)
    assert same("2,924", 2924)
    assert not same("2,924", 2925)
    assert same("0.3516", 0.35157)
    assert same("<0.1 %", 0.0004)
    assert not same("0 %", 0.004)


def test_the_risk_table(case: Case) -> None:
    person = "person_id" if case.person is not None else None
    before = oracle.risk(case.source, case.quasi, case.person)
    after = oracle.risk(case.release, case.classes, person)
    shown = [row[2] for row in tables(case.text)["Figure"] if row[0] not in PROVED]
    units = sum(after.sizes.values())
    exact: list[float | Fraction] = [
        after.most, after.average, after.above, Fraction(after.alone, units), after.classes,
        after.k,
    ]  # fmt: skip
    exact += [] if after.person_k is None else [after.person_k]
    assert len(shown) == len(exact)
    for told, value in zip(shown, exact, strict=True):
        assert same(told, value), (told, value)
    found = case.report.before
    assert found is not None
    shown = [row[1] for row in tables(case.text)["Figure"] if row[0] not in PROVED]
    units = sum(before.sizes.values())
    # in round figures: shares are rounded up to those of ten rows (persons) at least
    step = Fraction(str(step_of(units, 10)))
    shares = (before.average, before.above, Fraction(before.alone, units))
    rounded = [before.most, *(min(math.ceil(share / step) * step, Fraction(1)) for share in shares)]
    rounded.append(Fraction(round_count(before.classes)))
    rounded += [Fraction(k) for k in (before.k, before.person_k) if k is not None]
    for told, value in zip(shown, rounded, strict=True):
        assert same(told, value), (told, value)


@some(2)
def test_the_tiles(case: Case) -> None:
    """The figures in large letters."""
    tiles = re.findall(r"<li><b>(.*?)</b>(.*?)(?:<small>(.*?)</small>)?</li>", case.page)
    person = "person_id" if case.person is not None else None
    before = oracle.risk(case.source, case.quasi, case.person)
    after = oracle.risk(case.release, case.classes, person)
    unit = "rows" if person is None else "persons"
    shown = {says: (figure, more) for figure, says, more in tiles}
    smallest = after.k if after.person_k is None else after.person_k
    assert shown.pop(f"{unit} in the smallest class") == (str(smallest), "")
    figure, more = shown.pop("largest risk of picking somebody&#39;s row")
    assert same(figure, after.most)
    assert same(more.removeprefix("before: "), before.most)
    figure, more = shown.pop(f"{unit} alone in their class")
    assert same(figure, after.alone)
    assert same(more.removeprefix("before: "), round_count(before.alone))
    everybody = units_of(case.source, case.person)
    lost = Fraction(everybody - units_of(case.release, person), everybody)
    assert same(shown.pop(f"{unit} left out")[0], lost)
    domains = {c: domain_of([row[c] for row in case.source], KINDS[c]) for c in case.quasi}
    whole = measure(case.grouped, domains, len(case.source) - len(case.release))
    figure, _ = shown.pop("information lost in a generalized cell, on average")
    assert same(figure, whole.ncp)
    errors = case.report.counts
    assert list(shown) == (["error of a random count query (median)"] if errors else [])
    if errors:
        assert shown.popitem()[1][0] == errors.median.replace("<", "&lt;")


def test_the_class_sizes_table(case: Case) -> None:
    person = "person_id" if case.person is not None else None
    after = oracle.risk(case.release, case.classes, person)
    units: Counter[int] = Counter()
    for size, n in after.sizes.items():
        units[oracle.size_bin(size)] += n
    for label, _, shown in tables(case.text)["in a class of"]:
        low = int(label.replace(",", "").split()[0])
        assert same(shown, Fraction(units.pop(low, 0), after.sizes.total())), label
    assert not units


def test_the_utility_table(case: Case) -> None:
    rows = case.grouped
    domains = {c: domain_of([row[c] for row in case.source], KINDS[c]) for c in case.quasi}
    lost = len(case.source) - len(rows)
    whole = measure(rows, domains, lost)
    everybody = units_of(case.source, case.person)
    left = units_of(rows, "person_id" if case.person is not None else None)
    called = "class" if "class_id" in case.release[0] else "group"
    exact: dict[str, float | Fraction] = {
        "rows published": whole.rows,
        "rows left out": lost,
        "share left out, of persons if the policy names them": Fraction(
            everybody - left, everybody
        ),
        f"rows in the smallest {called}": whole.class_min,
        f"rows in a {called}, on average": whole.class_mean,
        f"rows in the largest {called}": whole.class_max,
        "classes of equal quasi-identifiers"
        if called == "class"
        else "groups that share their sensitive values": whole.classes,
        MEASURES["ncp"]: whole.ncp,
        "the same by the generalized loss metric: GLM": whole.glm,
        f"discernibility: the sum of squared {called} sizes (C_DM)": whole.c_dm,
    }
    if case.person is not None:
        exact |= {"persons in the release": left, "persons left out": everybody - left}
    shown = {row[0]: row[1] for row in tables(case.text)["Measure"]}
    least = shown.pop(MEASURES["ncp_bound"], "0")
    assert float(least) <= whole.ncp
    assert shown.keys() == exact.keys()
    for name, value in exact.items():
        assert same(shown[name], value), (name, shown[name], float(value))
    measures = case.report.manifest["measures"]
    assert (
        measures["qi_cells"]
        == whole.cells
        == len(list(quasi_cells(rows, domains))) + lost * len(domains)
    )
    assert measures["ncp_sum"] == pytest.approx(float(whole.ncp_sum), abs=1e-9)
    assert measures["glm_sum"] == pytest.approx(float(whole.glm_sum), abs=1e-9)


@some(2)
def test_the_tables_of_columns(case: Case) -> None:
    """What is drawn is what was found; values of persons are told as such."""
    text, page = case.text, case.page
    once = len(case.apart) if case.person is not None else 0
    assert text.count("In percent of persons: their values are published once.") == once
    assert page.count("In percent of persons: their values are published once.") == once
    bars = [bar for found in case.report.distributions for bar in found.bars]
    shown = tables(text)["value"]
    assert len(shown) == len(bars)
    for (_, before, after), bar in zip(shown, bars, strict=True):
        for told, value in ((before, bar.before), (after, bar.after)):
            assert value is not None
            assert told == LITTLE[value] if value in LITTLE else same(told, value)
